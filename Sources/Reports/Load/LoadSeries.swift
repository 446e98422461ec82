/// The calls of a run over time, in intervals of equal length that become longer with the run.
package struct LoadSeries {
  /// The calls that ended in an interval.
  package struct Interval: Equatable, Sendable {
    /// The number of calls, and of those that failed.
    package var calls = 0
    package var errors = 0
    /// The longest latency.
    package var longest = Duration.zero

    fileprivate mutating func add(_ other: Interval) {
      calls += other.calls
      errors += other.errors
      longest = max(longest, other.longest)
    }
  }

  /// The greatest number of intervals.
  private static let limit = 600

  /// When the first interval begins.
  private let start: Duration
  /// The length of each interval.
  package private(set) var length = Duration.milliseconds(100)
  /// The intervals, from the first one to the last one in which a call ended.
  package private(set) var intervals: [Interval] = []

  init(from start: Duration) { self.start = start }

  mutating func add(_ sample: LoadSample) {
    let time = max(sample.end - start, .zero)
    while time >= length * Self.limit { merge() }
    let index = Int(time / length)
    while intervals.count <= index { intervals.append(Interval()) }
    intervals[index].add(
      Interval(calls: 1, errors: sample.outcome.isError ? 1 : 0, longest: sample.latency))
  }

  /// Makes each two intervals one.
  private mutating func merge() {
    length = length * 2
    for index in stride(from: 0, to: intervals.count, by: 2) {
      var merged = intervals[index]
      if index + 1 < intervals.count { merged.add(intervals[index + 1]) }
      intervals[index / 2] = merged
    }
    intervals.removeLast(intervals.count / 2)
  }
}
