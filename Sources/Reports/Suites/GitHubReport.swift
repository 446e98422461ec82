import RPCurlProtobuf

/// Annotations of GitHub Actions: an error at the line of each failure, a notice with what interceptors have printed at the end of
/// a file, and one with the counts.
package struct GitHubReport: SuiteReport {
  private var run: SuiteRun?

  /// Makes a report.
  package init() {}

  /// Returns the workflow commands of a failure or of the end.
  package mutating func receive(_ event: SuiteEvent) -> String {
    switch event {
    case .run(let run): self.run = run
    case .file, .coverage: break
    case .test(let test): return Self.errors(of: test)
    case .fileEnd(let end):
      let errors = end.errors.map { Self.error($0, end.file, title: $0.what) }.joined()
      var output = FailureLines()
      output.add(output: end.output)
      return errors
        + (output.lines.isEmpty ? "" : Self.command("notice", [("title", end.file)], output.text))
    case .end(let end):
      let text = "\(end.text) in \(end.duration.brief)\(run.map { " (\($0.facts))" } ?? "")"
      return Self.command("notice", [("title", "rpcurl test")], text)
    }
    return ""
  }

  private static func errors(of test: TestResult) -> String {
    var text = ""
    for step in test.steps {
      for failure in step.failures {
        var lines = FailureLines()
        lines.add(failure, test.file)
        text += annotation(failure.file ?? test.file, failure.line, test.title, lines)
      }
    }
    if let error = test.error { text += Self.error(error, test.file, title: test.title) }
    return text
  }

  private static func error(_ error: SuiteError, _ file: String, title: String) -> String {
    var lines = FailureLines()
    lines.add(error, file)
    return annotation(file, error.line, title, lines)
  }

  /// An error with the place in its properties, from which GitHub links to the file.
  private static func annotation(_ file: String, _ line: Int?, _ title: String, _ text: FailureLines)
    -> String
  {
    var properties = [("file", file.hasPrefix("./") ? String(file.dropFirst(2)) : file)]
    if let line { properties.append(("line", "\(line)")) }
    properties.append(("title", title))
    let place = "\(FailureLines.place(file, line)): "
    return command("error", properties, String(text.text.dropFirst(place.count)))
  }

  /// A workflow command: `::NAME KEY=VALUE,…::MESSAGE`. A percent sign and the characters that end a property or the command are escaped, as in the
  /// package `@actions/core`.
  package static func command(_ name: String, _ properties: [(String, String)], _ message: String) -> String {
    let list = properties.map { key, value in
      "\(key)=\(escaped(ReportText.oneLine(value)).replacing(":", with: "%3A").replacing(",", with: "%2C"))"
    }
    return "::\(name) \(list.joined(separator: ","))::\(escaped(message))\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
  }
}
