import RPCurlProtocols

@testable import RPCurlTransport

/// Records what a transfer reports.
final class TransferRecorder: TransferDelegate {
  var events: [String] = []
  var body: [UInt8] = []
  var error: TransportError?
  /// The maximum number of bytes that are processed of a piece.
  var mostBytes = Int.max
  /// Called at each event, from within libcurl's callbacks.
  var onEvent: (String) -> Void = { _ in }

  private func record(_ event: String) {
    events.append(event)
    onEvent(event)
  }

  func receive(head: ResponseStart) { record("head \(head.httpStatus)") }
  func receive(body: RawSpan) -> Int {
    let count = min(mostBytes, body.byteCount)
    self.body += body.withUnsafeBytes { Array($0.prefix(count)) }
    record("body \(count)")
    return count
  }
  func receive(trailers: Headers, areComplete: Bool) {
    record("\(areComplete ? "" : "some ")trailers \(trailers.count)")
  }
  func transfer(sentBytes: Int) { record("sent \(sentBytes)") }
  func transferWantsMore(_ isWanted: Bool) { record("wants \(isWanted)") }
  func receiveEnd(error: TransportError?) {
    self.error = error
    record("ended")
  }
}
