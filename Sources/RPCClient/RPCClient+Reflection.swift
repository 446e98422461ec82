import Interception
import Protobuf
import RPCProtocols
import Reflection
import Transport

/// Which schema to ask for, of whom, and how.
public struct ReflectionRequest {
  /// What is wanted.
  public var goal: ReflectionQuery.Goal
  /// The version of reflection; `nil` is v1, or v1alpha where the server has no v1.
  public var version: ReflectionVersion?
  /// The server: `http[s]://host[:port][/prefix]`, without a final slash.
  public var target: String
  /// Metadata to send.
  public var headers = Headers()
  /// How long all of it may take.
  public var timeout = Duration.seconds(10)
  /// The protocol to speak.
  public var protocolName = ProtocolName.grpc
  /// How to reach the server.
  public var connection = ConnectionOptions()
  /// The value of the `user-agent` header.
  public var userAgent: String
  /// The interceptors that the calls pass; those of the client are not asked.
  public var interceptors: [InterceptorRegistration] = []
  /// Bounds for what the server may send.
  public var limits = ReflectionQuery.Limits()

  /// Makes a request for a schema over gRPC.
  public init(_ goal: ReflectionQuery.Goal, target: String, userAgent: String) {
    self.goal = goal
    self.target = target
    self.userAgent = userAgent
  }
}

extension RPCClient {
  /// Asks a server for its schema, on the client's loop and over its connections.
  ///
  /// ```swift
  /// let reflector = client.reflect(request)
  /// try client.loop.run { reflector.result != nil }
  /// ```
  public func reflect(_ request: ReflectionRequest) -> Reflector {
    let reflector = Reflector(request, client: self)
    reflector.start()
    return reflector
  }
}
