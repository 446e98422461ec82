import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlReports

struct LoadReportTests {
  @Test func textHasATable() throws {
    let report = LoadThresholdTests.report(errors: 2, calls: 4, missed: 1)
    let text = report.text(report.results(of: try LoadThreshold.list("max<1s,errors<1%")))
    #expect(
      text == """
        demo.v1.Demo/Hello at http://localhost:50051
        open loop, 100 calls/s, at most 1000 at a time, 1 connection
        2026-11-29T10:00:00Z, rpcurl 0.1.0, branch=main, note=a\\u{1B}b

          calls        4 in 10.000 s, 0.4/s
          errors       3 (60.000 %)
          sent         4 messages, 40 B, 0.4 messages/s
          received     2 messages, 80 B, 0.2 messages/s
          not started  1, which were due while 1000 calls were running

        latency in ms, from the time at which each call was due
          min     1.000
          mean    2.500
          p50     2.001
          p75     3.000
          p90     4.000
          p95     4.000
          p99     4.000
          p99.9   4.000
          p99.99  4.000
          max     4.000

        status
          ok           2
          unavailable  2  connection refused

        command
          # a
          rpcurl load -d '{"a":"<b>"}' x y

        thresholds
          passed  max<1s     4.000 ms
          failed  errors<1%  60.000 %

        """)
  }

  @Test func jsonHasAllNumbers() throws {
    let report = LoadThresholdTests.report()
    let json = try JSONValue(parsing: report.json(report.results(of: try LoadThreshold.list("p99<1ms"))))
    func member(_ name: String) -> String { json[name].map { "\($0)" } ?? "absent" }
    for name in ["calls", "errors", "rate", "latency_ms", "statuses", "thresholds", "intervals"] {
      #expect(member(name) != "absent", "\(name)")
    }
    let text = String(decoding: report.json([]), as: UTF8.self)
    #expect(
      text.hasPrefix(
        #"{"target":"http://localhost:50051","method":"demo.v1.Demo/Hello","time":"2026-11-29T10:00:00Z","version":"rpcurl 0.1.0","#
          + ##""command":"# a\nrpcurl load -d '{\"a\":\"<b>\"}' x y","load":"open loop, 100 calls/s, at most 1000 at a time, 1 connection","##
          + #""tags":{"branch":"main","note":"a\u001bb"},"loop":"open","intended_rate":100,"#
      ))
    #expect(
      text.contains(#""calls":1000,"errors":5,"not_started":0,"sent_messages":1000,"received_messages":995,"#)
    )
    #expect(text.contains(#"{"status":"unavailable","calls":5,"first":"connection refused"}"#))
    #expect(text.hasSuffix("\n"))
  }

  @Test func stagesHaveTheCallsThatDidNotStart() {
    var report = LoadThresholdTests.report(missed: 3)
    var part = LoadReport.Part(name: "1s:9", statistics: LoadStatistics(from: .zero))
    (part.start, part.missed) = (.zero, 3)
    report.stages = [part]
    #expect(report.text([]).contains("\n  1s:9  from 0 s  0  0 failed, 3 not started\n"))
    #expect(
      String(decoding: report.json([]), as: UTF8.self)
        .contains(#"{"name":"1s:9","start_seconds":0.000,"calls":0,"errors":3,"not_started":3}"#))
  }

  @Test func messagesOfASuiteAreNotCounted() {
    var report = LoadThresholdTests.report()
    report.tests = [LoadReport.Part(name: "a", statistics: report.statistics)]
    #expect(report.csv().contains("\r\nhttp://localhost:50051,demo.v1.Demo/Hello,10.000,1000,5,0,,,,,"))
    for text in [
      report.text([]), String(decoding: report.json([]), as: UTF8.self), LoadPage(report, []).html,
    ] {
      #expect(!text.contains("sent"))
    }
  }

  @Test func csvHasNamesAndValues() {
    let lines = LoadThresholdTests.report().csv().split(separator: "\r\n")
    #expect(lines.count == 2)
    let names = lines[0].split(separator: ",")
    #expect(names.first == "target" && names.last == "tag.note")
    #expect(lines[1].split(separator: ",")[3] == "1000")
    #expect(
      lines[1].hasSuffix(
        "1000.000,2026-11-29T10:00:00Z,rpcurl 0.1.0,\"# a\nrpcurl load -d '{\"\"a\"\":\"\"<b>\"\"}' x y\","
          + "\"open loop, 100 calls/s, at most 1000 at a time, 1 connection\",false,main,a\u{1B}b"),
      "\(lines[1])")
  }

  @Test func pageIsSelfContained() throws {
    let report = LoadThresholdTests.report()
    let page = LoadPage(report, report.results(of: try LoadThreshold.list("p99<1ms"))).html
    #expect(page.hasPrefix("<!DOCTYPE html>"))
    for part in ["<script", "src=", "href=", "url("] { #expect(!page.contains(part)) }
    #expect(page.contains("<td class=\"failed\">failed</td><td>p99&lt;1ms</td>"))
    #expect(page.contains("p99.99") && page.contains("99.9 %"))
    #expect(page.contains("2026-11-29T10:00:00Z · rpcurl 0.1.0 · branch=main · note=a"))
    #expect(
      page.contains("<pre># a\nrpcurl load -d &#39;{&quot;a&quot;:&quot;&lt;b&gt;&quot;}&#39; x y</pre>")
        || page.contains("<pre># a\nrpcurl load -d '{&quot;a&quot;:&quot;&lt;b&gt;&quot;}' x y</pre>"))
    #expect(LoadPage(LoadThresholdTests.report(calls: 0), []).html.contains("No call ended."))
  }

  @Test(
    arguments: [
      (29, [0, 10, 20, 30]), (5, [0, 1, 2, 3, 4, 5]), (230, [0, 50, 100, 150, 200, 250]),
      (0.9, [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ] as [(Double, [Double])])
  func axisHasRoundNumbers(_ greatest: Double, _ values: [Double]) {
    let axis = LoadAxis(greatest)
    #expect(axis.values.map { ($0 * 1e6).rounded() / 1e6 } == values)
  }

  @Test(arguments: [0, -1, 1e-300, 1e300, .infinity, .nan]) func axisOfAnyNumberIsShort(_ greatest: Double) {
    #expect((2...6).contains(LoadAxis(greatest).values.count))
  }

  @Test func partsOfASuiteAreListed() {
    var report = LoadThresholdTests.report(errors: 0, calls: 4, missed: 0)
    report.stages = [LoadReport.Part(name: "30s:5", statistics: report.statistics)]
    report.tests = [LoadReport.Part(name: "a\u{1B}", statistics: report.statistics)]
    report.methods = [LoadReport.Part(name: "p.S/M", statistics: LoadStatistics(from: .zero))]
    let text = report.text([])
    #expect(text.contains("\n  tests   4 in 10.000 s, 0.4/s\n  errors  0 (0.000 %)\n\n"))
    #expect(
      text.contains(
        "\nstages\n  30s:5  4  0 failed  p50 2.001 ms  p99 4.000 ms\n\ntests\n  a\\u{1B}  4  0 failed  p50 2.001 ms  p99 4.000 ms\n\ncalls\n  p.S/M  0  0 failed\n\ncommand\n"
      ))
    let json = String(decoding: report.json([]), as: UTF8.self)
    #expect(json.contains(#""tests":[{"name":"a\u001b","calls":4,"errors":0,"p50_ms":2.001,"#))
    #expect(json.contains(#""stages":[{"name":"30s:5","calls":4,"errors":0,"p50_ms":2.001,"#))
    #expect(json.contains(#""methods":[{"name":"p.S/M","calls":0,"errors":0}]"#))
    #expect(LoadPage(report, []).html.contains("<h2>By test</h2>"))
    #expect(LoadPage(report, []).html.contains("<h2>By stage</h2>"))
  }

  @Test func stagesHaveTheirStarts() {
    var report = LoadThresholdTests.report(errors: 0, calls: 4, missed: 0)
    report.stages = [0, 200].map { start in
      var stage = LoadReport.Part(name: "0.2s:5", statistics: report.statistics)
      stage.start = .milliseconds(start)
      return stage
    }
    #expect(
      report.text([]).contains(
        """

        stages
          0.2s:5  from 0 s    4  0 failed  p50 2.001 ms  p99 4.000 ms
          0.2s:5  from 0.2 s  4  0 failed  p50 2.001 ms  p99 4.000 ms

        """))
    let json = String(decoding: report.json([]), as: UTF8.self)
    #expect(json.contains(#""stages":[{"name":"0.2s:5","start_seconds":0.000,"calls":4,"#))
    #expect(json.contains(#"{"name":"0.2s:5","start_seconds":0.200,"calls":4,"#))
    #expect(LoadPage(report, []).html.contains("<td>0.2s:5</td><td>from 0.2 s</td><td>4</td>"))
  }

  @Test func progressIsOneLine() {
    let report = LoadThresholdTests.report()
    let shape = LoadShape(.closed, at: 1, warmUp: .seconds(2), duration: nil)
    let line = report.statistics.progress(running: 3, at: .seconds(12), shape)
      .text(rates: (100, 0), elapsed: .seconds(12))
    #expect(line.hasPrefix("1000 calls, 100/s, 5 failed (5 unavailable), 3 running; p50 500"), "\(line)")
    #expect(line.hasSuffix("/s; 0:12"))
    let before = LoadStatistics(from: .seconds(2)).progress(running: 3, at: .seconds(1), shape)
    #expect(
      before.text(rates: (0, 0), elapsed: .seconds(1)).hasPrefix("warm-up; 0 calls, 0.0/s, 3 running; sent"))
  }

  /// The log is decoded by another implementation in `Tests/EndToEnd/test_load.py`.
  @Test func logHasAHistogram() {
    let log = HistogramLog.text(LoadThresholdTests.report())
    let lines = log.split(separator: "\n")
    #expect(lines.count == 11)
    #expect(lines[2] == "#[StartTime: 1795946400.000 (seconds since epoch), 2026-11-29T10:00:00Z]")
    #expect(
      lines[3...8] == [
        "# demo.v1.Demo/Hello at http://localhost:50051",
        "# open loop, 100 calls/s, at most 1000 at a time, 1 connection",
        "# branch=main", "# note=a\\u{1B}b", "# # a", "# rpcurl load -d '{\"a\":\"<b>\"}' x y",
      ])
    #expect(lines[10].hasPrefix("0.000,10.000,100"))
    #expect(lines[10].split(separator: ",")[3].hasPrefix("HISTF"))
  }

  @Test func storedStreamHasBlocksAndAChecksum() {
    // The Adler-32 of RFC 1950 for "Wikipedia" is 0x11E60398.
    let bytes = Array("Wikipedia".utf8)
    #expect(ZlibStream.stored(bytes) == [0x78, 1, 1, 9, 0, 0xf6, 0xff] + bytes + [0x11, 0xe6, 0x03, 0x98])
    #expect(ZlibStream.stored([]) == [0x78, 1, 1, 0, 0, 0xff, 0xff, 0, 0, 0, 1])
    let long = ZlibStream.stored(Array(repeating: 7, count: 70_000))
    #expect(long.count == 2 + 5 + 65_535 + 5 + 4465 + 4)
    #expect(long[2] == 0 && long[2 + 5 + 65_535] == 1)
  }
}
