import RPCurlCall
import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// The settings of a call that do not depend on its schema.
package struct CallSettings {
  package let target: Target
  package let name: MethodName
  package private(set) var protocolName: ProtocolName
  /// How the call is written to the wire and read from it.
  package private(set) var wire: CallParameters
  /// The headers of the call.
  package let headers: Headers
  /// The attributes of the call, for its interceptors.
  package let attributes: CallAttributes
  /// The headers of `-H`, which are sent with every request.
  private let commonHeaders: Headers
  private let sources: ArgumentSources
  private let headerArguments: HeaderArguments
  /// Replaces templates; nil without `--expand`.
  let expansion: TextExpansion?
  /// The first template in headers that is sent as text; nil if there is none.
  private let unexpandedTemplate: String?
  private let bearer: Secret?
  package internal(set) var timeout: Duration?
  /// The connection options for a unary call. The kind of the method can change the HTTP version.
  package let baseConnection: ConnectionOptions
  package private(set) var requestForm: RequestForm
  /// How the call is shown.
  package let output: OutputSettings
  /// Which headers and attributes are secret.
  package let secretNames: SecretNames
  /// The values of `--var` that are read from elsewhere, which output does not show.
  var variableSecrets: [String] { expansion.map { Array($0.secrets.values) } ?? [] }
  /// The credentials that are known before the call.
  package var secrets: CallSecrets {
    let secrets = CallSecrets(secretNames)
    secrets.add(headers, nil)
    secrets.add(attributes: attributes.all)
    secrets.add(variableSecrets)
    return secrets
  }
  /// Removes credentials from what is shown before a call.
  package var redaction: Redaction { Redaction(secrets, showsSecrets: output.showsSecrets) }
  /// Replaces credentials in what the user has written.
  package var written: WrittenSecrets {
    WrittenSecrets(showsSecrets: output.showsSecrets, secretNames, separates: true)
  }
  /// The field to print of each response; nil to print whole responses.
  package let filter: FieldFilter.Settings?
  /// The number of responses after which the call ends (`--limit`); nil for all.
  package let limit: Int?

  /// Resolves the options of `rpcurl call`, whose output is standard output unless `-o` is given.
  ///
  /// - Parameters:
  ///   - command: The options.
  ///   - tls: Whether a target that is not a URL uses TLS.
  ///   - isTerminal: Whether standard output is a terminal.
  ///   - sources: What values of options are read from.
  package init(
    _ command: Invocation, _ tls: Target.TLSChoice, isTerminal: Bool, _ sources: ArgumentSources
  ) throws {
    let (target, name) = try CallTarget.resolve(command, tls)
    try self.init(
      command, headers: command.all(.header), target, name,
      isTerminal: command.last(.output) == nil && isTerminal, sources)
  }

  /// Resolves the options of a call.
  ///
  /// - Parameters:
  ///   - options: The options.
  ///   - given: The options `-H`. Those of a session are not part of its options.
  ///   - target: The server.
  ///   - name: The method.
  ///   - isTerminal: Whether the response is printed on a terminal.
  ///   - sources: What values of options are read from.
  /// - Throws: `Failure` if an option is invalid.
  package init(
    _ options: Invocation, headers given: [Argument], _ target: Target, _ name: MethodName, isTerminal: Bool,
    _ sources: ArgumentSources
  ) throws {
    let isSession = options.command == .session
    let limit = options.duration(.maxTime)
    (self.target, self.name) = (target, name)
    protocolName = try Self.protocolName(options, sources.environment)
    wire = Self.wire(options)
    var sources = sources
    sources.waitLimit = [limit, sources.waitLimit].compactMap(\.self).min()
    self.sources = sources
    // Read files once: they may be pipes.
    // The seed of rpcurl serve is also that of its responses.
    expansion = try Self.expansion(options, sources, isSession: isSession || options.command == .serve)
    headerArguments = HeaderArguments(
      expansion: expansion, waitLimit: sources.waitLimit, form: (protocolName, wire.codec))
    unexpandedTemplate = headerArguments.unexpandedTemplate(in: given + options.all(.rpcHeader))
    commonHeaders = try headerArguments.parse(given)
    try CredentialArguments.check(options, given, given: commonHeaders)
    bearer = try options.last(.bearer).map { (argument) throws(Failure) in
      try CredentialArguments.token(argument, sources)
    }
    (headers, timeout) = try CredentialArguments.headers(
      options, protocolName, bearer: bearer,
      given: commonHeaders.appending(headerArguments.parse(options.all(.rpcHeader), option: "--rpc-header")),
      limit: limit, sources)
    attributes = try AttributeArguments.parse(options.all(.attribute))
    output = try OutputSettings(options, isTerminal: isTerminal, sources.environment)
    filter = try FieldFilter.settings(options)
    self.limit = try options.limit()
    if isTerminal { try Self.checkTerminal(output.format, filter) }
    secretNames = try options.secretNames()
    requestForm = RequestForm(
      format: options.dataFormat, allowsUnknownFields: options.has(.allowUnknownFields),
      acceptsFiles: !isSession)
    requestForm.expansion = expansion
    try Self.checkCompressions(wire.compression, wire.acceptedCompressions ?? [])
    baseConnection = try ConnectionPlan.options(options, target, protocolName, sources)
    timeout = sources.commandTime.remaining(of: timeout)
  }

  /// How calls are written to the wire and read from it.
  private static func wire(_ options: Invocation) -> CallParameters {
    var wire = CallParameters(userAgent: Version.userAgent)
    if let codec: CodecName = options.choice(.codec) { wire.codec = codec }
    wire.compression = options.choice(.compression)
    wire.acceptedCompressions = options.acceptedCompressions
    wire.usesGET = options.has(.connectGet)
    if let bytes = options.bytes(.maxMessageSize) { wire.maxMessageBytes = bytes }
    return wire
  }

  /// These settings for calls in a protocol, a codec and a compression.
  package func with(
    _ protocolName: ProtocolName, _ codec: CodecName, _ compression: Compression?, usesGET: Bool
  ) -> CallSettings {
    var settings = self
    settings.protocolName = protocolName
    settings.wire.codec = codec
    settings.wire.compression = compression
    settings.wire.usesGET = usesGET
    return settings
  }

  /// Prints notes about data that is typed, from now on.
  ///
  /// - Parameter console: Where they are printed.
  mutating func noteData(_ console: Console) {
    let typed = isatty(0) == 1 ? ["-d", "standard input"] : ["-d"]
    requestForm.notes = DataNotes(typed: typed) { console.error.remark($0) }
  }

  /// Prints a note about a template in headers that is sent as text.
  func noteHeaders() {
    if let unexpandedTemplate { requestForm.notes?.note(unexpanded: unexpandedTemplate) }
  }

  /// The server as a source of the schema.
  package func reflection(
    _ options: Invocation, _ clients: ClientSource
  ) throws -> ReflectionSource {
    let own = try headerArguments.parse(options.all(.reflectHeader), option: "--reflect-header")
    let (headers, timeout) = try CredentialArguments.headers(
      options, protocolName, bearer: bearer, given: commonHeaders.appending(own), limit: timeout, sources)
    var reflection = try ReflectionSource(
      options, target, protocolName, headers, baseConnection, timeout: timeout, sources, clients)
    reflection.ownHeaders = own
    reflection.isForced = options.flag(.reflect) == true || reflection.version != nil
    return reflection
  }

  /// Throws if responses would be printed as bytes on a terminal.
  private static func checkTerminal(
    _ format: OutputFormat, _ filter: FieldFilter.Settings?
  ) throws(Failure) {
    guard format == .binary || filter?.isRaw == true else { return }
    throw Failure(
      .usage, format == .binary ? "--format binary" : "--raw", "standard output is a terminal",
      hint: "use -o FILE, or a pipe")
  }

  /// The protocol set by an option or the environment.
  package static func protocolName(
    _ options: Invocation, _ environment: @escaping (String) -> String?
  ) throws(Failure) -> ProtocolName {
    if let chosen: ProtocolName = options.choice(.protocolName) { return chosen }
    // A proxy calls in the protocols of its clients. gRPC could not ask for the schema over HTTP/1.1.
    if options.command == .proxy, options.httpVersion == .http1 { return .connect }
    guard let name = environment("RPCURL_PROTOCOL"), !name.isEmpty else { return .grpc }
    guard let chosen = ProtocolName(rawValue: name) else {
      let names = ProtocolName.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure(.usage, "RPCURL_PROTOCOL", "\(name.debugDescription) is not one of \(names)")
    }
    return chosen
  }

  /// The templates of the command line; nil without `--expand`.
  private static func expansion(
    _ options: Invocation, _ sources: ArgumentSources, isSession: Bool
  ) throws(Failure) -> TextExpansion? {
    let expansion = try options.textExpansion(sources)
    // In a session the seed is also that of its own values, and of the order of tests; so are the variables.
    if expansion == nil, !isSession {
      let variable = options.last(.variable)?.name
      if let name = options.seed != nil ? "--seed" : variable {
        throw Failure(
          .usage, name, "requires --expand", hint: "add --expand, which replaces ${NAME} in data and headers")
      }
    }
    return expansion
  }

  /// Check for the compression libraries now: the call would fail later.
  private static func checkCompressions(_ sent: Compression?, _ accepted: [Compression]) throws(Failure) {
    if let sent, let reason = sent.whyUnwritable {
      throw Failure(.usage, "--compression \(sent.rawValue)", reason)
    }
    for compression in accepted {
      if let reason = compression.whyUnreadable {
        throw Failure(.usage, "--accept-compression \(compression.rawValue)", reason)
      }
    }
  }
}
