import Protobuf

/// Holds a method to the number of messages that its kind allows.
///
/// Where exactly one message may come, it is kept back until the status is known: the message of a call that
/// failed is not shown as its answer.
struct ResponseCardinality {
  private let isSingle: Bool
  private var kept: [UInt8]?

  init(kind: CallKind) {
    isSingle = !kind.serverStreams
  }

  /// Hands a message on, or keeps it back.
  mutating func receive(_ message: RawSpan, _ sink: any ResponseSink) throws(RPCError) {
    guard isSingle else {
      return sink.receive(message: message)
    }
    guard kept == nil else {
      throw .violation(.unimplemented, "the server sent more than one message to a method that returns one")
    }
    kept = message.copyBytes()
  }

  /// Hands on what was kept back, and the end.
  mutating func finish(_ end: ResponseEnd, _ sink: any ResponseSink) {
    if isSingle, end.error == nil {
      guard let kept else {
        let error = RPCError.violation(.unimplemented, "the server sent no message, but ended with ok")
        return sink.receive(end: ResponseEnd(error: error, trailers: end.trailers))
      }
      sink.receive(message: kept.span.bytes)
    }
    sink.receive(end: end)
  }
}
