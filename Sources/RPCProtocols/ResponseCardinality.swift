import Protobuf

/// Checks the number of response messages against the kind of the method.
///
/// Where exactly one message is allowed, it is held until the status is known: the message of a failed call
/// is not delivered.
struct ResponseCardinality {
  private let isSingle: Bool
  private var kept: [UInt8]?

  init(kind: CallKind) {
    isSingle = !kind.serverStreams
  }

  /// Delivers a message, or holds it.
  mutating func receive(_ message: RawSpan, _ sink: any ResponseSink) throws(RPCError) {
    guard isSingle else {
      return sink.receive(message: message)
    }
    guard kept == nil else {
      throw .violation(.unimplemented, "the server sent more than one message to a method that returns one")
    }
    kept = message.copyBytes()
  }

  /// Delivers the held message, then the end.
  mutating func finish(_ end: ResponseEnd, _ sink: any ResponseSink) {
    if isSingle, end.error == nil {
      guard let kept else {
        let error = RPCError.violation(.unimplemented, "the server sent no message, but the status ok")
        return sink.receive(end: ResponseEnd(error: error, trailers: end.trailers))
      }
      sink.receive(message: kept.span.bytes)
    }
    sink.receive(end: end)
  }
}
