import RPCurlCSystem

/// Counts latencies of up to a day with three significant digits, in constant memory.
package final class LatencyHistogram {
  /// The longest latency that is distinguished, in nanoseconds.
  package static let limit: Int64 = 86_400_000_000_000

  private let histogram: UnsafeMutablePointer<hdr_histogram>?

  /// Makes an empty histogram.
  package init() {
    var histogram: UnsafeMutablePointer<hdr_histogram>?
    // It fails only without memory; nothing is counted then.
    _ = hdr_init(1, Self.limit, 3, &histogram)
    self.histogram = histogram
  }

  deinit {
    if let histogram { hdr_close(histogram) }
  }

  /// Counts a latency.
  ///
  /// - Parameters:
  ///   - latency: The latency.
  ///   - interval: The expected time between two calls; zero if not set. A call that takes longer has delayed those
  ///     that should have followed: they are counted with the latencies that they would have had (coordinated omission).
  package func count(_ latency: Duration, expectedInterval interval: Duration = .zero) {
    let value = Swift.min(Swift.max(latency.nanoseconds, 0), Self.limit)
    if let histogram { hdr_record_corrected_value(histogram, value, interval.nanoseconds) }
  }

  /// The number of latencies.
  package var total: Int64 { histogram?.pointee.total_count ?? 0 }

  /// The latency that a fraction of the calls does not exceed.
  ///
  /// - Parameter percentile: The percentage of calls, from 0 to 100.
  package func quantile(_ percentile: Double) -> Duration {
    guard let histogram, total > 0 else { return .zero }
    // The library rounds the number of calls to the nearest. A double is not exact: 99.9 % of 10,000 are no more than 9,990.
    let count = (percentile / 100 * Double(total) * (1 - 1e-12)).rounded(.up)
    // The end of a class may be beyond the longest latency.
    return Swift.min(.nanoseconds(hdr_value_at_percentile(histogram, count / Double(total) * 100)), max)
  }

  /// The shortest latency, with all its digits.
  package var min: Duration {
    guard let histogram, total > 0, hdr_min(histogram) > 0 else { return .zero }
    return .nanoseconds(histogram.pointee.min_value)
  }

  /// The longest latency, with all its digits.
  package var max: Duration { histogram.map { .nanoseconds($0.pointee.max_value) } ?? .zero }

  /// The mean latency.
  package var mean: Duration { histogram.map { .nanoseconds(total == 0 ? 0 : Int64(hdr_mean($0))) } ?? .zero }

  /// How many latencies do not exceed each of these bounds, which ascend.
  package func counts(upTo bounds: [Duration]) -> [Int64] {
    guard let histogram else { return bounds.map { _ in 0 } }
    var iterator = hdr_iter()
    hdr_iter_recorded_init(&iterator, histogram)
    var counts: [Int64] = []
    var count: Int64 = 0
    while hdr_iter_next(&iterator) {
      while counts.count < bounds.count, bounds[counts.count].nanoseconds < iterator.median_equivalent_value {
        counts.append(count)
      }
      count = iterator.cumulative_count
    }
    return counts + Array(repeating: count, count: bounds.count - counts.count)
  }

  /// The number of significant decimal digits.
  package static let significantDigits = 3

  /// The numbers of latencies in each class, up to the last that is not zero, in the order of the format of HdrHistogram.
  package var classes: [Int64] {
    guard let histogram, let counts = histogram.pointee.counts else { return [] }
    let all = UnsafeBufferPointer(start: counts, count: Int(histogram.pointee.counts_len))
    return Array(all.prefix((all.lastIndex { $0 != 0 } ?? -1) + 1))
  }

  /// The numbers of latencies in the classes that are not empty, with the latency at the end of each.
  package var recorded: [(latency: Duration, count: Int64)] {
    guard let histogram else { return [] }
    var iterator = hdr_iter()
    hdr_iter_recorded_init(&iterator, histogram)
    var classes: [(latency: Duration, count: Int64)] = []
    while hdr_iter_next(&iterator) {
      classes.append((.nanoseconds(iterator.highest_equivalent_value), iterator.count))
    }
    return classes
  }

  /// The latencies at the ends of the classes that are not empty, and the fraction of all latencies up to each.
  package var distribution: [(latency: Duration, fraction: Double)] {
    var sum: Int64 = 0
    return recorded.map { latency, count in
      sum += count
      return (latency, Double(sum) / Double(total))
    }
  }
}
