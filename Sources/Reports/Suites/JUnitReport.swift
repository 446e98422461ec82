import RPCurlProtobuf

/// One document in JUnit's format: a suite for each file, and a case for each test and for the error of a file.
package struct JUnitReport: SuiteReport {
  private var record = SuiteRecord()

  /// Makes a report.
  package init() {}

  /// Returns the document at the end of the run.
  package mutating func receive(_ event: SuiteEvent) -> String {
    record.add(event)
    guard case .end = event else { return "" }
    // In UTC without a zone: the type of the attribute has none.
    let start = record.run.map { String($0.time.prefix(19)) } ?? "1970-01-01T00:00:00"
    return JUnitDocument.text(of: record.files.map { Self.suite(of: $0, at: start) })
  }

  private static func suite(of file: SuiteRecord.File, at start: String) -> JUnitSuite {
    let className = className(of: file.path)
    var suite = JUnitSuite(
      name: file.path.isEmpty ? "suite" : file.path, package: className, timestamp: start,
      duration: file.duration, cases: file.tests.map { element($0, file.path, className) })
    for (index, error) in file.errors.enumerated() {
      var lines = FailureLines()
      lines.add(error, file.path)
      let name = "[\(error.what.isEmpty ? error.why : error.what)]" + (index > 0 ? " \(index + 1)" : "")
      let place = place(file.path, error.line ?? 1)
      suite.cases.append(
        JUnitCase(
          name: name, className: className, duration: .zero,
          result: .error(
            JUnitProblem(type: "file", message: error.text, text: lines.text, place: place)),
          place: place))
    }
    // That of the others is in their details.
    for test in file.tests where test.outcome == .passed {
      if let output = test.output, !output.isEmpty { suite.output += "== \(test.title)\n\(output)\n" }
    }
    suite.output += file.output
    return suite
  }

  private static func element(_ test: TestResult, _ path: String, _ className: String) -> JUnitCase {
    var details = FailureLines()
    details.add(test)
    let failures = test.steps.flatMap(\.failures)
    var message = failures.count == 1 ? failures.first?.summary ?? "" : "\(failures.count) checks failed"
    if let error = test.error { message = error.text }
    let line = failures.first.map { ($0.file ?? path, $0.line) } ?? (path, test.error?.line ?? test.line)
    let problem = JUnitProblem(
      type: test.outcome == .failed ? "check" : "test", message: message, text: details.text,
      place: place(line.0, line.1))
    let result: JUnitCase.Result =
      switch test.outcome {
      case .passed: .passed
      case .skipped: .skipped(message: ReportText.oneLine(test.reason ?? ""))
      case .failed: .failed(problem)
      case .error: .error(problem)
      }
    return JUnitCase(
      name: test.title, className: className, duration: test.duration, result: result,
      place: place(path, test.line))
  }

  /// A place that a document can have: a file has a name.
  private static func place(_ file: String, _ line: Int) -> (file: String, line: Int)? {
    file.isEmpty ? nil : (file, line)
  }

  /// The class of the tests of a file, `tests.greet` of `./tests/greet.rpcurl`: readers divide it at its last dot.
  private static func className(of path: String) -> String {
    var names = path.split(separator: "/").filter { $0 != "." && $0 != ".." }.map(String.init)
    if let last = names.popLast() {
      let stem = last.split(separator: ".", omittingEmptySubsequences: false).dropLast().joined(
        separator: ".")
      names.append(stem.isEmpty ? last : stem)
    }
    return names.isEmpty ? "suite" : names.map { $0.replacing(".", with: "_") }.joined(separator: ".")
  }
}

extension CheckFailure {
  /// The failure on one line.
  fileprivate var summary: String {
    let text = ReportText.oneLine("expect \(check): expected \(expected), got \(got)")
    return text.unicodeScalars.count <= 300
      ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(300))) + "…"
  }
}
