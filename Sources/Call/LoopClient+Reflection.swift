import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// The parameters of a reflection request.
package struct ReflectionRequest: Sendable {
  /// The goal of the query.
  package var goal: ReflectionQuery.Goal
  /// The version of reflection; `nil` is v1, with v1alpha as the fallback.
  package var version: ReflectionVersion?
  /// The server: `http[s]://host[:port][/prefix]`, without a final slash.
  package var target: String
  /// Metadata to send.
  package var headers = Headers()
  /// Which headers are secret.
  package var secretNames = SecretNames.standard
  /// The timeout of the whole request.
  package var timeout = Duration.seconds(10)
  /// The wire protocol.
  package var protocolName = ProtocolName.grpc
  /// The connection options.
  package var connection = ConnectionOptions()
  /// The value of the `user-agent` header.
  package var userAgent: String
  /// The interceptors of the calls.
  package var interceptors: [InterceptorRegistration] = []
  /// Limits for the server's responses.
  package var limits = ReflectionQuery.Limits()

  /// Makes a request for a schema over gRPC.
  package init(_ goal: ReflectionQuery.Goal, target: String, userAgent: String) {
    self.goal = goal
    self.target = target
    self.userAgent = userAgent
  }
}

extension LoopClient {
  /// Requests a server's schema, on the client's loop and over its connections.
  ///
  /// ```swift
  /// let reflector = client.reflect(request)
  /// try client.loop.run { reflector.result != nil }
  /// ```
  package func reflect(_ request: ReflectionRequest) -> Reflector {
    let reflector = Reflector(request, client: self)
    reflector.start()
    return reflector
  }
}
