/// An event of a call, on its way from the caller to the wire or back.
///
/// Each part of the program uses this type, with the form of messages that it has: the chain, plugins, logs,
/// cassettes, scripts of local responses, and observers of calls.
///
/// Only messages are frequent, so only they are stored inline; the other values are boxed to keep an event small.
package enum CallEvent<Message> {
  /// The request starts. Once, and first.
  indirect case requestStart(RequestStart)
  /// A message of the request.
  case requestMessage(Message)
  /// The half-close: no more request messages follow.
  case requestEnd
  /// The response starts. At most once.
  indirect case responseStart(ResponseStart)
  /// A message of the response.
  case responseMessage(Message)
  /// The call ends, with success or an error. Once.
  indirect case responseEnd(ResponseEnd)
  /// The metrics of the call, after its end. Once.
  indirect case metrics(CallMetrics)
}

extension CallEvent: Sendable where Message: Sendable {}
extension CallEvent: Equatable where Message: Equatable {}

extension CallEvent {
  /// Whether the event is a part of the request.
  package var isRequest: Bool {
    switch self {
    case .requestStart, .requestMessage, .requestEnd: true
    case .responseStart, .responseMessage, .responseEnd, .metrics: false
    }
  }

  /// Reads or changes the headers of a start, or the trailers of the end.
  ///
  /// - Returns: What `body` returns; nil for an event without them.
  package mutating func withHeaders<Result, Failure: Error>(
    _ body: (inout Headers) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    // Keeps one reference to the storage, so that a change does not copy it. A `switch` would add a reference.
    if case .requestStart(var start) = self {
      self = .requestEnd
      defer { self = .requestStart(start) }
      return try body(&start.headers)
    }
    if case .responseStart(var start) = self {
      self = .requestEnd
      defer { self = .responseStart(start) }
      return try body(&start.headers)
    }
    guard case .responseEnd(var end) = self else { return nil }
    self = .requestEnd
    defer { self = .responseEnd(end) }
    return try body(&end.trailers)
  }
}

/// Receives the response of a call from the side of the wire: the chain, and its caller.
///
/// Events come in order: a start, messages, one end, then metrics.
package protocol ResponseReceiver: AnyObject {
  /// Receives an event of the response.
  func receive(_ event: CallEvent<Payload>)
  /// Receives a serialized message, decompressed; its bytes are valid during this call only.
  ///
  /// This is `receive(.responseMessage)` for bytes in the buffer of the transport, which an event cannot contain: a
  /// message that no interceptor wants passes from libcurl's buffer to the output without a copy.
  func receive(message: RawSpan)
  /// Receives the first of serialized messages as `receive(message:)` does, and those after it that it takes together.
  /// By default it takes one.
  ///
  /// - Parameters:
  ///   - places: The places of the messages in the piece, in bytes: at least one.
  ///   - piece: A piece of the response's body, which is valid during this call only.
  /// - Returns: The number of messages that it took: at least one. The others are to be given again.
  func receive(messages places: Span<Range<Int>>, of piece: RawSpan) -> Int
}

extension ResponseReceiver {
  /// Receives the first message.
  package func receive(messages places: Span<Range<Int>>, of piece: RawSpan) -> Int {
    receive(message: piece.extracting(places[0]))
    return 1
  }
}
