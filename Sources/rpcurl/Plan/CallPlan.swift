import Glibc
import Interception
import Protobuf
import RPCClient
import RPCProtocols
import Transport

/// Everything that a call needs, resolved from the options: the command only carries it out.
struct CallPlan {
  let target: Target
  let name: MethodName
  let method: MethodDescriptor
  let pool: DescriptorPool
  let protocolName: ProtocolName
  let codec: CodecName
  let compression: Compression?
  let acceptedCompressions: [Compression]?
  let usesGET: Bool
  let headers: Headers
  let timeout: Duration?
  let maxMessageBytes: Int
  let connection: ConnectionOptions
  let chain: ChainSource
  let sources: [RequestSource]
  let batch: BatchPlan?
  /// The server as a source of what the schema turns out not to know; `nil` when it is not to be asked.
  let reflection: ReflectionSource?
  let requestForm: RequestForm
  let format: OutputFormat
  let jsonEncoding: JSONEncodingOptions
  let isVerbose: Bool
  let showsSecrets: Bool

  /// The call as the client takes it.
  var request: CallRequest {
    var request = CallRequest(method: method, target: target.baseURL, userAgent: Version.userAgent)
    request.headers = headers
    request.timeout = timeout
    request.protocolName = protocolName
    request.codec = codec
    request.compression = compression
    request.acceptedCompressions = acceptedCompressions
    request.usesGET = usesGET
    request.maxMessageBytes = maxMessageBytes
    request.connection = connection
    return request
  }

  /// What to try, for an error whose usual cause is known.
  func hint(for error: RPCError) -> String? {
    Self.hint(for: error, target: target, protocolName: protocolName)
  }

  /// What to try, for an error of a call to `target`.
  static func hint(for error: RPCError, target: Target, protocolName: ProtocolName) -> String? {
    switch error.origin {
    case .tls where error.message.contains("wrong version number"):
      "the server does not speak TLS here; use --plaintext, or http:// in the URL"
    case .tls:
      "trust its authority with --cacert FILE, or take any certificate with -k"
    case .connection where !target.isTLS && error.message.contains("HTTP/0.9"):
      "the server may speak HTTP/2 only, as gRPC does (--protocol grpc), or TLS (https://, without --plaintext)"
    case .violation where error.message.contains("content-type") || error.message.contains("HTTP 404"):
      switch protocolName {
      case .connect: "is this a Connect server? --protocol grpc speaks gRPC"
      case .grpcWeb: "is this a gRPC-Web server? --protocol grpc speaks gRPC"
      case .grpc: "is this a gRPC server? --protocol connect speaks Connect"
      }
    default: nil
    }
  }
}

extension CallPlan {
  /// Resolves the options of a call. Nothing is sent, unless the server has to be asked for the schema.
  init(
    _ command: CallCommand, words: [String], clients: ClientSource, environment: (String) -> String?
  ) throws {
    protocolName = try Self.protocolName(command.request, environment)
    codec = command.request.codec
    compression = command.request.compression.compression
    acceptedCompressions = command.request.acceptCompression?.compressions
    usesGET = command.request.connectGet
    (target, name) = try Target.parse(
      command.target, method: command.method, isPlaintext: command.server.plaintext)
    let commonHeaders = try HeaderArguments.parse(command.request.headers)
    let rpcHeaders = try HeaderArguments.parse(command.request.rpcHeaders, option: "--rpc-header")
    let reflectHeaders = try HeaderArguments.parse(command.reflection.headers, option: "--reflect-header")
    headers = try CredentialArguments.headers(
      command.request, command.server, given: commonHeaders.appending(rpcHeaders))
    timeout = command.request.maxTime?.duration
    maxMessageBytes = command.request.maxMessageSize.bytes
    format = command.output.format ?? (StandardOutput.isTerminal ? .pretty : .json)
    if format == .binary, StandardOutput.isTerminal {
      throw Failure(
        .usage, "--format binary", "it is not for a terminal", hint: "send it to a file or a pipe")
    }
    isVerbose = command.output.verbose
    showsSecrets = command.output.showSecrets
    jsonEncoding = command.output.json.encoding
    try Self.checkCompressions(compression, acceptedCompressions ?? [])
    var connection = try ConnectionPlan.options(command.server, command.request, target, protocolName)
    var reflection = ReflectionSource(
      target: target, protocolName: protocolName,
      headers: try CredentialArguments.headers(
        command.request, command.server, given: commonHeaders.appending(reflectHeaders)),
      connection: connection, clients: clients)
    reflection.version = command.reflection.reflectVersion.map { $0 == .v1 ? .v1 : .v1alpha }
    reflection.timeout = timeout ?? ReflectionSource.defaultTimeout
    reflection.isVerbose = isVerbose
    reflection.cache = command.reflection.refusesCache ? nil : ReflectionCache(environment: environment)
    let asksServer = command.reflection.reflect ?? command.schema.descriptorSets.isEmpty
    (pool, method) = try SchemaSource.find(
      name, descriptorSets: command.schema.descriptorSets, reflection: asksServer ? reflection : nil)
    self.reflection = asksServer ? reflection : nil
    connection.httpVersion = try ConnectionPlan.httpVersion(
      command.server, target, protocolName, method.kind)
    batch = try BatchPlan(command.batch, method)
    connection.sharesConnection = batch != nil
    self.connection = connection
    if usesGET { try Self.checkGET(protocolName, method) }
    chain = try ChainSource(
      ChainArguments(uses: command.chain.use, plugins: command.chain.plugin, words: words),
      isVerbose: isVerbose)
    requestForm = RequestForm(
      format: command.request.dataFormat, allowsUnknownFields: command.output.allowUnknownFields)
    sources = try RequestData.sources(
      command.request.data, for: method, isBatch: batch != nil, form: requestForm)
  }

  private static func protocolName(
    _ options: RequestOptions, _ environment: (String) -> String?
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

  private static func checkGET(_ protocolName: ProtocolName, _ method: MethodDescriptor) throws(Failure) {
    guard protocolName == .connect else {
      throw Failure(
        .usage, "--connect-get", "\(protocolName.rawValue) has no GET", hint: "add --protocol connect")
    }
    guard method.kind == .unary, method.hasNoSideEffects else {
      throw Failure(
        .usage, "--connect-get",
        method.kind == .unary
          ? "\(method.name) is not marked as free of side effects"
          : "\(method.name) is a stream, and only unary methods can be called by GET",
        hint: method.kind == .unary
          ? "the schema says so with: option idempotency_level = NO_SIDE_EFFECTS;" : nil)
    }
  }
}
