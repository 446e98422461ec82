import RPCurlLanguage
import RPCurlProtobuf
import Testing

@testable import RPCurlReports

/// Tests/EndToEnd/test_load.py compares two runs, and computes the probabilities in Python.
struct LoadBaselineTests {
  /// The report of a run with latencies in ms, of which the first fail.
  private func report(_ latencies: [Int], errors: Int = 0, missed: Int = 0) -> LoadReport {
    var statistics = LoadStatistics(from: .zero)
    for (index, latency) in latencies.enumerated() {
      statistics.add(
        LoadSample(
          due: .zero, end: .milliseconds(latency), .status(index < errors ? .internal : .ok)))
    }
    return LoadReport(
      target: "h:1", method: "a.B/C", shape: LoadShape(.closed, at: 4, duration: .seconds(1)),
      connections: nil, statistics: statistics, missed: missed, end: .seconds(1), isInterrupted: false,
      run: LoadThresholdTests.run)
  }

  private func baseline(_ report: LoadReport) throws -> LoadBaseline {
    try LoadBaseline(JSONValue(parsing: report.json([])), named: "old.json")
  }

  @Test func runIsComparedWithItsOwnReport() throws {
    let report = report((0..<500).map { $0 % 97 + 10 }, errors: 7, missed: 2)
    let results = try baseline(report).results(report)
    #expect(results.map(\.holds) == [true, true, true, true])
    #expect(results.map(\.condition) == ["p50", "p90", "p99", "errors"].map { "\($0) <= old.json" })
    for (result, percentile) in zip(results, [50.0, 90, 99]) {
      let latency = Decimal.milliseconds(report.statistics.latencies.quantile(percentile))
      #expect(result.measured == "\(latency) ms, was \(latency) ms (+0.0 %), p = 1.0000")
    }
    #expect(results[3].measured == "1.793 %, was 1.793 % (+0.0 %), p = 1.0000")
  }

  @Test func nameOfTheFileDoesNotControlTheTerminal() throws {
    let report = report([10])
    let baseline = try LoadBaseline(JSONValue(parsing: report.json([])), named: "a\u{1B}[2J\n.json")
    #expect(baseline.results(report)[0].condition == #"p50 <= a\u{1B}[2J\n.json"#)
  }

  @Test func slowerPercentilesFail() throws {
    let old = report((0..<1000).map { $0 % 100 + 100 })
    // All calls by a tenth; the slowest 20 % only; the slowest 2 % only; all, by a 50th; none.
    let runs: [((Int) -> Int, [Bool])] = [
      ({ $0 * 11 / 10 }, [false, false, false]), ({ $0 < 180 ? $0 : $0 * 2 }, [true, false, false]),
      ({ $0 < 198 ? $0 : $0 * 3 }, [true, true, false]), ({ $0 * 51 / 50 }, [true, true, true]),
      ({ $0 / 2 }, [true, true, true]),
    ]
    for (change, holds) in runs {
      let results = try baseline(old).results(report((0..<1000).map { change($0 % 100 + 100) }))
      #expect(results.map(\.holds) == holds + [true], "\(results.map(\.measured))")
    }
  }

  @Test func differencesByChanceHold() throws {
    let results = try baseline(report([10, 11, 12, 13, 14])).results(report([10, 14, 15, 20, 30], errors: 1))
    #expect(results.map(\.holds) == [true, true, true, true])
  }

  @Test func moreErrorsFail() throws {
    let old = report(Array(repeating: 5, count: 1000), errors: 1)
    let results = try baseline(old).results(report(Array(repeating: 5, count: 1000), errors: 10, missed: 10))
    #expect(results.map(\.holds) == [true, true, true, false])
    #expect(results[3].measured == "1.980 %, was 0.100 % (+1880.2 %), p < 0.0001")
    let none = try baseline(report(Array(repeating: 5, count: 10))).results(report([]))
    #expect(none.map(\.holds) == [false, false, false, true] && none[0].measured == "no call ended")
  }

  @Test func anotherLoadIsNotCompared() throws {
    let baseline = try baseline(report([1]))
    #expect(baseline.obstacle(to: "a.B/C", "closed loop, 4 at a time") == nil)
    #expect(baseline.obstacle(to: "a.B/D", "closed loop, 4 at a time") == "a run of a.B/C, not of a.B/D")
    #expect(
      baseline.obstacle(to: "a.B/C", "closed loop, 5 at a time")
        == "a run of another load: closed loop, 4 at a time; this one is closed loop, 5 at a time")
  }

  @Test func anotherSuiteIsNotCompared() throws {
    let text =
      #"{"target":"load/shop.rpcurl","method":"suite","load":"l","calls":1,"errors":0,"not_started":0,"#
      + #""histogram_ns":[[1,1]]}"#
    let baseline = try LoadBaseline(JSONValue(parsing: Array(text.utf8)), named: "old.json")
    #expect(baseline.obstacle(to: LoadBaseline.subject("suite", of: "/clone/shop.rpcurl"), "l") == nil)
    #expect(
      baseline.obstacle(to: LoadBaseline.subject("suite", of: "load/other.rpcurl"), "l")
        == "a run of the suite shop.rpcurl, not of the suite other.rpcurl")
    #expect(
      baseline.obstacle(to: LoadBaseline.subject("a.B/C", of: "h:1"), "l")
        == "a run of the suite shop.rpcurl, not of a.B/C")
  }

  @Test(
    arguments: [
      (#"{}"#, "not a report of a load"), (#"[1]"#, "not a report of a load"),
      (#"{HEAD"calls":1,"errors":2,"not_started":0,"histogram_ns":[]}"#, "not a report of a load"),
      (#"{HEAD"calls":-1,"errors":0,"not_started":0,"histogram_ns":[]}"#, "not a report of a load"),
      (
        #"{HEAD"calls":1,"errors":0,"not_started":0,"histogram_ns":[]}"#,
        "no call ended in the run of this file"
      ),
      (
        #"{HEAD"calls":1,"errors":0,"not_started":0,"histogram_ns":[[1]]}"#,
        "histogram_ns is not a list of pairs of numbers"
      ),
      (
        #"{HEAD"calls":1,"errors":0,"not_started":0,"histogram_ns":[[1,1000000000000],[2,1]]}"#,
        "histogram_ns has too many calls"
      ),
    ])
  func rejectsOtherFiles(text: String, why: String) throws {
    let text = text.replacing("HEAD", with: #""method":"a","load":"b","#)
    let json = try JSONValue(parsing: Array(text.utf8))
    let error = #expect(throws: LanguageError.self) { try LoadBaseline(json, named: "old.json") }
    #expect(error?.reason == why)
  }
}
