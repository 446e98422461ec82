import RPCurlProtocols
import Testing

@testable import RPCurlReports

struct LoadStatisticsTests {
  private func sample(
    _ due: Int, _ end: Int, _ outcome: LoadOutcome = .status(.ok), reason: String = ""
  ) -> LoadSample {
    var sample = LoadSample(due: .milliseconds(due), end: .milliseconds(end), outcome)
    sample.reason = reason
    return sample
  }

  @Test func countsCallsByStatus() {
    var statistics = LoadStatistics(from: .zero)
    statistics.add(sample(0, 5, .unfinished))
    statistics.add(sample(0, 10, .status(.unavailable), reason: "no connection"))
    for _ in 0..<3 { statistics.add(sample(0, 20)) }
    statistics.add(sample(0, 10, .status(.unavailable), reason: "later"))
    statistics.add(sample(0, 10, .assertion, reason: "latency"))
    #expect(statistics.groups.map(\.outcome.name) == ["ok", "unavailable", "assertion_failed", "unfinished"])
    #expect(statistics.groups.map(\.calls) == [3, 2, 1, 1])
    #expect(statistics.groups.map(\.reason) == ["", "no connection", "latency", ""])
    #expect((statistics.calls, statistics.errors) == (7, 4))
    // A call that was canceled has no latency.
    #expect(statistics.latencies.total == 6)
  }

  @Test func percentilesAgreeWithTheLatencies() {
    var statistics = LoadStatistics(from: .zero)
    var latencies: [Int64] = []
    var state: UInt64 = 1
    for _ in 0..<20_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // From 10 µs to 10 s, with a long tail.
      let latency = 10_000 + Int64(state >> 44) * Int64(state >> 56) * 40
      latencies.append(latency)
      statistics.add(LoadSample(due: .seconds(1), end: .seconds(1) + .nanoseconds(latency), .status(.ok)))
    }
    latencies.sort()
    for percentile in [1.0, 50, 90, 99, 99.9, 100] {
      let exact = Double(latencies[max(Int((percentile / 100 * 20_000).rounded(.up)) - 1, 0)])
      let counted = Double(statistics.latencies.quantile(percentile).nanoseconds)
      #expect(abs(counted - exact) <= exact / 1000, "\(percentile): \(counted) instead of \(exact)")
    }
  }

  @Test func seriesHasTheCallsOfEachInterval() {
    var series = LoadSeries(from: .seconds(1))
    series.add(sample(1000, 1050))
    series.add(sample(1000, 1099, .status(.internal)))
    series.add(sample(1000, 1210))
    #expect(series.length == .milliseconds(100))
    #expect(
      series.intervals == [
        LoadSeries.Interval(calls: 2, errors: 1, longest: .milliseconds(99)), LoadSeries.Interval(),
        LoadSeries.Interval(calls: 1, longest: .milliseconds(210)),
      ])
  }

  @Test func seriesHasAFixedSize() {
    var series = LoadSeries(from: .zero)
    for second in 0..<1000 { series.add(sample(second * 1000, second * 1000 + 1)) }
    #expect(series.length == .milliseconds(3200))
    #expect(series.intervals.count == 313)
    #expect(series.intervals.reduce(0) { $0 + $1.calls } == 1000)
    // The last one is not over.
    #expect(series.intervals.dropLast().allSatisfy { (3...4).contains($0.calls) })
    // A jump of the time is no problem.
    series.add(sample(0, 1_000_000_000))
    #expect(series.intervals.count <= 600)
    #expect(series.intervals.reduce(0) { $0 + $1.calls } == 1001)
  }

  @Test func decimalsAreRounded() {
    #expect(Decimal.text(1.005, 1) == "1.0")
    #expect(Decimal.text(0.96, 1) == "1.0")
    #expect(Decimal.text(12.0456, 3) == "12.046")
    #expect(Decimal.text(-0.5, 1) == "-0.5")
    #expect(Decimal.text(7, 0) == "7")
    #expect(Decimal.text(.nan, 1) == "0")
    #expect(Decimal.text(.infinity, 1) == "0")
    #expect(Decimal.short(99.90) == "99.9")
    #expect(Decimal.short(100) == "100")
    #expect(Decimal.milliseconds(.microseconds(1234)) == "1.234")
    #expect(Decimal.size(999) == "999 B")
    #expect(Decimal.size(1_250_000) == "1.3 MB")
    #expect(Decimal.percent(0.001) == "0.100 %")
  }
}
