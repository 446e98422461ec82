import RPCurlProtobuf
import RPCurlProtocols

/// How long a caller keeps a call.
package enum CallLifetime: Sendable {
  case untilItsEnd
  /// It cancels the call when it needs no more of it, as a session does.
  case untilCanceled
}

/// What is known of a call before it starts. For an interceptor it does not change: it has the facts of the request as it
/// reaches the interceptor.
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
  /// The request's start as it reaches the interceptor: headers, deadline, and what interceptors further out have changed.
  public var start: RequestStart
  /// The name of the compression of sent messages, such as `gzip`; nil sends them uncompressed.
  public package(set) var compression: String?
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
    start = RequestStart(method: method, target: target, codec: codec)
    self.requestType = requestType
    self.responseType = responseType
  }

  /// The value of `content-type` that the request has on the wire.
  public var contentType: String {
    start.headers.first("content-type") ?? protocolName.contentType(codec, kind)
  }

  /// The value of `host` or `:authority` that the request has on the wire; empty if the target is invalid.
  public var host: String {
    if let host = start.headers.first("host") { return host }
    guard let origin = Origin(url: start.target) else { return "" }
    let isDefault = origin.port == (origin.scheme == "https" ? 443 : 80)
    return isDefault ? String(origin.description.dropLast("\(origin.port)".count + 1)) : origin.description
  }

  /// Changes the method to another one of the same kind, with the same types.
  ///
  /// - Throws: The reason, if the schema has no such method.
  mutating func change(method new: MethodName) throws(InvalidValue) {
    defer { start.method = method }
    guard let requestType, let responseType, !isOpaque else {
      (method, isIdempotent, hasNoSideEffects) = (new, false, false)
      return
    }
    guard let found = try? requestType.schemaMethod(service: new.service, method: new.method) else {
      throw InvalidValue("the schema has no method \(new)")
    }
    guard found.input.name == requestType.name, found.output.name == responseType.name else {
      throw InvalidValue("\(new) has other types than \(method)")
    }
    guard CallKind(clientStreams: found.clientStreaming, serverStreams: found.serverStreaming) == kind else {
      throw InvalidValue("\(new) is of another kind than \(method)")
    }
    (method, isIdempotent, hasNoSideEffects) = (new, found.isIdempotent, found.hasNoSideEffects)
  }
}
