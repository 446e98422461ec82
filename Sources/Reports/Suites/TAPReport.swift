import RPCurlProtobuf

/// The Test Anything Protocol: one test point for each test, with a YAML block.
///
/// The text is valid in versions 13 and 14. Its first line is that of version 13: `prove` of Perl 5.36 fails with 14,
/// and readers of version 14 accept 13. Strings are those of JSON, which are strings of YAML and of its subset that
/// `prove` reads; a diff is a list of lines, because `prove` reads no block with an indentation indicator.
package struct TAPReport: SuiteReport {
  private var points = 0

  /// Makes a report.
  package init() {}

  /// Returns the test point of a test, and the plan at the end of the run.
  package mutating func receive(_ event: SuiteEvent) -> String {
    switch event {
    case .run: return "TAP version 13\n"
    case .file, .coverage: return ""
    case .test(let test):
      let isFailed = test.outcome == .failed || test.outcome == .error
      let skip = test.outcome == .skipped ? " # SKIP \(Self.escaped(test.reason ?? ""))" : ""
      return point("\(test.file): \(test.title)", isFailed: isFailed, skip) + Self.diagnostics(of: test)
    case .fileEnd(let end):
      let points = end.errors.map { error in
        point("\(end.file): \(error.what.isEmpty ? error.why : error.what)", isFailed: true)
          + Self.block(Self.lines(of: error, end.file))
      }
      let output = (end.output ?? "").split(separator: "\n").map { "# \(ReportText.oneLine(String($0)))\n" }
      return (points + output).joined()
    case .end(let end):
      return points == 0 ? "1..0 # SKIP no tests\n" : "1..\(points)\n# \(end.text)\n"
    }
  }

  private mutating func point(_ description: String, isFailed: Bool, _ directive: String = "") -> String {
    points += 1
    return "\(isFailed ? "not ok" : "ok") \(points) - \(Self.escaped(description))\(directive)\n"
  }

  private static func escaped(_ text: String) -> String {
    ReportText.oneLine(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }

  // MARK: YAML

  private static func diagnostics(of test: TestResult) -> String {
    guard test.outcome != .skipped else { return "" }
    var lines = ["duration_ms: \(test.duration.millisecondsNumber)"]
    guard test.outcome != .passed else { return block(lines) }
    lines += [
      "outcome: \(test.outcome.rawValue)", "attempts: \(test.attempts)", "at:",
      "  file: \(ReportText.quoted(test.file))", "  line: \(test.line)",
    ]
    let failures = test.steps.flatMap { step in step.failures.map { (step, $0) } }
    if !failures.isEmpty { lines.append("failures:") }
    for (step, failure) in failures { lines += Self.lines(of: failure, step) }
    if let error = test.error { lines += Self.lines(of: error) }
    if let output = test.output, !output.isEmpty { lines.append("output: \(ReportText.quoted(output))") }
    return block(lines)
  }

  private static func lines(of failure: CheckFailure, _ step: StepResult) -> [String] {
    var lines = ["  - line: \(failure.line)"]
    if let file = failure.file { lines.append("    file: \(ReportText.quoted(file))") }
    if let name = step.name { lines.append("    step: \(ReportText.quoted(name))") }
    if step.attempts > 1 { lines.append("    attempts: \(step.attempts)") }
    lines += [
      "    check: \(ReportText.quoted(failure.check))",
      "    expected: \(ReportText.quoted(failure.expected))",
      "    got: \(ReportText.quoted(failure.got))",
    ]
    if let diff = failure.diff, !diff.isEmpty {
      lines.append("    diff:")
      lines += diff.split(separator: "\n", omittingEmptySubsequences: false).map(element)
    }
    if let hint = failure.hint { lines.append("    hint: \(ReportText.quoted(hint))") }
    if let command = failure.command { lines.append("    command: \(ReportText.quoted(command))") }
    return lines
  }

  /// A line of a diff as an element of a list. `prove` reads `- "+ : x"` as a key, unless the colon is escaped.
  private static func element(_ line: Substring) -> String {
    let text = ReportText.quoted(String(line))
    guard line.dropFirst().first(where: { $0 != " " }) == ":", let colon = text.firstIndex(of: ":") else {
      return "      - \(text)"
    }
    return "      - \(text[..<colon])\\u003a\(text[text.index(after: colon)...])"
  }

  private static func lines(of error: SuiteError, _ file: String) -> [String] {
    ["at:", "  file: \(ReportText.quoted(file))"] + lines(of: error)
  }

  private static func lines(of error: SuiteError) -> [String] {
    var lines = ["error:"]
    if let line = error.line { lines.append("  line: \(line)") }
    lines += ["  what: \(ReportText.quoted(error.what))", "  why: \(ReportText.quoted(error.why))"]
    if let hint = error.hint { lines.append("  hint: \(ReportText.quoted(hint))") }
    return lines
  }

  private static func block(_ lines: [String]) -> String {
    "  ---\n\(lines.map { "  \($0)\n" }.joined())  ...\n"
  }
}
