import RPCurlBase

/// A report for people: failures when they occur, and a summary line. Tests that pass are only counted.
package struct TerminalReport: SuiteReport {
  private let colors: TextColors
  private var run: SuiteRun?
  private var counts = SuiteEnd()
  /// The number of tests in the files that started, and the number of these files.
  private var announced = (tests: 0, files: 0)
  private var endedTests = 0
  private var endedFiles = 0
  /// The file or test of the last event.
  private var current = ""

  /// Makes a report.
  ///
  /// - Parameter isColored: Whether it has colours.
  package init(isColored: Bool) { colors = TextColors(areOn: isColored) }

  /// Returns a failure or the summary.
  package mutating func receive(_ event: SuiteEvent) -> String {
    counts.count(event)
    switch event {
    case .run(let run): self.run = run
    case .file(let file):
      announced = (announced.tests + file.tests, announced.files + 1)
      current = ReportText.oneLine(file.file)
    case .coverage: break
    case .test(let test):
      endedTests += 1
      current = "\(ReportText.oneLine(test.file)): \(test.title)"
      return failure(of: test)
    case .fileEnd(let end):
      endedFiles += 1
      var lines = FailureLines()
      lines.add(end)
      let title = ReportText.oneLine(end.file)
      if end.errors.isEmpty { return lines.lines.isEmpty ? "" : block(nil, title, "", lines) }
      return block("ERROR", title, "", lines)
    case .end(let end): return summary(end)
    }
    return ""
  }

  /// The state of the run on one line, without a line feed. The caller erases it before it writes other text.
  ///
  /// - Parameter columns: The width of the terminal. The line is shorter.
  package func progress(columns: Int) -> String {
    let tests =
      announced.files >= run?.files ?? 0
      ? "\(endedTests)/\(announced.tests) tests"
      : "\(ReportText.count(endedTests, "test")), \(endedFiles)/\(run?.files ?? 0) files"
    var bad = SuiteEnd()
    (bad.failed, bad.errors) = (counts.failed, counts.errors)
    let words = bad.isSuccess ? tests : "\(tests), \(bad.text)"
    return Self.cut(current.isEmpty ? words : "\(words): \(current)", columns: columns - 1)
  }

  private func failure(of test: TestResult) -> String {
    switch test.outcome {
    case .passed, .skipped: return ""
    case .failed, .error:
      var lines = FailureLines()
      lines.add(test)
      let place = FailureLines.place(test.file, test.line)
      return block(
        test.outcome == .failed ? "FAIL" : "ERROR", "\(place): \(test.title)", " (\(test.timing))", lines)
    }
  }

  /// A failure with its heading, or what is no failure, and a blank line.
  private func block(_ word: String?, _ title: String, _ timing: String, _ failure: FailureLines) -> String {
    let word = word.map { "\(colors.paint(.boldRed, $0)) " } ?? ""
    var text = "\(word)\(colors.paint(.bold, title))\(colors.paint(.faint, timing))\n"
    for line in failure.lines {
      text += "  \(colors.paint(Self.color(of: line.style), line.text))\n"
    }
    return text + "\n"
  }

  private func summary(_ end: SuiteEnd) -> String {
    let counts = end.counts.map { outcome, text in colors.paint(Self.color(of: outcome), text) }
    let words = counts.isEmpty ? end.text : counts.joined(separator: ", ")
    return "\(words) in \(end.duration.brief)\(run.map { " (\($0.facts))" } ?? "")\n"
  }

  // MARK: Colours

  private static func color(of outcome: TestOutcome) -> TextColors.Style {
    switch outcome {
    case .passed: .green
    case .failed, .error: .boldRed
    case .skipped: .yellow
    }
  }

  private static func color(of style: ReportLine.Style) -> TextColors.Style {
    switch style {
    case .title, .plain: .plain
    case .removed: .red
    case .added: .green
    case .faint: .faint
    case .command: .cyan
    }
  }

  /// The start of `text` that is not wider than `columns`. A character that is not ASCII has at most two columns.
  private static func cut(_ text: String, columns: Int) -> String {
    var width = 0
    var cut = ""
    for scalar in text.unicodeScalars {
      width += scalar.isASCII ? 1 : 2
      guard width <= columns else { break }
      cut.unicodeScalars.append(scalar)
    }
    return cut
  }
}
