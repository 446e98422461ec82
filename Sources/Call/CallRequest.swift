import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// The parameters of a call.
package struct CallRequest: Sendable {
  /// The method to call.
  package var method: MethodDescriptor
  /// The server: `http[s]://host[:port][/prefix]`, without a final slash.
  package var target: String
  /// Metadata to send.
  package var headers = Headers()
  /// Which headers and attributes are secret.
  package var secretNames = SecretNames.standard
  /// Texts that output does not show, besides the values of secret headers.
  package var secrets: [String] = []
  /// The attributes of the call, for its interceptors.
  package var attributes = CallAttributes()
  /// The timeout of the call, which is also sent to the server. `nil` means none.
  package var timeout: Duration?
  /// The wire protocol.
  package var protocolName = ProtocolName.grpc
  /// How the call is written to the wire and read from it.
  package var wire: CallParameters
  /// Whether the observer receives the size of each received message.
  package var reportsSizes = false
  /// Whether the observer receives each request message as it was sent, in every attempt.
  package var reportsMessages = false
  /// The interceptors that the call passes through, in the order of the request path unless their priorities or
  /// placements differ.
  package var interceptors: [InterceptorRegistration] = []
  /// Receives the interceptors' log records; called on any thread.
  package var log: LogSink = { _ in }
  /// Receives the interceptors' findings; called on any thread.
  package var onFinding: FindingSink = { _ in }
  /// The connection options.
  package var connection = ConnectionOptions()
  /// The `resolve` entries of the client's earlier requests.
  var formerAddresses: [String] = []
  /// Whether only the name of the method is known: its types are invented, and have no fields.
  package var isOpaque = false
  /// How long the caller keeps the call.
  package var lifetime = CallLifetime.untilItsEnd
  /// Whether a stream of messages is sent only after its last one, and with its length.
  package var isHeldUntilWhole = false

  /// Makes a request for a call over gRPC with protobuf.
  package init(method: MethodDescriptor, target: String, userAgent: String) {
    self.method = method
    self.target = target
    wire = CallParameters(kind: method.kind, userAgent: userAgent)
  }

  /// The name of the method.
  package var name: MethodName { MethodName(service: method.service, method: method.name) }
}

/// What a call has of its own; calls of one prepared request share the rest.
package struct OwnParameters: Sendable {
  /// Metadata to send, in place of that of the request.
  package var headers: Headers
  /// The timeout of the call, in place of that of the request. `nil` means none.
  package var timeout: Duration?
  /// Receives the findings of the call's interceptors; called on any thread.
  package var onFinding: FindingSink

  /// Those of a request. They are read where they are, which copies less than the whole.
  package init(_ prepared: PreparedRequest) {
    headers = prepared.request.headers
    timeout = prepared.request.timeout
    onFinding = prepared.request.onFinding
  }
}

extension CallRequest {
  /// The route of the call.
  var route: Route { Route(connection, formerAddresses: formerAddresses) }

  var facts: CallFacts {
    var facts = CallFacts(
      method: name, kind: method.kind, protocolName: protocolName, target: target, codec: wire.codec,
      requestType: method.input, responseType: method.output)
    facts.isOpaque = isOpaque
    facts.compression = wire.compression?.rawValue
    facts.lifetime = lifetime
    facts.isIdempotent = method.isIdempotent
    facts.hasNoSideEffects = method.hasNoSideEffects
    if !interceptors.isEmpty { facts.route = connection.route }
    return facts
  }

  var messageCodec: MessageCodec {
    let (method, codec) = (method, wire.codec)
    return MessageCodec(
      serialize: { try codec.serialize($0) },
      parseRequest: { try codec.parse($0, as: method.input) },
      parseResponse: { try codec.parse($0, as: method.output) })
  }
}

extension MethodDescriptor {
  /// The kind of the method.
  package var kind: CallKind { CallKind(clientStreams: clientStreaming, serverStreams: serverStreaming) }
}
