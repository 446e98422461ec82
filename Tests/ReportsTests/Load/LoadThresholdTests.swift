import RPCurlLanguage
import RPCurlProtocols
import Testing

@testable import RPCurlReports

struct LoadThresholdTests {
  static let run = LoadReport.Run(
    start: 1_795_946_400_000_000_000, version: "rpcurl 0.1.0",
    command: "# a\nrpcurl load -d '{\"a\":\"<b>\"}' x y\n",
    tags: ["branch=main", "note=a\u{1B}b"].compactMap { try? LoadTag($0) })

  /// A run of 1000 calls in 10 s with latencies of 1 to 1000 ms, of which 5 failed.
  static func report(errors: Int = 5, calls: Int = 1000, missed: Int = 0) -> LoadReport {
    var statistics = LoadStatistics(from: .zero)
    for index in 0..<calls {
      let due = Duration.milliseconds(index * 9)
      var sample = LoadSample(
        due: due, end: due + .milliseconds(index + 1),
        .status(index < errors ? .unavailable : .ok))
      sample.reason = index < errors ? "connection refused" : ""
      sample.sentMessages = 1
      sample.receivedMessages = index < errors ? 0 : 1
      sample.sentBytes = 10
      sample.receivedBytes = 20
      statistics.add(sample)
    }
    return LoadReport(
      target: "http://localhost:50051", method: "demo.v1.Demo/Hello",
      shape: LoadShape(.open(jobs: 1000), at: 100, duration: .seconds(10)), connections: 1,
      statistics: statistics, missed: missed, end: .seconds(10), isInterrupted: false, run: Self.run)
  }

  @Test(arguments: [
    ("p50<=501ms", true), ("p50<499ms", false), ("p99<0.5s", false), ("p99.9<1001ms", true),
    ("max<1s", false),
    ("max<=1001ms", true), ("min<2ms", true), ("mean>500ms", true), ("avg<502ms", true), ("errors<6", true),
    ("errors<5", false), ("errors<=5", true), ("errors<0.6%", true), ("errors<0.5%", false),
    ("rate>99", true),
    ("rate>=101", false), (" p50 < 502ms ", true), ("errors == 5", true), ("errors != 5", false),
  ])
  func comparesWhatWasMeasured(text: String, holds: Bool) throws {
    let results = Self.report().results(of: try LoadThreshold.list(text))
    #expect(results.map(\.holds) == [holds], "\(results.map(\.measured))")
  }

  @Test(arguments: [("<=", true), ("==", true), (">=", true), ("<", false), ("!=", false), (">", false)])
  func comparesAShareAtItsLimit(comparison: String, holds: Bool) throws {
    let report = Self.report(errors: 7, calls: 125)
    #expect(report.results(of: try LoadThreshold.list("errors\(comparison)5.6%")).map(\.holds) == [holds])
  }

  @Test func listHasAllConditions() throws {
    let list = try LoadThreshold.list("p99<50ms,errors<0.1%,rate>190")
    #expect(list.map(\.text) == ["p99<50ms", "errors<0.1%", "rate>190"])
    #expect(list.map(\.metric) == [.percentile(99), .errorShare, .rate])
    let results = Self.report().results(of: list)
    #expect(
      results.map(\.measured) == [
        "\(Decimal.milliseconds(Self.report().statistics.latencies.quantile(99))) ms", "0.500 %", "100.0/s",
      ])
    #expect(results.map(\.holds) == [false, false, false])
  }

  @Test(arguments: [
    ("", "missing comparison: ==, !=, <, <=, > or >="), ("p99", "missing comparison: ==, !=, <, <=, > or >="),
    ("p99=5ms", "missing comparison: ==, !=, <, <=, > or >="),
    ("p99=~5ms", "missing comparison: ==, !=, <, <=, > or >="),
    ("p99<5", "5 has no unit"), ("latency<100", "latency is not measured"),
    ("error < 1%", "error is not measured"), ("p99<soon", "soon is not a duration"),
    ("p0<5ms", "p0 is not measured"), ("p101<5ms", "p101 is not measured"),
    ("latency<5ms", "latency is not measured"),
    ("rate>x", "the rate is a number"), ("rate>1%", "the rate is a number"),
    ("errors<-1", "errors are a number, or a percentage with %"),
    ("errors<inf", "errors are a number, or a percentage with %"),
  ])
  func rejectsInvalidConditions(text: String, why: String) {
    let error = #expect(throws: LanguageError.self) { try LoadThreshold.list(text) }
    #expect(error?.reason == why)
  }

  @Test func limitWithoutUnitShowsUnits() {
    let error = #expect(throws: LanguageError.self) { try LoadThreshold.list("p99 < 100") }
    #expect(error?.hint == "write 100ms or 100s")
  }

  @Test func latenciesOfNoCallFulfilNoCondition() throws {
    let results = Self.report(calls: 0, missed: 1).results(
      of: try LoadThreshold.list("p50<1h,max>1ms,errors<2,rate<1"))
    #expect(results.map(\.holds) == [false, false, true, true])
    #expect(results[0].measured == "no call ended")
  }

  /// A server that does not respond at all must not pass.
  @Test func noConditionHoldsIfNoCallWasMeasured() throws {
    let thresholds = try LoadThreshold.list("errors<1%,errors<=5,rate<1,p99<1s")
    let results = Self.report(errors: 0, calls: 0).results(of: thresholds)
    #expect(results.map(\.holds) == [false, false, false, false])
    #expect(results[0].measured == "no call was measured")
    let missed = Self.report(errors: 0, calls: 0, missed: 3).results(of: thresholds)
    #expect(missed[0].measured == "100.000 %")
  }

  @Test func rateIsThatOfCallsThatEnded() throws {
    var statistics = LoadStatistics(from: .zero)
    for _ in 0..<4 { statistics.add(LoadSample(due: .zero, end: .seconds(5), .unfinished)) }
    let report = LoadReport(
      target: "h:1", method: "a.B/C", shape: LoadShape(.closed, at: 4, duration: nil, requests: 4),
      connections: nil, statistics: statistics, missed: 0, end: .zero, isInterrupted: false, run: Self.run)
    #expect((report.rate, report.errors, statistics.calls) == (0, 4, 4))
    #expect(statistics.series.intervals.isEmpty)
    #expect(report.results(of: try LoadThreshold.list("rate>0.1")).map(\.holds) == [false])
  }

  /// It ends long after the others.
  @Test func canceledCallDoesNotLengthenTheMeasuredPart() throws {
    var statistics = LoadStatistics(from: .zero)
    for _ in 0..<4 { statistics.add(LoadSample(due: .zero, end: .seconds(1), .status(.ok))) }
    statistics.add(LoadSample(due: .zero, end: .seconds(6), .unfinished))
    let report = LoadReport(
      target: "h:1", method: "a.B/C",
      shape: LoadShape(.closed, at: 5, duration: .seconds(1), requests: nil),
      connections: nil, statistics: statistics, missed: 0, end: .seconds(1), isInterrupted: false,
      run: Self.run)
    #expect((report.rate, report.elapsed) == (4, .seconds(1)))
  }

  @Test func callsThatDidNotStartAreErrors() {
    let report = Self.report(errors: 0, missed: 250)
    #expect(report.errors == 250)
    #expect(report.errorShare == 0.2)
  }
}
