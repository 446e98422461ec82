import RPCurlProtobuf

/// A line of text for people, and what it is.
struct ReportLine: Equatable {
  enum Style: String {
    /// The place and the check, or the place and the error.
    case title
    /// Values, and words that introduce lines.
    case plain
    /// An expected line of a diff.
    case removed
    /// A line of a diff that was found instead.
    case added
    /// A line of a diff that is the same, and output.
    case faint
    /// The command line that repeats a call.
    case command
  }

  let style: Style
  let text: String
}

/// The lines of what failed: those of the terminal, of JUnit, of annotations and of the page.
struct FailureLines {
  /// The lengths at which a value, a diff and output are cut. The events contain all of it.
  private static let valueLimit = 2000
  private static let lineLimit = 200

  private(set) var lines: [ReportLine] = []

  /// The lines as plain text.
  var text: String { lines.map(\.text).joined(separator: "\n") }

  /// Adds the failures of all steps, the error and the output of a test.
  mutating func add(_ test: TestResult) {
    for step in test.steps { add(step, test.file) }
    if let error = test.error { add(error, test.file) }
    add(output: test.output)
  }

  /// Adds the errors and the output of a file.
  mutating func add(_ end: SuiteFileEnd) {
    for error in end.errors { add(error, end.file) }
    add(output: end.output)
  }

  /// Adds what was printed.
  mutating func add(output: String?) {
    guard let output, !output.isEmpty else { return }
    add(.plain, "  output:")
    let lines = output.hasSuffix("\n") ? output.dropLast() : output[...]
    addCut(lines.split(separator: "\n", omittingEmptySubsequences: false)) { (.faint, "    \($0)") }
  }

  /// Adds the failures of a step. The command line of several checks of one call is added once.
  private mutating func add(_ step: StepResult, _ file: String) {
    let facts = [step.name.map { "step \(ReportText.oneLine($0))" }, step.attemptsText].compactMap(\.self)
    let suffix = facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"
    for (index, failure) in step.failures.enumerated() {
      let isLastOfCall =
        index + 1 == step.failures.count || step.failures[index + 1].command != failure.command
      add(failure, file, suffix: suffix, hasCommand: isLastOfCall)
    }
  }

  /// Adds a failure.
  ///
  /// - Parameters:
  ///   - failure: The failure.
  ///   - file: The path of the file.
  ///   - suffix: Text after the check.
  ///   - hasCommand: Whether the command line is added.
  mutating func add(_ failure: CheckFailure, _ file: String, suffix: String = "", hasCommand: Bool = true) {
    let file = failure.file ?? file
    add(.title, "\(Self.place(file, failure.line)): expect \(ReportText.oneLine(failure.check))\(suffix)")
    let diff = failure.diff?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
    if diff.contains(where: { !$0.isEmpty }) {
      add(.plain, "  - expected, + got")
      addCut(diff) { line in
        (line.hasPrefix("-") ? .removed : line.hasPrefix("+") ? .added : .faint, "    \(line)")
      }
      // What is only missing, as a member, has nothing in its place.
      if !diff.contains(where: { $0.hasPrefix("+") }) { addValue("  got:      ", failure.got) }
    } else {
      addValue("  expected: ", failure.expected)
      addValue("  got:      ", failure.got)
    }
    if let hint = failure.hint { add(.plain, "  hint: \(ReportText.oneLine(hint))") }
    if hasCommand, let command = failure.command {
      add(.command, "  repeat: \(ReportText.printable(command))")
    }
  }

  /// Adds an error with its place and hint.
  mutating func add(_ error: SuiteError, _ file: String) {
    add(.title, "\(Self.place(file, error.line)): \(error.text)")
    if let hint = error.hint { add(.plain, "  hint: \(ReportText.oneLine(hint))") }
  }

  /// `file:line`, as editors and terminals link it.
  static func place(_ file: String, _ line: Int?) -> String {
    let file = ReportText.oneLine(file)
    return line.map { "\(file):\($0)" } ?? file
  }

  private mutating func add(_ style: ReportLine.Style, _ text: String) {
    lines.append(ReportLine(style: style, text: text))
  }

  /// Adds a value after its label; its further lines are aligned with the first.
  private mutating func addValue(_ label: String, _ value: String) {
    var value = value
    let excess = value.unicodeScalars.count - Self.valueLimit
    if excess > 0 {
      value = String(String.UnicodeScalarView(value.unicodeScalars.prefix(Self.valueLimit)))
      value += "… (\(excess) more characters)"
    }
    var margin = label
    for line in value.split(separator: "\n", omittingEmptySubsequences: false) {
      add(.plain, margin + ReportText.printable(String(line)))
      margin = String(repeating: " ", count: label.utf8.count)
    }
  }

  /// Adds the first lines of a text.
  private mutating func addCut(
    _ texts: [Substring], _ line: (Substring) -> (ReportLine.Style, String)
  ) {
    for text in texts.prefix(Self.lineLimit) {
      let (style, text) = line(text)
      add(style, ReportText.printable(text))
    }
    if texts.count > Self.lineLimit { add(.plain, "    … (\(texts.count - Self.lineLimit) more lines)") }
  }
}
