import RPCProtocols

extension Duration {
  /// Milliseconds, to the microsecond.
  package var millisecondsText: String {
    let fraction = String(abs(microseconds) % 1000)
    let zeros = String(repeating: "0", count: 3 - fraction.count)
    return "\(microseconds < 0 ? "-" : "")\(abs(microseconds) / 1000).\(zeros)\(fraction)"
  }
}
