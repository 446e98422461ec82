import RPCurlProtobuf
import RPCurlProtocols

extension SuiteEvent {
  /// The event as one line of JSON, with its line feed.
  package var line: [UInt8] {
    var object = JSONObject()
    switch self {
    case .run(let run):
      object.add("event", "run")
      object.add("version", run.version)
      object.add("files", run.files)
      if run.shared > 0 { object.add("shared", run.shared) }
      if let seed = run.seed { object.add("seed", seed) }
      object.add("time", run.time)
    case .file(let file):
      object.add("event", "file")
      object.add("file", file.file)
      object.add("tests", file.tests)
    case .test(let test):
      object.add("event", "test")
      object.add(test)
    case .coverage(let coverage):
      object.add("event", "coverage")
      object.add("file", coverage.file)
      coverage.coverage.add(to: &object)
    case .fileEnd(let end):
      object.add("event", "file-end")
      object.add("file", end.file)
      object.addList("errors", end.errors.map(\.json))
      if end.isInterrupted { object.add("interrupted", raw: "true") }
      object.add("seconds", raw: end.duration.secondsNumber)
      object.addIfPresent("output", end.output)
    case .end(let end):
      object.add("event", "end")
      object.add("passed", end.passed)
      object.add("failed", end.failed)
      object.add("errors", end.errors)
      object.add("skipped", end.skipped)
      object.add("seconds", raw: end.duration.secondsNumber)
    }
    return object.line
  }
}

extension JSONObject {
  fileprivate mutating func add(_ test: TestResult) {
    add("file", test.file)
    add("line", test.line)
    add("name", test.name)
    addIfPresent("row", test.row)
    if !test.tags.isEmpty { add("tags", raw: JSONValue.array(test.tags.map(JSONValue.string)).text) }
    add("outcome", test.outcome.rawValue)
    addIfPresent("reason", test.reason)
    add("seconds", raw: test.duration.secondsNumber)
    add("attempts", test.attempts)
    addList("steps", test.steps.map(\.json))
    if let error = test.error { add("error", raw: error.json) }
    if test.isInterrupted { add("interrupted", raw: "true") }
    addIfPresent("output", test.output)
  }

  fileprivate mutating func addIfPresent(_ name: String, _ value: String?) {
    if let value { add(name, value) }
  }

  fileprivate mutating func addList(_ name: String, _ elements: [String]) {
    if !elements.isEmpty { add(name, raw: "[\(elements.joined(separator: ","))]") }
  }
}

extension SuiteError {
  fileprivate var json: String {
    var object = JSONObject()
    if let line { object.add("line", line) }
    object.add("what", what)
    object.add("why", why)
    object.addIfPresent("hint", hint)
    return object.object
  }
}

extension StepResult {
  fileprivate var json: String {
    var object = JSONObject()
    object.addIfPresent("name", name)
    object.add("line", line)
    object.add("seconds", raw: duration.secondsNumber)
    if attempts > 1 { object.add("attempts", attempts) }
    object.addList("calls", calls.map(\.json))
    object.addList("failures", failures.map(\.json))
    return object.object
  }
}

extension CallRecord {
  fileprivate var json: String {
    var object = JSONObject()
    object.add("method", method)
    object.add("line", line)
    object.add("status", status)
    object.add("seconds", raw: duration.secondsNumber)
    object.addIfPresent("command", command)
    return object.object
  }
}

extension CheckFailure {
  fileprivate var json: String {
    var object = JSONObject()
    object.addIfPresent("file", file)
    object.add("line", line)
    object.add("check", check)
    object.add("expected", expected)
    object.add("got", got)
    object.addIfPresent("diff", diff)
    object.addIfPresent("hint", hint)
    object.addIfPresent("command", command)
    return object.object
  }
}

extension Duration {
  /// Seconds, to the microsecond: `0.0123`, `2`. Negative durations are zero.
  fileprivate var secondsNumber: String {
    let microseconds = max(microseconds, 0)
    var fraction = String(microseconds % 1_000_000)
    fraction = String(repeating: "0", count: 6 - fraction.count) + fraction
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return fraction.isEmpty ? "\(microseconds / 1_000_000)" : "\(microseconds / 1_000_000).\(fraction)"
  }
}
