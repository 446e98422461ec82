import RPCurlProtocols

/// Observes a transfer's progress, on the loop's thread.
///
/// It receives HTTP: pieces of a body are not messages, and the end has no status of the RPC. So its methods do not take
/// a `CallEvent`.
///
/// libcurl may be the caller. A delegate may call all methods of transfers; they take effect when libcurl has
/// returned.
package protocol TransferDelegate: AnyObject {
  /// The status line and the header fields of the final response were received.
  func receive(head: ResponseStart)
  /// A piece of the body was received. The bytes are valid during this call only.
  ///
  /// Returns how many of them were processed, at least one. The others are delivered again in the next round, or after
  /// `resumeReceiving`.
  func receive(body: RawSpan) -> Int
  /// Trailers were received.
  ///
  /// - Parameter areComplete: Whether these are all of them. Otherwise others may follow, until the end.
  func receive(trailers: Headers, areComplete: Bool)
  /// libcurl has read this many bytes of the request's body so far.
  func transfer(sentBytes: Int)
  /// Whether the caller may send more of the request's body; false while too many bytes wait.
  func transferWantsMore(_ isWanted: Bool)
  /// The transfer has ended: completely if `error` is `nil`. Not called after `close` or `finish`.
  func receiveEnd(error: TransportError?)
}
