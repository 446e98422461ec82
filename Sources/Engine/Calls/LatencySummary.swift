import RPCurlProgram
import RPCurlProtocols

/// The durations of the calls of a batch, in memory of a fixed size.
package struct LatencySummary {
  /// Each power of two of microseconds has this many classes, so a percentile is exact to 1.6 %.
  private static let classes = 64

  private var counts = [Int](repeating: 0, count: 58 * classes)
  private var count = 0
  private var least = Duration.zero
  private var most = Duration.zero

  package init() {}

  /// Adds the duration of a call.
  package mutating func add(_ duration: Duration) {
    least = count == 0 ? duration : min(least, duration)
    most = max(most, duration)
    count += 1
    counts[Self.index(UInt64(clamping: max(0, duration.microseconds)))] += 1
  }

  /// The summary as a line of text; nil for fewer than two calls.
  ///
  /// - Parameters:
  ///   - total: The time of the whole batch.
  ///   - succeeded: The number of calls with the status ok.
  package func text(total: Duration, succeeded: Int) -> String? {
    guard count > 1 else { return nil }
    let values = [
      ("least", least), ("median", percentile(50)), ("90 %", percentile(90)), ("99 %", percentile(99)),
      ("most", most),
    ]
    let times = values.map { "\($0) \(TimingLine.milliseconds($1)) ms" }.joined(separator: ", ")
    let rate = count * 1_000_000 / Int(clamping: max(total.microseconds, 1))
    return "timing of \(count) calls: \(times); \(succeeded) ok in \(TimingLine.milliseconds(total)) ms, "
      + "\(rate) calls/s"
  }

  /// The time within which a percentage of the calls ended.
  private func percentile(_ percent: Int) -> Duration {
    var rest = (count * percent + 99) / 100
    for (index, number) in counts.enumerated() {
      rest -= number
      if rest <= 0 { return min(max(.microseconds(Self.value(index)), least), most) }
    }
    return most
  }

  /// The class of a number of microseconds.
  private static func index(_ value: UInt64) -> Int {
    guard value >= UInt64(classes) else { return Int(value) }
    // The highest bit selects the power of two, and the six bits after it the class.
    let shift = 63 - value.leadingZeroBitCount - 6
    return min((shift + 1) * classes + Int(value >> UInt64(shift)) - classes, 58 * classes - 1)
  }

  /// The greatest number of microseconds of a class.
  private static func value(_ index: Int) -> Int64 {
    guard index >= classes else { return Int64(index) }
    let shift = index / classes - 1
    return Int64((index % classes + classes + 1) << shift - 1)
  }
}
