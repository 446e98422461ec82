/// What a command that takes long has done so far, for a line on the terminal.
package struct Progress {
  /// The calls of a command that makes several.
  package struct Calls {
    package var ended: Int
    package var failed: Int
    package var running: Int
    /// The number of all calls; nil if it is not known.
    package var total: Int?
    /// The calls that failed, by the name of their result; empty if these are not counted.
    package var results: [(name: String, count: Int)] = []

    /// Counts calls.
    package init(ended: Int, failed: Int, running: Int, of total: Int? = nil) {
      (self.ended, self.failed, self.running, self.total) = (ended, failed, running, total)
    }
  }

  /// The messages and the bytes of their bodies.
  package var sentMessages = 0
  package var receivedMessages = 0
  package var sentBytes = 0
  package var receivedBytes = 0
  /// The calls; nil for a command that makes one.
  package var calls: Calls?
  /// The share of the input that was read, from 0 to 1; nil if its size is not known.
  package var share: Double?
  /// The times within which half of the calls, and 99 % of them, ended; nil if they are not measured.
  package var latencies: (median: Duration, most: Duration)?
  /// Whether the part that is measured has not begun.
  package var isWarmUp = false

  /// Makes the progress of a command that begins.
  package init() {}

  /// Adds the messages and bytes of another call.
  package static func += (sum: inout Progress, other: Progress) {
    sum.sentMessages += other.sentMessages
    sum.receivedMessages += other.receivedMessages
    sum.sentBytes += other.sentBytes
    sum.receivedBytes += other.receivedBytes
  }

  /// The bytes in both directions.
  package var bytes: Int { sentBytes + receivedBytes }

  /// The line: `12 of 50 calls (24 %), 4/s, 1 failed (1 internal), 8 running; sent 12 messages, 1.0 kB; received …; 2.1 kB/s; 0:03`.
  ///
  /// - Parameters:
  ///   - rates: The calls and bytes per second of late.
  ///   - elapsed: The time since the start.
  package func text(rates: (calls: Double, bytes: Double), elapsed: Duration) -> String {
    let seconds = elapsed.components.seconds
    var parts = [isWarmUp ? "warm-up" : "", calls.map { text($0, rate: rates.calls) } ?? ""]
    if calls == nil, let share { parts.append(Self.percent(share)) }
    if let latencies, calls?.ended != 0 {
      let (median, most) = (Decimal.milliseconds(latencies.median), Decimal.milliseconds(latencies.most))
      parts.append("p50 \(median) ms, p99 \(most) ms")
    }
    parts += [
      "sent \(Self.count(sentMessages, "message")), \(Decimal.size(sentBytes))",
      "received \(Self.count(receivedMessages, "message")), \(Decimal.size(receivedBytes))",
      "\(Decimal.size(Int(rates.bytes)))/s",
      "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)",
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "; ")
  }

  private func text(_ calls: Calls, rate: Double) -> String {
    var text = Self.count(calls.ended, "call")
    if let total = calls.total { text = "\(calls.ended) of \(Self.count(total, "call"))" }
    let share = calls.total.map { Double(calls.ended) / Double(max($0, 1)) } ?? share
    if let share { text += " (\(Self.percent(share)))" }
    text += ", \(Decimal.text(rate, rate < 10 ? 1 : 0))/s"
    if calls.failed > 0 { text += ", \(calls.failed) failed" }
    if !calls.results.isEmpty {
      text += " (\(calls.results.map { "\($0.count) \($0.name)" }.joined(separator: ", ")))"
    }
    return text + ", \(calls.running) running"
  }

  private static func percent(_ share: Double) -> String { "\(Decimal.text(share * 100, 0)) %" }

  private static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}
