import RPCProtocols

/// What a call took, in one line for people: each time is counted from the start of the call.
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

  /// With one digit behind the point.
  private static func milliseconds(_ duration: Duration) -> String {
    let tenths = Int((duration / .microseconds(100)).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
