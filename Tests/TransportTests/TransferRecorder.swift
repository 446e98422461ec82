import RPCProtocols

@testable import Transport

/// Records what a transfer reports.
final class TransferRecorder: TransferDelegate {
  var events: [String] = []
  var body: [UInt8] = []
  var error: TransportError?
  /// Called at each event, from within libcurl's callbacks.
  var onEvent: (String) -> Void = { _ in }

  private func record(_ event: String) {
    events.append(event)
    onEvent(event)
  }

  func receive(head: ResponseStart) { record("head \(head.httpStatus)") }
  func receive(body: RawSpan) {
    self.body += body.withUnsafeBytes { Array($0) }
    record("body \(body.byteCount)")
  }
  func receive(trailers: Headers) { record("trailers \(trailers.count)") }
  func transfer(sentBytes: Int) { record("sent \(sentBytes)") }
  func transferWantsMore(_ isWanted: Bool) { record("wants \(isWanted)") }
  func receiveEnd(error: TransportError?) {
    self.error = error
    record("ended")
  }
}
