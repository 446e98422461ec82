import Testing

@testable import RPCurlReports

/// A run with one kind of result, whose reports are compared with files in Golden.
struct Scenario: Sendable, CustomTestStringConvertible {
  let name: String
  let events: [SuiteEvent]

  var testDescription: String { name }

  /// Makes a run. Its last event counts the others.
  private init(_ name: String, seed: Int? = nil, files: Int = 1, _ events: [SuiteEvent]) {
    self.name = name
    var end = SuiteEnd()
    for event in events { end.count(event) }
    end.duration = .milliseconds(1504)
    let run = SuiteRun(version: "1.2.0", files: files, seed: seed, time: "2026-11-23T10:20:30Z")
    self.events = [.run(run)] + events + [.end(end)]
  }

  private static let command =
    "rpcurl call --plaintext -d '{\"name\":\"Ada\"}' localhost:50051 demo.v1.Demo/Hello"

  private static func call(
    _ line: Int, _ method: String = "Hello", _ status: String = "ok",
    _ duration: Duration = .microseconds(2310)
  ) -> CallRecord {
    CallRecord(
      method: "demo.v1.Demo/\(method)", line: line, status: status, duration: duration, command: command)
  }

  private static func step(
    _ line: Int, name: String? = nil, _ calls: [CallRecord], _ failures: [CheckFailure] = []
  ) -> StepResult {
    var step = StepResult(name: name, line: line)
    step.calls = calls
    step.failures = failures
    step.duration = calls.reduce(.zero) { $0 + $1.duration }
    return step
  }

  private static func test(
    _ name: String, _ line: Int, _ outcome: TestOutcome, _ steps: [StepResult] = [],
    _ duration: Duration = .microseconds(2890), _ change: (inout TestResult) -> Void = { _ in }
  ) -> SuiteEvent {
    var test = TestResult(file: "tests/greet.rpcurl", line: line, name: name, outcome: outcome)
    test.steps = steps
    test.duration = duration
    change(&test)
    return .test(test)
  }

  private static func file(
    path: String = "tests/greet.rpcurl", _ tests: [SuiteEvent], _ errors: SuiteError...
  ) -> [SuiteEvent] {
    [.file(SuiteFile(file: path, tests: tests.count))] + tests
      + [.fileEnd(SuiteFileEnd(file: path, errors: errors, duration: .milliseconds(41)))]
  }

  private static let hello = test("says hello", 4, .passed, [step(4, [call(6)])]) { $0.tags = ["smoke"] }

  static let all: [Scenario] = [
    passed, output, failedCheck, severalChecks, sharedSteps, setupError, unreadableFile, callError,
    invalidCheck,
    skipped, retry,
    rows, timeout, noTests, hostile, coverage, hostileCoverage,
  ]

  private static var passed: Scenario {
    var list = TestResult(file: "tests/list.rpcurl", line: 3, name: "lists everything", outcome: .passed)
    list.duration = .milliseconds(33)
    list.steps = [step(3, [call(5, "List", "ok", .milliseconds(31))])]
    let second = file(path: "tests/list.rpcurl", [.test(list)])
    return Scenario("passed", seed: 1234, files: 2, file([hello]) + second)
  }

  /// What interceptors print after the last call.
  private static var output: Scenario {
    let path = "tests/greet.rpcurl"
    var end = SuiteFileEnd(file: path, duration: .milliseconds(41))
    end.output = "METHOD  CALLS\nHello       1\n"
    return Scenario("output", [.file(SuiteFile(file: path, tests: 1)), hello, .fileEnd(end)])
  }

  private static var failedCheck: Scenario {
    let diff = """
        {
          "user": {
      -     "name": "Ada",
      +     "name": "Eve",
            "id": "7",
            "roles": [
      -       "admin",
              "reader"
            ]
      """
    let failure = CheckFailure(
      line: 14, check: ". == {\"user\":{\"name\":\"Ada\",\"id\":\"7\",\"roles\":[\"admin\",\"reader\"]}}",
      expected: "{\"user\":{\"name\":\"Ada\",\"id\":\"7\",\"roles\":[\"admin\",\"reader\"]}}",
      got: "{\"user\":{\"name\":\"Eve\",\"id\":\"7\",\"roles\":[\"reader\"]}}", diff: diff, command: command)
    return Scenario(
      "failed-check",
      file([hello, test("finds a user", 11, .failed, [step(11, [call(12, "Find")], [failure])])]))
  }

  private static var severalChecks: Scenario {
    let failures = [
      CheckFailure(
        line: 15, check: ".message == \"Hello, Ada!\"", expected: "\"Hello, Ada!\"", got: "\"Hello, Eve!\"",
        command: command),
      CheckFailure(
        line: 16, check: "header content-type =~ grpc", expected: "a value that matches grpc",
        got: "application/json", command: command),
      CheckFailure(
        line: 17, check: "latency < 1ms", expected: "less than 1 ms", got: "2.31 ms", command: command),
    ]
    return Scenario(
      "several-checks",
      file([
        test("says hello to Ada", 12, .failed, [step(13, name: "greet", [call(14)], failures)]) {
          $0.tags = ["fast", "smoke"]
          $0.output = "Ada is greeted\nwith 3 checks\n"
        }
      ]))
  }

  /// A check of a file that the test sources.
  private static var sharedSteps: Scenario {
    var failure = CheckFailure(
      line: 2, check: ".name == \"Eve\"", expected: "\"Eve\"", got: "\"Ada\"", command: command)
    failure.file = "tests/shared/login"
    return Scenario(
      "shared-steps", file([test("logs in", 11, .failed, [step(11, [call(12)], [failure])])]))
  }

  private static var setupError: Scenario {
    let error = SuiteError(
      line: 2, what: "setup", why: "call Login: unauthenticated (16): token expired",
      hint: "set the variable with --var token=VALUE")
    let tests = ["says hello", "missing item"].enumerated().map { index, name in
      test(name, 4 + 7 * index, .skipped, [], .zero) { $0.reason = "the setup failed" }
    }
    let teardown = SuiteError(line: 23, what: "status ok", why: "expected ok, got not_found (5): no item")
    return Scenario("setup-error", file(tests, error, teardown))
  }

  private static var unreadableFile: Scenario {
    let error = SuiteError(
      line: 9, what: "expekt status ok", why: "unknown command", hint: "did you mean expect?")
    return Scenario(
      "unreadable-file",
      [.fileEnd(SuiteFileEnd(file: "tests/broken.rpcurl", errors: [error], duration: .microseconds(300)))])
  }

  private static var callError: Scenario {
    var failure = CheckFailure(
      line: 12, check: "status ok", expected: "ok",
      got: "unavailable: connect to localhost port 50051: connection refused", command: command)
    failure.hint = "\"rpcurl test --record cassettes tests\" records the calls again"
    let failed = step(11, [call(12, "Hello", "unavailable", .microseconds(410))], [failure])
    return Scenario("call-error", file([test("says hello", 11, .failed, [failed], .microseconds(450))]))
  }

  private static var invalidCheck: Scenario {
    let error = SuiteError(
      line: 14, what: "expect .user.nam == \"Ada\"", why: "demo.v1.User has no field nam",
      hint: "did you mean name?")
    return Scenario(
      "invalid-check",
      file([hello, test("finds a user", 11, .error, [step(11, [call(12, "Find")])]) { $0.error = error }]))
  }

  private static var skipped: Scenario {
    Scenario(
      "skipped",
      file([
        hello, test("slow import", 11, .skipped, [], .zero) { $0.reason = "tag slow (--skip slow)" },
        test("later", 20, .skipped, [], .zero),
      ]))
  }

  private static var retry: Scenario {
    let failure = CheckFailure(
      line: 14, check: "status not_found", expected: "not_found", got: "ok", command: command)
    var last = step(12, name: "wait for the deletion", [call(13, "Find")], [failure])
    last.attempts = 60
    return Scenario(
      "retry",
      file([
        test("deletes an item", 9, .failed, [step(9, [call(10, "Delete")]), last], .milliseconds(30_040)) {
          $0.attempts = 60
        }
      ]))
  }

  private static var rows: Scenario {
    let failure = CheckFailure(
      line: 13, check: ".message == \"Hello, ${row.name}!\"", expected: "\"Hello, Eve!\"",
      got: "\"Hello, !\"",
      command: command)
    return Scenario(
      "rows",
      file([
        test("each user", 10, .passed, [step(10, [call(12)])]) { $0.row = "ada@x.org" },
        test("each user", 10, .failed, [step(10, [call(12)], [failure])]) { $0.row = "eve@x.org" },
      ]))
  }

  private static var timeout: Scenario {
    let error = SuiteError(
      line: 13, what: "call Watch", why: "not finished within the timeout of the test, 30s",
      hint: "set a longer one with: timeout 60s")
    let test = test("watches", 11, .error, [step(11, [call(12)])], .seconds(30)) { $0.error = error }
    return Scenario("timeout", file([hello, test]))
  }

  private static var noTests: Scenario { Scenario("no-tests", file([])) }

  private static func coverage(
    _ path: String, _ counts: [(group: String, items: [(name: String, count: Int)])],
    enums: [(group: String, items: [(name: String, count: Int)])] = [],
    oneofs: [(group: String, items: [(name: String, count: Int)])] = []
  ) -> SuiteEvent {
    func groups(_ list: [(group: String, items: [(name: String, count: Int)])]) -> SuiteCoverage.Groups {
      var groups = SuiteCoverage.Groups()
      for (group, items) in list {
        groups.add(group)
        for item in items { groups.add(item.count, item.name, of: group) }
      }
      return groups
    }
    var coverage = SuiteCoverage()
    coverage.methods = groups(counts)
    coverage.enums = groups(enums)
    coverage.oneofs = groups(oneofs)
    return .coverage(SuiteFileCoverage(file: path, coverage: coverage))
  }

  /// Two files, which call different methods of a schema.
  private static var coverage: Scenario {
    let first = coverage(
      "tests/greet.rpcurl",
      [
        ("demo.v1.Demo/Hello", [("ok", 3)]), ("demo.v1.Demo/Find", []), ("demo.v1.Demo/LongMethodName", []),
        ("demo.v1.Admin/Reset", []), ("demo.v1.Admin/Stop", []),
      ],
      enums: [
        ("demo.v1.State", [("STATE_UNSPECIFIED", 2), ("ACTIVE", 1), ("ARCHIVED", 0)]),
        ("demo.v1.Unused", [("A", 0), ("B", 0)]),
      ],
      oneofs: [("demo.v1.Item.kind", [("text", 1), ("image", 0)]), ("demo.v1.Item.owner", [("user", 2)])])
    let second = coverage(
      "tests/list.rpcurl",
      [
        ("demo.v1.Demo/Hello", [("invalid_argument", 1), ("ok", 1)]),
        ("demo.v1.Demo/Find", [("not_found", 12)]),
      ], enums: [("demo.v1.State", [("ACTIVE", 4)])])
    var list = TestResult(file: "tests/list.rpcurl", line: 3, name: "lists everything", outcome: .passed)
    list.duration = .milliseconds(33)
    var events = file([hello])
    events.insert(first, at: 2)
    return Scenario("coverage", files: 2, events + [second] + file(path: "tests/list.rpcurl", [.test(list)]))
  }

  /// A schema with names that contain the markup of each format.
  private static var hostileCoverage: Scenario {
    let name = "<b>\u{1b}[2J\n\u{202e}\"&"
    return Scenario(
      "hostile-coverage",
      [
        coverage(
          "a.rpcurl", [("\(name)/\(name)", [(name, 1)]), ("no slash", [])], enums: [(name, [(name, 0)])],
          oneofs: [(name, [(name, 1)])])
      ] + file([hello]))
  }

  /// Text of a server that contains the markup and the escapes of each format.
  private static var hostile: Scenario {
    let text =
      "\u{1b}[2J</pre><script>alert(1)</script> ]]> & \"q\" 'a' \\ #SKIP % : ,\u{202e}abc\u{0}\u{feff}é"
    let failure = CheckFailure(
      line: 7, check: ".name == \"x\" # SKIP", expected: "\"x\"",
      got: "first\n::error::second\r\n...\n  - \(text)",
      command: "rpcurl -d '\n{\"name\":\"\(text)\"}' localhost:1 a.B/C")
    let diff = CheckFailure(
      line: 8, check: ". == {}", expected: "{}", got: "{}", diff: "- \(text)\n+ : x\n  ...\n+ ---")
    let path = "./a,b:c%/..g <1>.x.rpcurl"
    var test = TestResult(file: path, line: 5, name: "name # TODO \(text)", outcome: .failed)
    test.row = "row\n1..7"
    test.tags = ["<tag>"]
    test.steps = [step(6, name: "step\nok 1", [call(7, "Hello</code>")], [failure, diff])]
    test.output = "ok 1\nBail out! \(text)\n"
    var skipped = TestResult(file: path, line: 9, name: "skipped \\", outcome: .skipped)
    skipped.reason = "reason\n\(text)"
    return Scenario("hostile", file(path: path, [.test(test), .test(skipped)]))
  }
}
