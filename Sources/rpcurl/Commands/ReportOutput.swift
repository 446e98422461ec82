import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlReports

/// Writes the reports of a run: one on standard output, others to files.
final class ReportOutput {
  /// A format, and where the report is written.
  struct Target {
    let format: Format
    /// The file; nil for standard output.
    let file: String?
  }

  /// A format of a run, or of its coverage.
  enum Format {
    case run(ReportFormat)
    case coverage(CoverageReport.Format)

    func makeReport(isColored: Bool) -> any SuiteReport {
      switch self {
      case .run(let format): format.makeReport(isColored: isColored)
      case .coverage(let format): CoverageReport(format, isColored: isColored)
      }
    }
  }

  /// A report that is being written.
  private struct Writer {
    var report: any SuiteReport
    let file: String?
    /// The text for the file.
    var text = ""
  }

  private let console: Console
  private var writers: [Writer]
  private let waitLimit: Duration?

  /// The targets of `--report` and `--coverage`.
  ///
  /// - Throws: `Failure` for an unknown format, what does not fit on standard output, or a file that cannot be written.
  static func targets(_ texts: [String], coverage: [String]) throws(Failure) -> [Target] {
    let reports = try targets(reports: texts)
    let targets = reports + (try targets(coverage: coverage, besides: reports))
    try Failure.check(reportFiles: targets.compactMap(\.file))
    return targets
  }

  /// What `--coverage` accepts.
  static let coverageFormats = CoverageReport.Format.allCases.map(\.rawValue) + ["report"]

  private static func targets(reports texts: [String]) throws(Failure) -> [Target] {
    var targets: [Target] = []
    for text in texts {
      let (name, file) = try parts(of: text, "--report")
      guard let format = ReportFormat(rawValue: name) else {
        throw Failure(
          .usage, "--report \(name)", "no such format",
          hint: ReportFormat.allCases.map(\.rawValue).joined(separator: ", "))
      }
      if file == nil, targets.contains(where: { $0.file == nil }) {
        throw Failure(
          .usage, "--report \(name)", "another report is on standard output", hint: "--report \(name)=FILE")
      }
      targets.append(Target(format: .run(format), file: file))
    }
    return targets.isEmpty ? [Target(format: .run(.terminal), file: nil)] : targets
  }

  /// The format and the file of a report; nil for standard output.
  private static func parts(
    of text: String, _ option: String
  ) throws(Failure) -> (name: String, file: String?) {
    let (name, file) = text.parted(at: "=")
    guard file?.isEmpty != true else {
      throw Failure(
        .usage, "\(option) \(text)", "missing name of the file",
        hint: "\(option) \(name) writes to standard output")
    }
    return (String(name), file.map { String($0) })
  }

  private static func targets(coverage texts: [String], besides reports: [Target]) throws(Failure) -> [Target]
  {
    var targets: [Target] = []
    for text in texts where text != "report" {
      let (name, file) = try parts(of: text, "--coverage")
      guard let format = CoverageReport.Format(rawValue: name) else {
        throw Failure(
          .usage, "--coverage \(name)", "no such format",
          hint: coverageFormats.joined(separator: ", "))
      }
      // Text for people follows text for people.
      let others = reports.filter { target in
        if case .run(.terminal) = target.format, format == .text { return false }
        return target.file == nil
      }
      if file == nil, !others.isEmpty || targets.contains(where: { $0.file == nil }) {
        throw Failure(
          .usage, "--coverage \(name)", "another report is on standard output",
          hint: "--coverage \(name)=FILE")
      }
      targets.append(Target(format: .coverage(format), file: file))
    }
    return targets
  }

  /// Prepares the reports.
  ///
  /// - Parameters:
  ///   - targets: The reports.
  ///   - console: Where those of standard output are printed.
  ///   - isColored: Whether they have colours.
  ///   - waitLimit: How long to wait for the reader of a pipe; nil for no limit.
  init(_ targets: [Target], _ console: Console, isColored: Bool, waitLimit: Duration?) {
    self.console = console
    self.waitLimit = waitLimit
    // The teardowns of the suites still run, and the files are written.
    console.output.onFailure = {}
    writers = targets.map { target in
      Writer(report: target.format.makeReport(isColored: isColored && target.file == nil), file: target.file)
    }
  }

  /// Whether the report of standard output cannot be written.
  var hasFailed: Bool { console.output.hasFailed }

  /// Adds an event to all reports.
  func add(_ event: SuiteEvent) {
    for index in writers.indices {
      let text = writers[index].report.receive(event)
      guard writers[index].file == nil else {
        writers[index].text += text
        continue
      }
      // A blank line separates coverage from the summary of the run.
      let isSecond = writers[..<index].contains { $0.file == nil }
      show(isSecond && !text.isEmpty ? "\n\(text)" : text, writers[index].report, isLast: event.isLast)
    }
  }

  private func show(_ text: String, _ report: any SuiteReport, isLast: Bool) {
    if !text.isEmpty {
      console.error.show(progress: nil)
      console.output.write(Array(text.utf8))
      console.output.flush()
    }
    guard console.output.isTerminal, console.error.isTerminal, let terminal = report as? TerminalReport else {
      return
    }
    console.error.show(progress: isLast ? nil : terminal.progress(columns: console.error.columns))
  }

  /// Writes the files, and ends the process if standard output could not be written.
  ///
  /// - Throws: `Failure` for a file that cannot be written. Those of other files are reported before.
  func close() throws(Failure) {
    console.output.flush()
    var last: Failure?
    for writer in writers {
      guard let file = writer.file,
        let problem = FileContents.replace(
          file, with: Array(writer.text.utf8), newMode: nil, waitLimit: waitLimit)
      else { continue }
      report(last)
      last = Failure(.internalError, file, problem)
    }
    if hasFailed { report(last) }
    console.output.endIfFailed()
    if let last { throw last }
  }

  private func report(_ failure: Failure?) {
    guard let failure, let message = failure.message else { return }
    console.error.report(ErrorReport(message, failure.status))
  }
}

extension SuiteEvent {
  fileprivate var isLast: Bool { if case .end = self { true } else { false } }
}
