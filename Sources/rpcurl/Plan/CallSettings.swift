import Protobuf
import RPCClient
import RPCProtocols
import Transport

/// What the options of a call say, whatever its schema.
struct CallSettings {
  let target: Target
  let name: MethodName
  let protocolName: ProtocolName
  let codec: CodecName
  let compression: Compression?
  let acceptedCompressions: [Compression]?
  let usesGET: Bool
  /// The headers of the call.
  let headers: Headers
  /// The headers of `-H`, which go with every request.
  private let commonHeaders: Headers
  private let headerArguments: HeaderArguments
  private let bearer: String?
  let timeout: Duration?
  let maxMessageBytes: Int
  /// How the server is reached for a unary call; the kind of the method may change the version of HTTP.
  let baseConnection: ConnectionOptions
  let requestForm: RequestForm
  let format: OutputFormat
  let jsonEncoding: JSONEncodingOptions
  /// How much of the call is shown: 1 is its metadata, 2 its connection too.
  let verbosity: Int
  let showsSecrets: Bool
  let showsTiming: Bool
  /// What is printed of each response instead of all of it.
  let filter: FieldPath?
  /// Whether JSON is printed in colour.
  let usesColor: Bool

  /// Resolves the options.
  init(_ command: CallCommand, _ environment: @escaping (String) -> String?) throws {
    protocolName = try Self.protocolName(command.request, environment)
    codec = command.request.codec
    compression = command.request.compression.compression
    acceptedCompressions = command.request.acceptCompression?.compressions
    usesGET = command.request.connectGet
    if command.method == nil, let target = ConfiguredWords.current.target, MethodName(command.target) != nil {
      (self.target, name) = try Target.parse(
        target, method: command.target, isPlaintext: command.server.plaintext)
    } else {
      (target, name) = try Target.parse(
        command.target, method: command.method, isPlaintext: command.server.plaintext)
    }
    // Files are read once only: they may be pipes.
    headerArguments = command.request.headerArguments(environment)
    commonHeaders = try headerArguments.parse(command.request.headers)
    bearer = try command.request.bearer.map(CredentialArguments.token)
    headers = try CredentialArguments.headers(
      command.request, command.server, bearer: bearer,
      given: commonHeaders.appending(
        headerArguments.parse(command.request.rpcHeaders, option: "--rpc-header")))
    timeout = command.request.maxTime?.duration
    maxMessageBytes = command.request.maxMessageSize.bytes
    let isTerminal = command.output.output == nil && StandardOutput.isTerminal
    format = command.output.format ?? (isTerminal ? .pretty : .json)
    filter = try FieldFilter.path(command.output)
    usesColor = command.output.color.isUsed(isTerminal: isTerminal, environment)
    showsTiming = command.output.timing
    if format == .binary, isTerminal {
      throw Failure(
        .usage, "--format binary", "it is not for a terminal", hint: "add -o FILE, or pipe it")
    }
    if format == .text || format == .binary {
      try command.output.json.check(typed: ConfiguredWords.current.typed, output: format.rawValue)
    }
    verbosity = command.output.verbose
    showsSecrets = command.output.showSecrets
    jsonEncoding = command.output.json.encoding
    requestForm = RequestForm(
      format: command.request.dataFormat, allowsUnknownFields: command.output.allowUnknownFields)
    try Self.checkCompressions(compression, acceptedCompressions ?? [])
    baseConnection = try ConnectionPlan.options(command.server, command.request, target, protocolName)
  }

  /// The server as a source of the schema.
  func reflection(
    _ command: CallCommand, _ clients: ClientSource, _ environment: @escaping (String) -> String?
  ) throws -> ReflectionSource {
    var reflection = ReflectionSource(
      target: target, protocolName: protocolName,
      headers: try CredentialArguments.headers(
        command.request, command.server, bearer: bearer,
        given: commonHeaders.appending(
          headerArguments.parse(command.reflection.headers, option: "--reflect-header"))),
      connection: baseConnection, clients: clients)
    reflection.version = command.reflection.reflectVersion.map { $0 == .v1 ? .v1 : .v1alpha }
    reflection.timeout = timeout ?? ReflectionSource.defaultTimeout
    reflection.isVerbose = verbosity > 0
    reflection.cache = command.reflection.refusesCache ? nil : ReflectionCache(environment: environment)
    return reflection
  }

  /// The protocol that the options or the environment choose.
  static func protocolName(
    _ options: RequestOptions, _ environment: @escaping (String) -> String?
  ) throws(Failure) -> ProtocolName {
    if let chosen = options.protocolName { return chosen }
    guard let name = environment("RPCURL_PROTOCOL"), !name.isEmpty else { return .grpc }
    guard let chosen = ProtocolName(rawValue: name) else {
      let names = ProtocolName.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure(.usage, "RPCURL_PROTOCOL", "\(name.debugDescription) is none of \(names)")
    }
    return chosen
  }

  /// A library that was asked for by name must be here: without it the call would fail only on its way.
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
