import RPCurlLanguage
import Testing

@testable import RPCurlReports

/// Events as lines of JSON.
struct SuiteEventTests {
  private func parse(_ json: String) throws -> SuiteEvent { try SuiteEvent(parsing: Array(json.utf8)) }

  private static var fullTest: TestResult {
    var test = TestResult(file: "a.rpcurl", line: 4, name: "says \"hello\"", outcome: .failed)
    test.row = "ada@x.org"
    test.tags = ["smoke", "fast"]
    test.duration = .microseconds(12_300)
    test.attempts = 3
    var step = StepResult(name: "look it up", line: 12)
    step.duration = .milliseconds(10)
    step.calls = [
      CallRecord(
        method: "demo.v1.Demo/Find", line: 13, status: "not_found", duration: .milliseconds(2),
        command: "rpcurl call")
    ]
    step.failures = [
      CheckFailure(
        line: 14, check: "status ok", expected: "ok", got: "not_found: no\nitem", diff: "- a\n+ b",
        command: "rpcurl call")
    ]
    step.failures[0].hint = "record"
    test.steps = [step, StepResult(line: 15)]
    test.error = SuiteError(line: 15, what: "expect .nme exists", why: "no such field", hint: "name?")
    test.output = "out\n"
    return test
  }

  private static let events: [SuiteEvent] = [
    .run(SuiteRun(version: "1.0", files: 20, seed: 1 << 40, time: "2026-11-23T10:20:30Z")),
    .run(SuiteRun(version: "1.0", files: 0, time: "")),
    .file(SuiteFile(file: "a.rpcurl", tests: 7)),
    .test(fullTest),
    .test(TestResult(file: "\u{202e}\u{1b}", line: 0, name: "", outcome: .skipped)),
    .coverage(SuiteFileCoverage(file: "a.rpcurl", coverage: SuiteCoverage())),
    .fileEnd(SuiteFileEnd(file: "a.rpcurl", duration: .seconds(2))),
    .fileEnd(SuiteFileEnd(file: "a", errors: [SuiteError(what: "setup", why: "x")], duration: .zero)),
    .fileEnd(interrupted.end), .test(interrupted.test), .end(SuiteEnd()),
  ]

  /// What a signal has ended.
  private static var interrupted: (test: TestResult, end: SuiteFileEnd) {
    var test = TestResult(file: "a", line: 1, name: "b", outcome: .skipped)
    test.isInterrupted = true
    var end = SuiteFileEnd(file: "a", errors: [SuiteError(what: "", why: "x")], duration: .zero)
    end.isInterrupted = true
    return (test, end)
  }

  @Test func testsOfRunsHaveTheirNumber() {
    var test = Self.fullTest
    test.row = "ada@x.org, run 2"
    #expect(SuiteEvent.test(Self.fullTest).ofRun(2) == .test(test))
    #expect(SuiteEvent.end(SuiteEnd()).ofRun(2) == .end(SuiteEnd()))
  }

  @Test(arguments: events) func everyEventIsReadAsItWasWritten(_ event: SuiteEvent) throws {
    let line = event.line
    #expect(line.last == UInt8(ascii: "\n") && !line.dropLast().contains(UInt8(ascii: "\n")))
    #expect(try SuiteEvent(parsing: line) == event)
  }

  @Test func keysAreInTheirOrderAndUnknownValuesAreAbsent() {
    #expect(
      String(decoding: SuiteEvent.test(Self.fullTest).line, as: UTF8.self) == """
        {"event":"test","file":"a.rpcurl","line":4,"name":"says \\"hello\\"","row":"ada@x.org",\
        "tags":["smoke","fast"],"outcome":"failed","seconds":0.0123,"attempts":3,\
        "steps":[{"name":"look it up","line":12,"seconds":0.01,\
        "calls":[{"method":"demo.v1.Demo/Find","line":13,"status":"not_found","seconds":0.002,\
        "command":"rpcurl call"}],"failures":[{"line":14,"check":"status ok","expected":"ok",\
        "got":"not_found: no\\nitem","diff":"- a\\n+ b","hint":"record","command":"rpcurl call"}]},\
        {"line":15,"seconds":0}],"error":{"line":15,"what":"expect .nme exists","why":"no such field",\
        "hint":"name?"},"output":"out\\n"}

        """)
    let short = SuiteEvent.test(TestResult(file: "a", line: 1, name: "b", outcome: .passed))
    #expect(
      String(decoding: short.line, as: UTF8.self)
        == #"{"event":"test","file":"a","line":1,"name":"b","outcome":"passed","seconds":0,"attempts":1}"#
        + "\n")
  }

  @Test func unknownMembersAreIgnored() throws {
    #expect(
      try parse(#"{"later":[{"x":null}],"event":"file","file":"a","tests":2,"more":1e999}"#)
        == .file(SuiteFile(file: "a", tests: 2)))
  }

  @Test(arguments: [
    ("[]", "must be an object"),
    ("{}", "event: is missing"),
    (#"{"event":"start"}"#, "event: must be run, file, test, coverage, file-end or end"),
    (#"{"event":7}"#, "event: must be a string"),
    (#"{"event":"file","file":"a"}"#, "tests: is missing"),
    (#"{"event":"file","file":"a","tests":-1}"#, "tests: must be a whole number"),
    (#"{"event":"file","file":"a","tests":1.5}"#, "tests: must be a whole number"),
    (#"{"event":"file","file":"a","tests":99999999999999999999}"#, "tests: must be a whole number"),
    (#"{"event":"file-end","file":"a","seconds":"1"}"#, "seconds: must be a number of seconds"),
    (#"{"event":"file-end","file":"a","seconds":1e300}"#, "seconds: must be a number of seconds"),
    (#"{"event":"file-end","file":"a","errors":["x"],"seconds":0}"#, "errors[0]: must be an object"),
    (#"{"event":"file-end","file":"a","errors":[{"what":"x"}],"seconds":0}"#, "errors[0].why: is missing"),
    (
      #"{"event":"test","file":"a","line":1,"name":"b","outcome":"ok"}"#,
      "outcome: must be passed, failed, error or skipped"
    ),
    (
      #"{"event":"test","file":"a","line":1,"name":"b","outcome":"passed","tags":["a",1]}"#,
      "tags[1]: must be a string"
    ),
    (
      #"{"event":"test","file":"a","line":1,"name":"b","outcome":"passed","steps":{}}"#,
      "steps: must be a list"
    ),
    (
      #"{"event":"test","file":"a","line":1,"name":"b","outcome":"passed","steps":[{"line":1,"calls":[{"method":1}]}]}"#,
      "steps[0].calls[0].method: must be a string"
    ),
    (
      #"{"event":"test","file":"a","line":1,"name":"b","outcome":"passed","steps":[{"line":1,"attempts":0}]}"#,
      "steps[0].attempts: must be at least 1"
    ),
    ("", "unexpected end of the JSON (line 1, column 1)"),
    (#"{"event":"end"} x"#, "unexpected text after the value (line 1, column 17)"),
  ])
  func errorNamesTheMember(_ json: String, _ reason: String) {
    let error = #expect(throws: LanguageError.self) { try parse(json) }
    #expect(error?.reason == reason)
  }

  @Test func depthAndLengthAreBounded() {
    let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    let error = #expect(throws: LanguageError.self) { try parse("{\"x\":\(deep)}") }
    #expect(error?.reason.hasPrefix("nested deeper than 100 levels") == true)
    let long = [UInt8](repeating: UInt8(ascii: " "), count: SuiteEvent.maximumLength + 1)
    #expect(throws: LanguageError("longer than 16777216 bytes")) {
      try SuiteEvent(parsing: long)
    }
  }

  @Test func truncatedEventsAreRefused() {
    let line = SuiteEvent.test(Self.fullTest).line.dropLast()
    for end in line.indices {
      #expect(throws: LanguageError.self) { try SuiteEvent(parsing: Array(line[..<end])) }
    }
  }

  @Test func countsTestsAndFilesWithErrors() {
    var end = SuiteEnd()
    #expect(end.isSuccess)
    for outcome in [TestOutcome.passed, .passed, .skipped] {
      end.count(.test(TestResult(file: "a", line: 1, name: "b", outcome: outcome)))
    }
    end.count(.fileEnd(SuiteFileEnd(file: "a", duration: .zero)))
    #expect(end.isSuccess && (end.passed, end.skipped, end.total) == (2, 1, 3))
    end.count(.test(TestResult(file: "a", line: 1, name: "b", outcome: .failed)))
    end.count(.test(TestResult(file: "a", line: 1, name: "b", outcome: .error)))
    end.count(
      .fileEnd(SuiteFileEnd(file: "a", errors: [SuiteError(what: "setup", why: "x")], duration: .zero)))
    #expect(!end.isSuccess && (end.failed, end.errors, end.total) == (1, 2, 6))
  }

  // MARK: Limits

  @Test func limitsTheTextsOfATest() {
    #expect(SuiteEvent.test(Self.fullTest).limited == .test(Self.fullTest))
    let long = String(repeating: "é", count: SuiteEvent.textLimitBytes)
    let cut = String(repeating: "é", count: SuiteEvent.textLimitBytes / 2) + "…"
    var test = Self.fullTest
    test.steps[0].calls[0].command = long
    test.steps[0].failures[0].check = long
    test.steps[0].failures[0].command = long
    test.error = SuiteError(what: "a\(long)", why: long)
    test.row = long
    var limited = Self.fullTest
    limited.steps[0].calls[0].command = nil
    limited.steps[0].failures[0].check = cut
    limited.steps[0].failures[0].command = nil
    limited.error = SuiteError(what: "a\(cut.dropFirst())", why: cut)
    limited.row = cut
    #expect(SuiteEvent.test(test).limited == .test(limited))
  }

  @Test func omitsTheCommandsOfATestThatWouldBeTooLong() throws {
    var test = Self.fullTest
    let command = String(repeating: "x", count: SuiteEvent.textLimitBytes)
    let call = CallRecord(method: "a.B/C", line: 1, status: "ok", duration: .zero, command: command)
    test.steps[0].calls = Array(repeating: call, count: SuiteEvent.maximumLength / command.utf8.count)
    let line = SuiteEvent.test(test).limited.line
    var expected = test
    for index in expected.steps[0].calls.indices { expected.steps[0].calls[index].command = nil }
    expected.steps[0].failures[0].command = nil
    #expect(try SuiteEvent(parsing: line) == .test(expected))
  }
}
