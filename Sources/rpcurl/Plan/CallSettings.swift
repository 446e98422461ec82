import CommandLine
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

  /// Resolves the options of a call.
  init(_ command: CallCommand, _ environment: @escaping (String) -> String?) throws {
    let (target, name) = try CallTarget.resolve(command)
    try self.init(
      command, target, name, data: command.data.dataFormat, command.answer,
      isTerminal: command.answer.output == nil && StandardOutput.isTerminal, environment)
  }

  /// Resolves options for calls of a method.
  ///
  /// - Parameters:
  ///   - data: What the request's messages are written in.
  ///   - answer: What becomes of the answer, if that is chosen.
  ///   - isTerminal: Whether the answer is shown on a terminal.
  init(
    _ options: some CallOptions, _ target: Target, _ name: MethodName, data: MessageFormat = .json,
    _ answer: AnswerOptions? = nil, isTerminal: Bool, _ environment: @escaping (String) -> String?
  ) throws {
    self.target = target
    self.name = name
    protocolName = try Self.protocolName(options.request.common, environment)
    codec = options.request.codec
    compression = options.request.compression
    acceptedCompressions = options.request.acceptCompression
    usesGET = options.request.connectGet
    timeout = options.request.maxTime
    FileContents.waitLimit = timeout
    // Files are read once only: they may be pipes.
    headerArguments = options.request.common.headerArguments(environment)
    commonHeaders = try headerArguments.parse(options.request.common.headers)
    bearer = try options.request.common.bearer.map(CredentialArguments.token)
    headers = try CredentialArguments.headers(
      options.request.common, options.server, bearer: bearer,
      given: commonHeaders.appending(
        headerArguments.parse(options.request.rpcHeaders, option: "--rpc-header")))
    maxMessageBytes = options.request.maxMessageBytes
    format = options.output.format ?? (isTerminal ? .pretty : .json)
    filter = try answer.flatMap { answer throws(Failure) in
      try FieldFilter.path(answer, format: options.output.format)
    }
    usesColor = options.output.color.isUsed(isTerminal: isTerminal, environment)
    showsTiming = options.output.timing
    if format == .binary, isTerminal {
      throw Failure(
        .usage, "--format binary", "it is not for a terminal", hint: "add -o FILE, or pipe it")
    }
    verbosity = options.output.verbose
    showsSecrets = options.output.showSecrets
    jsonEncoding = options.output.json.encoding
    requestForm = RequestForm(format: data, allowsUnknownFields: options.output.allowUnknownFields)
    try Self.checkCompressions(compression, acceptedCompressions ?? [])
    baseConnection = try ConnectionPlan.options(options.server, options.request.common, target, protocolName)
  }

  /// The server as a source of the schema.
  func reflection(
    _ options: some CallOptions, _ clients: ClientSource, _ environment: @escaping (String) -> String?
  ) throws -> ReflectionSource {
    var reflection = ReflectionSource(
      target: target, protocolName: protocolName,
      headers: try CredentialArguments.headers(
        options.request.common, options.server, bearer: bearer,
        given: commonHeaders.appending(
          headerArguments.parse(options.reflection.headers, option: "--reflect-header"))),
      connection: baseConnection, clients: clients)
    reflection.version = options.reflection.reflectVersion.map { $0 == "v1" ? .v1 : .v1alpha }
    reflection.timeout = timeout ?? ReflectionSource.defaultTimeout
    reflection.isVerbose = verbosity > 0
    reflection.cache = options.reflection.refusesCache ? nil : ReflectionCache(environment: environment)
    return reflection
  }

  /// The protocol that the options or the environment choose.
  static func protocolName(
    _ options: CommonRequestOptions, _ environment: @escaping (String) -> String?
  ) throws(Failure) -> ProtocolName {
    if let chosen = options.protocolName { return chosen }
    guard let name = environment("RPCURL_PROTOCOL"), !name.isEmpty else { return .grpc }
    guard let chosen = ProtocolName(rawValue: name) else {
      let names = ProtocolName.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure(.usage, "RPCURL_PROTOCOL", "\(name.debugDescription) is not one of \(names)")
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
