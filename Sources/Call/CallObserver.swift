import RPCurlChain
import RPCurlProtocols

/// Observes a call's progress, on the loop's thread: the values that leave the chain on either side.
///
/// ```swift
/// final class Printer: CallObserver {
///   func receive(_ event: CallEvent<Payload>) throws(RPCError) {
///     switch event {
///     case .responseMessage(let message): print(message)
///     case .responseEnd(let end): print(end.code.name)
///     default: break
///     }
///   }
/// }
/// ```
package protocol CallObserver: AnyObject {
  /// Receives an event: the start of the request, and the response in order. Request messages and the half-close are
  /// not reported here.
  ///
  /// A message has the form in which it left the last interceptor: typed if one decoded or replaced it.
  ///
  /// - Throws: An error, which ends the call. After the end it has no effect.
  func receive(_ event: CallEvent<Payload>) throws(RPCError)
  /// Receives a serialized response message; its bytes are valid during this call only.
  ///
  /// By default it gives a copy to `receive` as an event. An event cannot contain bytes in the buffer of the transport:
  /// an observer that implements this method receives them without a copy.
  ///
  /// - Throws: An error, which ends the call.
  func receive(message: RawSpan) throws(RPCError)
  /// Receives the first of serialized response messages as `receive(message:)` does, and those after it that it takes
  /// together. By default it takes one.
  ///
  /// - Parameters:
  ///   - places: The places of the messages in the piece, in bytes: at least one.
  ///   - piece: Valid during this call only.
  /// - Returns: The number of messages that it took: at least one. The others are given again, unless the call has ended.
  /// - Throws: An error, which ends the call.
  func receive(messages places: Span<Range<Int>>, of piece: RawSpan) throws(RPCError) -> Int
  /// Receives the size of a message on the wire: of each request message that was sent, and if
  /// `CallRequest.reportsSizes`, of each response message that has arrived and has not passed the chain.
  func receive(wire event: CallEvent<MessageSize>)
  /// Receives a request message as it was sent, if `CallRequest.reportsMessages`, before its size.
  ///
  /// - Parameters:
  ///   - message: The message in the codec of the call.
  ///   - isRepeated: Whether an earlier attempt has sent it.
  func receive(sent message: [UInt8], isRepeated: Bool)
  /// An attempt at the call has ended, before an interceptor decides whether another follows. Only for calls with an
  /// interceptor that may retry or that hedges. The request's start is reported first, and the response afterwards.
  func attemptEnded(_ report: AttemptReport)
  /// Whether the caller may send more messages now. Messages sent anyway are queued in memory.
  func wantInput(_ isWanted: Bool)
}

/// Default implementations.
extension CallObserver {
  /// Gives a copy to `receive` as an event.
  package func receive(message: RawSpan) throws(RPCError) {
    try receive(.responseMessage(.bytes(message.copyBytes())))
  }
  /// Receives the first message.
  package func receive(messages places: Span<Range<Int>>, of piece: RawSpan) throws(RPCError) -> Int {
    try receive(message: piece.extracting(places[0]))
    return 1
  }
  /// Does nothing.
  package func attemptEnded(_ report: AttemptReport) {}
  /// Does nothing.
  package func receive(wire event: CallEvent<MessageSize>) {}
  /// Does nothing.
  package func receive(sent message: [UInt8], isRepeated: Bool) {}
  /// Ignores backpressure; sufficient for callers that send few messages.
  package func wantInput(_ isWanted: Bool) {}
}
