import Testing

@testable import RPCurlReports

/// Rules of reports that a single golden file does not show.
struct ReportTests {
  private static func test(_ name: String = "b", _ outcome: TestOutcome = .passed) -> SuiteEvent {
    .test(TestResult(file: "a.rpcurl", line: 1, name: name, outcome: outcome))
  }

  private static let run = SuiteEvent.run(
    SuiteRun(version: "1", files: 2, time: "2026-11-23T10:20:30Z"))

  @Test func markupIsEscaped() {
    #expect(XMLText.escape("<a b=\"c\">&\u{1}\n\t") == "&lt;a b=&quot;c&quot;&gt;&amp;\u{FFFD}\n&#9;")
    #expect(XMLText.escape("\u{FFFE}\u{FFFF}\u{1F600}é\r") == "\u{FFFD}\u{FFFD}\u{1F600}é&#13;")
  }

  @Test(arguments: [
    (Duration.zero, "0.0 ms"), (.microseconds(2310), "2.3 ms"), (.microseconds(9949), "9.9 ms"),
    (.microseconds(9950), "10 ms"), (.microseconds(999_499), "999 ms"), (.microseconds(999_500), "1.00 s"),
    (.milliseconds(1504), "1.50 s"), (.microseconds(59_994_999), "59.99 s"), (.seconds(60), "1 min 0 s"),
    (.seconds(3725), "62 min 5 s"), (.seconds(-1), "0.0 ms"),
  ])
  func timesHaveThreeDigits(_ duration: Duration, _ text: String) {
    #expect(duration.brief == text)
  }

  @Test func passedTestsWriteNothingOnTerminals() {
    var report = TerminalReport(isColored: true)
    #expect(report.receive(Self.run).isEmpty)
    #expect(report.receive(.file(SuiteFile(file: "a.rpcurl", tests: 1))).isEmpty)
    #expect(report.receive(Self.test()).isEmpty)
    #expect(report.receive(Self.test("c", .skipped)).isEmpty)
    #expect(report.receive(.fileEnd(SuiteFileEnd(file: "a.rpcurl", duration: .zero))).isEmpty)
  }

  @Test func progressCountsAndIsShorterThanTheTerminal() {
    var report = TerminalReport(isColored: true)
    _ = report.receive(Self.run)
    #expect(report.progress(columns: 80) == "0 tests, 0/2 files")
    _ = report.receive(.file(SuiteFile(file: "a.rpcurl", tests: 3)))
    #expect(report.progress(columns: 80) == "0 tests, 0/2 files: a.rpcurl")
    _ = report.receive(Self.test("x\u{1b}[2Jé", .failed))
    _ = report.receive(.fileEnd(SuiteFileEnd(file: "a.rpcurl", duration: .zero)))
    #expect(report.progress(columns: 80) == "1 test, 1/2 files, 1 failed: a.rpcurl: x\\u{1B}[2Jé")
    _ = report.receive(.file(SuiteFile(file: "b.rpcurl", tests: 2)))
    #expect(report.progress(columns: 80) == "1/5 tests, 1 failed: b.rpcurl")
    #expect(report.progress(columns: 10) == "1/5 tests")
    #expect(report.progress(columns: 0).isEmpty)
    _ = report.receive(Self.test("日本語"))
    #expect(report.progress(columns: 38) == "2/5 tests, 1 failed: a.rpcurl: 日本語")
    #expect(report.progress(columns: 37) == "2/5 tests, 1 failed: a.rpcurl: 日本")
  }

  @Test func longValuesAreCut() {
    var lines = FailureLines()
    let failure = CheckFailure(
      line: 1, check: "c", expected: String(repeating: "x", count: 5000), got: "y",
      diff: nil)
    lines.add(failure, "a")
    #expect(
      lines.lines[1].text == "  expected: \(String(repeating: "x", count: 2000))… (3000 more characters)")
    var cut = FailureLines()
    cut.add(
      CheckFailure(
        line: 1, check: "c", expected: "", got: "",
        diff: Array(repeating: "+ x", count: 250).joined(separator: "\n")), "a")
    #expect(cut.lines.count == 203 && cut.lines.last?.text == "    … (50 more lines)")
  }

  @Test func documentsHaveFilesInTheOrderOfPaths() {
    for format in [ReportFormat.junit, .html] {
      var reports = [format.makeReport(), format.makeReport()]
      let files = ["b.rpcurl", "a.rpcurl"].map { SuiteEvent.file(SuiteFile(file: $0, tests: 0)) }
      let texts = reports.indices.map { index in
        _ = reports[index].receive(Self.run)
        for file in index == 0 ? files : files.reversed() { #expect(reports[index].receive(file).isEmpty) }
        return reports[index].receive(.end(SuiteEnd()))
      }
      #expect(texts[0] == texts[1] && texts[0].contains("a.rpcurl"))
    }
  }

  @Test func classesAreDividedAtFolders() {
    for (path, name) in [
      ("./tests/greet.rpcurl", "tests.greet"), ("greet", "greet"), ("../x/a.b.rpcurl", "x.a_b"),
      ("/.rpcurl", "_rpcurl"), ("", "suite"),
    ] {
      var report = JUnitReport()
      _ = report.receive(Self.run)
      _ = report.receive(.fileEnd(SuiteFileEnd(file: path, duration: .zero)))
      #expect(report.receive(.end(SuiteEnd())).contains("package=\"\(name)\""), "\(path)")
    }
  }

  @Test func plansOfTAPFollowTheTests() {
    var report = TAPReport()
    #expect(report.receive(Self.run) == "TAP version 13\n")
    #expect(report.receive(Self.test()) == "ok 1 - a.rpcurl: b\n  ---\n  duration_ms: 0.000\n  ...\n")
    var end = SuiteEnd()
    end.count(Self.test())
    #expect(report.receive(.end(end)) == "1..1\n# 1 passed\n")
  }
}
