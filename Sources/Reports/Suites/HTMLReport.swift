import RPCurlProtobuf

/// One page without scripts and links: the counts, and for each file its tests with their times, calls and failures.
package struct HTMLReport: SuiteReport {
  private var record = SuiteRecord()

  /// Makes a report.
  package init() {}

  /// Returns the page at the end of the run.
  package mutating func receive(_ event: SuiteEvent) -> String {
    record.add(event)
    guard case .end(let end) = event else { return "" }
    return page(end)
  }

  private func page(_ end: SuiteEnd) -> String {
    let files = record.files
    let longest = files.flatMap { $0.tests.map(\.duration) }.max() ?? .zero
    // Files with failures are first.
    let sorted = files.filter { !$0.counts.isSuccess } + files.filter(\.counts.isSuccess)
    let coverage = record.coverage.map { CoveragePage.section($0, heading: "Coverage") } ?? ""
    return HTMLPage.text(
      title: "\(end.text) – rpcurl test",
      header: """
        <h1>rpcurl test</h1>
        <p class="verdict \(end.isSuccess ? "passed" : "failed")">\(end.text)</p>
        \(Self.share(end))<p class="facts">\(facts(end))</p>

        """, main: sorted.map { Self.section($0, longest) }.joined() + coverage)
  }

  /// A bar with the shares of the outcomes.
  private static func share(_ end: SuiteEnd) -> String {
    guard end.total > 0 else { return "" }
    let numbers: [(TestOutcome, Int)] = [
      (.failed, end.failed), (.error, end.errors), (.skipped, end.skipped), (.passed, end.passed),
    ]
    let parts = numbers.filter { $0.1 > 0 }.map { "<i class=\"\($0.rawValue)\" style=\"flex:\($1)\"></i>" }
    return "<div class=\"share\" aria-hidden=\"true\">\(parts.joined())</div>\n"
  }

  private func facts(_ end: SuiteEnd) -> String {
    var facts = [end.duration.brief]
    if let run = record.run {
      facts = [run.time, end.duration.brief, run.facts, "rpcurl \(run.version)"]
    }
    return facts.map(Self.escape).joined(separator: " · ")
  }

  private static func section(_ file: SuiteRecord.File, _ longest: Duration) -> String {
    let isOpen = file.counts.isSuccess ? "" : " open"
    var text = """
      <details class="file"\(isOpen)>
      <summary><span class="path">\(escape(file.path))</span> <span class="counts">\(counts(file.counts))</span> \
      <span class="time">\(file.duration.brief)</span></summary>

      """
    for error in file.errors {
      var lines = FailureLines()
      lines.add(error, file.path)
      text += "<div class=\"test error\">\(lines.html)</div>\n"
    }
    var output = FailureLines()
    output.add(output: file.output)
    text += output.html
    if !file.tests.isEmpty {
      text += """
        <table>
        <thead><tr><th scope="col">Result</th><th scope="col">Test</th><th scope="col" class="time">Time</th><td class="bars"></td></tr>\
        </thead>
        <tbody>
        \(file.tests.map { row($0, longest) }.joined())</tbody>
        </table>

        """
    }
    return text + "</details>\n"
  }

  private static func counts(_ counts: SuiteEnd) -> String {
    counts.total == 0
      ? "no tests"
      : counts.counts.map { "<b class=\"\($0.rawValue)\">\($1)</b>" }.joined(separator: " ")
  }

  private static func row(_ test: TestResult, _ longest: Duration) -> String {
    let share = longest > .zero ? Int((test.duration / longest * 100).rounded()) : 0
    let bar =
      test.outcome == .skipped ? "" : "<i class=\"bar\" style=\"width:\(min(max(share, 1), 100))%\"></i>"
    let time = test.outcome == .skipped ? "" : test.duration.brief
    return """
      <tr class="\(test.outcome.rawValue)"><td class="outcome">\(test.outcome.rawValue)</td>\
      <td>\(details(of: test))</td><td class="time">\(time)</td><td class="bars">\(bar)</td></tr>

      """
  }

  /// The name and the tags of a test, and below it the reason, the failures and the calls.
  private static func details(of test: TestResult) -> String {
    let tags = test.tags.map { " <span class=\"tag\">\(escape($0))</span>" }.joined()
    let attempts = test.attempts > 1 ? ReportText.count(test.attempts, "attempt") : nil
    let facts = ["line \(test.line)", attempts, test.reason.map(ReportText.oneLine)].compactMap(\.self)
    let line = "<span class=\"line\">\(escape(facts.joined(separator: ", ")))</span>"
    let name = "\(escape(test.title))\(tags) \(line)"
    var lines = FailureLines()
    lines.add(test)
    let calls = test.steps.flatMap(list)
    guard !lines.lines.isEmpty || !calls.isEmpty else { return name }
    let isOpen = test.outcome == .failed || test.outcome == .error ? " open" : ""
    let list = calls.isEmpty ? "" : "<ul>\n\(calls.joined())</ul>"
    return "<details\(isOpen)><summary>\(name)</summary>\(lines.html)\(list)</details>"
  }

  /// The calls of a step.
  private static func list(_ step: StepResult) -> [String] {
    let facts = [step.name.map(ReportText.oneLine), step.attemptsText].compactMap(\.self)
    let name = facts.isEmpty ? "" : "\(escape(facts.joined(separator: ", "))): "
    return step.calls.map {
      """
      <li>\(name)<code>\(escape($0.method))</code> \(escape($0.status)) \
      <span class="line">\($0.duration.brief), line \($0.line)</span></li>

      """
    }
  }

  static func escape(_ text: String) -> String { HTMLPage.escape(text) }
}

extension FailureLines {
  /// The lines as preformatted text.
  fileprivate var html: String {
    guard !lines.isEmpty else { return "" }
    let spans = lines.map { line in
      let text = HTMLReport.escape(line.text)
      return line.style == .plain ? text : "<span class=\"\(line.style.rawValue)\">\(text)</span>"
    }
    return "<pre>\(spans.joined(separator: "\n"))</pre>"
  }
}
