/// A report of a run: text that is a function of the events.
package protocol SuiteReport: Sendable {
  /// Receives the next event.
  ///
  /// - Returns: What is written now, complete lines; empty if nothing is.
  mutating func receive(_ event: SuiteEvent) -> String
}

/// The format of a report.
package enum ReportFormat: String, Sendable, CaseIterable {
  /// Failures and a summary, for people.
  case terminal
  /// The Test Anything Protocol.
  case tap
  /// One XML document in JUnit's format.
  case junit
  /// The events, one JSON object per line.
  case ndjson
  /// One page without scripts and links.
  case html
  /// Annotations of GitHub Actions.
  case github

  /// Makes a report without events.
  ///
  /// - Parameter isColored: Whether a terminal report has colours.
  package func makeReport(isColored: Bool = false) -> any SuiteReport {
    switch self {
    case .terminal: TerminalReport(isColored: isColored)
    case .tap: TAPReport()
    case .junit: JUnitReport()
    case .ndjson: NDJSONReport()
    case .html: HTMLReport()
    case .github: GitHubReport()
    }
  }
}

/// The events as lines of JSON.
package struct NDJSONReport: SuiteReport {
  /// Makes a report.
  package init() {}

  /// Returns the line of the event.
  package mutating func receive(_ event: SuiteEvent) -> String {
    String(decoding: event.line, as: UTF8.self)
  }
}
