import RPCurlCall
import RPCurlChain
import RPCurlProtocols
import RPCurlTransport

/// The options of a client, which apply to all of its calls.
public struct ClientOptions: Sendable {
  /// The wire protocol.
  public var protocolName = ProtocolName.grpc
  /// How dynamic messages are encoded on the wire. Generated types are always sent in the binary format.
  public var codec = CodecName.proto
  /// The compression of sent messages; nil sends them uncompressed.
  public var compression: Compression?
  /// The accepted compressions of received messages, in order of preference; nil accepts all that this machine can
  /// decompress.
  public var acceptedCompressions: [Compression]?
  /// Whether a unary call over Connect is made by GET, if the method is marked `NO_SIDE_EFFECTS`.
  public var usesGET = false
  /// The limit for one received message after decompression, in bytes.
  public var maxMessageBytes = 64 << 20
  /// The maximum number of connections to the server; further calls wait for one that they can share. Nil for no limit.
  public var maxConnections: Int?
  /// The maximum number of calls that run at the same time; further calls wait until others have ended, first come, first
  /// served. A call that waits can be canceled, and its timeout includes this time. Nil for no limit.
  public var maxConcurrentCalls: Int?
  /// Whether calls use all addresses of the server's name in turn, each with connections of its own, and `maxConnections` of them
  /// at most. Addresses that accept no connection are not used. The name is resolved before the first call, and again after a
  /// connection has failed; calls start as soon as one address has accepted a connection. Otherwise all calls use the first
  /// address that accepts a connection.
  public var spreadsOverAddresses = false
  /// Metadata of every call, before that of the call.
  public var headers = Headers()
  /// The timeout of calls that have none of their own; nil for no timeout.
  public var timeout: Duration?
  /// How to reach the server, beyond its URL.
  public var connection = ConnectionOptions()
  /// Whether calls may use a libcurl before 8.14.0. Otherwise they fail with the code `failedPrecondition`, before anything is sent.
  ///
  /// A program with this library loads libcurl when its first client is made: the file that the environment variable
  /// `RPCURL_LIBCURL` names (an absolute path), or `libcurl.so.4` of the system, 7.88.0 or newer. Versions before 8.14.0, such as
  /// 7.88.1 of Debian 12, lose a response that a server sends together with a reset of its stream or with GOAWAY: many errors of
  /// methods that do not exist, and responses to uploads that the server does not read to their end. Such a call ends as
  /// `internal` or `unavailable`, or at its timeout. Many calls at once also take several times the processor time.
  ///
  /// Ways to a newer one: the package of a newer system (Debian 13 has 8.14.1, and so has bookworm-backports for Debian 12), or
  /// `make libcurl` in the sources of rpcurl, which builds one and prints the value for `RPCURL_LIBCURL`.
  ///
  /// If it is true, the first call of a client reports an old version through ``log``, once, with the level `warning`.
  public var allowsOldLibcurl = false
  /// The value of the `user-agent` header.
  public var userAgent = "rpcurl-swift"
  /// Receives the log records of interceptors and of the client; called on any thread.
  public var log: LogSink = { _ in }
  /// Receives the interceptors' findings; called on any thread.
  public var onFinding: FindingSink = { _ in }

  /// Makes the default options: gRPC, with protobuf's binary format.
  public init() {}
}

/// What a caller gives for one call, besides its messages.
struct CallParameters: Sendable {
  /// Metadata, after that of the client's options.
  var headers: Headers
  /// The timeout; nil for that of the options.
  var timeout: Duration?
  /// Interceptors, after those of the client.
  var interceptors: [any ChainMember]

  init(_ headers: Headers, _ timeout: Duration?, _ interceptors: [any ChainMember]) {
    self.headers = headers
    self.timeout = timeout
    self.interceptors = interceptors
  }
}

extension ClientOptions {
  /// The parameters of a call.
  func request<Input, Output>(
    _ method: ResolvedMethod<Input, Output>, _ target: String, _ interceptors: [InterceptorRegistration],
    _ parameters: CallParameters
  ) -> CallRequest {
    var request = CallRequest(method: method.descriptor, target: target, userAgent: userAgent)
    request.headers = headers.appending(parameters.headers)
    request.timeout = parameters.timeout ?? timeout
    request.protocolName = protocolName
    request.wire = wire(method.descriptor.kind, method.codec)
    request.interceptors = interceptors
    request.log = log
    request.onFinding = onFinding
    request.connection = connection(for: method.descriptor.kind, target)
    return request
  }

  /// How calls of a kind are written to the wire and read from it.
  package func wire(_ kind: CallKind, _ codec: CodecName) -> RPCurlProtocols.CallParameters {
    var wire = RPCurlProtocols.CallParameters(
      kind: kind, codec: codec, userAgent: userAgent, maxMessageBytes: maxMessageBytes)
    wire.compression = compression
    wire.acceptedCompressions = acceptedCompressions
    wire.usesGET = usesGET
    return wire
  }

  /// The connection options of calls of a kind.
  func connection(for kind: CallKind, _ target: String) -> ConnectionOptions {
    var connection = connection
    connection.sharesConnection = true
    // gRPC and concurrent messages in both directions need HTTP/2. Over TLS, the other protocols work with HTTP/1.1 too.
    let isTLS = target.hasPrefix("https:")
    if connection.httpVersion == .negotiated, protocolName == .grpc || kind == .bidiStreaming && !isTLS {
      connection.httpVersion = .http2
    }
    return connection
  }
}
