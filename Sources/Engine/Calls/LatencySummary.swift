import RPCurlBase
import RPCurlProgram
import RPCurlProtocols

extension LatencyHistogram {
  /// The durations of the calls of a batch as a line of text; nil for fewer than two calls.
  ///
  /// - Parameters:
  ///   - elapsed: The time of the whole batch.
  ///   - succeeded: The number of calls with the status ok.
  func summary(elapsed: Duration, succeeded: Int) -> String? {
    guard total > 1 else { return nil }
    let values = [
      ("least", min), ("median", quantile(50)), ("90 %", quantile(90)), ("99 %", quantile(99)), ("most", max),
    ]
    let times = values.map { "\($0) \(TimingLine.milliseconds($1)) ms" }.joined(separator: ", ")
    let rate = Int(total) * 1_000_000 / Int(clamping: Swift.max(elapsed.microseconds, 1))
    return "timing of \(total) calls: \(times); \(succeeded) ok in \(TimingLine.milliseconds(elapsed)) ms, "
      + "\(rate) calls/s"
  }
}
