import Protobuf
import RPCProtocols

/// How long a caller keeps a call.
package enum CallLifetime: Sendable {
  case untilItsEnd
  /// It cancels the call when it needs no more of it, as a session does.
  case untilCanceled
}

/// What is known of a call before it starts; it does not change.
public struct CallFacts: Sendable {
  /// The method.
  public var method: MethodName
  /// Which sides are streams.
  public var kind: CallKind
  /// The protocol.
  public var protocolName: ProtocolName
  /// The server: `http[s]://host[:port][/prefix]`.
  public var target: String
  /// How messages are encoded on the wire.
  public var codec: CodecName
  /// The type of the request's messages; nil if no schema is known.
  public var requestType: MessageType?
  /// The type of the response's messages; nil if no schema is known.
  public var responseType: MessageType?
  /// Whether only the name of the method is known: its types are invented, and have no fields.
  package var isOpaque = false
  /// How long the caller keeps the call.
  package var lifetime = CallLifetime.untilItsEnd
  /// Whether the schema marks the method as idempotent, or as free of side effects (`idempotency_level`).
  public var isIdempotent = false
  /// Whether the schema marks the method as free of side effects (`idempotency_level`).
  public var hasNoSideEffects = false
  /// What else selects the server, and the identity of the client, besides the target and the headers: a Unix socket or
  /// a client certificate, for example. Empty for a connection to the target without either.
  package var route = ""
  /// The number of this attempt at the call, from 1, in the order in which the attempts of all interceptors that retry
  /// or hedge start; always 1 for an interceptor further out than all of them.
  public var attempt = 1
  /// Whether an interceptor makes this call for another call, which waits for it (`CallContext.call`).
  public var isSubrequest = false

  /// Makes the facts of a call.
  package init(
    method: MethodName, kind: CallKind, protocolName: ProtocolName, target: String, codec: CodecName = .proto,
    requestType: MessageType? = nil, responseType: MessageType? = nil
  ) {
    self.method = method
    self.kind = kind
    self.protocolName = protocolName
    self.target = target
    self.codec = codec
    self.requestType = requestType
    self.responseType = responseType
  }
}
