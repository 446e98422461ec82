import RPCurlProtocols

/// The timing of a call as one line of text. Each time is measured from the start of the call.
package enum TimingLine {
  package static func text(_ metrics: CallMetrics) -> String {
    let times: [(String, Duration?)] = [
      ("resolve", metrics.resolve), ("connect", metrics.connect), ("TLS", metrics.tls),
      ("first byte", metrics.firstByte), ("total", metrics.total),
    ]
    let known = times.compactMap { name, time in time.map { "\(name) \(milliseconds($0)) ms" } }
    let attempts = metrics.attempts > 1 ? ", \(metrics.attempts) attempts" : ""
    return "timing: \(known.joined(separator: ", "))\(attempts)"
  }

  /// A duration in milliseconds with one decimal digit.
  package static func milliseconds(_ duration: Duration) -> String {
    let tenths = Int((duration / .microseconds(100)).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
