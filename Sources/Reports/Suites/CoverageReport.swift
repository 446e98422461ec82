import RPCurlBase
import RPCurlProtobuf

/// What a run has exercised of an API, at the end of the run.
package struct CoverageReport: SuiteReport {
  /// The format.
  package enum Format: String, Sendable, CaseIterable {
    /// Totals, methods with their status codes, and what was not used, for people.
    case text
    /// One JSON object.
    case json
    /// One page without scripts and links.
    case html
  }

  private let format: Format
  private let colors: TextColors
  private var record = SuiteRecord()

  /// Makes a report.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - isColored: Whether text has colours.
  package init(_ format: Format, isColored: Bool = false) {
    self.format = format
    colors = TextColors(areOn: isColored)
  }

  /// Returns the coverage at the end of the run.
  package mutating func receive(_ event: SuiteEvent) -> String {
    switch event {
    case .run, .coverage: record.add(event)
    case .end:
      let coverage = record.coverage ?? SuiteCoverage()
      switch format {
      case .text: return CoverageText(colors: colors).text(of: coverage)
      case .json: return coverage.document
      case .html: return CoveragePage.text(of: coverage, record.run)
      }
    case .file, .test, .fileEnd: break
    }
    return ""
  }
}

/// Coverage as text: totals, the methods of each service with their status codes, and what was not used.
struct CoverageText {
  let colors: TextColors

  func text(of coverage: SuiteCoverage) -> String {
    guard coverage.called.of > 0 else { return "no methods to cover\n" }
    var text = ""
    for (noun, share) in coverage.shares where share.of > 0 {
      let color = share.percent == 100 ? TextColors.Style.green : .yellow
      text += row(noun, colors.paint(color, "\(share.percent) %") + ", \(share.used) of \(share.of)")
    }
    let statuses = coverage.statuses
    if !statuses.isEmpty { text += row("status codes", Self.list(statuses)) }
    for service in coverage.services { text += lines(of: service) }
    text += unused("enum values not used", coverage.enums)
    text += unused("oneof members not used", coverage.oneofs)
    return text
  }

  private func row(_ name: String, _ value: String) -> String {
    "\(name):\(String(repeating: " ", count: max(15 - name.utf8.count, 1)))\(value)\n"
  }

  private func lines(of service: (name: String, methods: [(name: String, statuses: [SuiteCoverage.Item])]))
    -> String
  {
    let title = "\n\(ReportText.oneLine(service.name))"
    let called = service.methods.count { !$0.statuses.isEmpty }
    guard called > 0 else { return "\(title): \(missing(called, of: service.methods.count))\n" }
    let width = service.methods.map { ReportText.oneLine($0.name).unicodeScalars.count }.max() ?? 0
    return "\(title)\n"
      + service.methods.map { method in
        let name = ReportText.oneLine(method.name)
        let blanks = String(repeating: " ", count: width - name.unicodeScalars.count)
        let statuses = method.statuses.isEmpty ? missing(0, of: 1) : Self.list(method.statuses)
        return "  \(name)\(blanks)  \(statuses)\n"
      }.joined()
  }

  private func missing(_ called: Int, of count: Int) -> String {
    colors.paint(.yellow, count == 1 ? "not called" : "none of \(count) methods called")
  }

  /// The items that did not occur, by group. Of a group in which none occurred, only the number.
  private func unused(_ title: String, _ groups: SuiteCoverage.Groups) -> String {
    var lines = ""
    for name in groups.names {
      let items = groups.items[name] ?? []
      let missing = items.filter { $0.count == 0 }
      guard !missing.isEmpty else { continue }
      let list =
        missing.count == items.count && items.count > 1
        ? "all \(items.count)" : missing.map { ReportText.oneLine($0.name) }.joined(separator: ", ")
      lines += "  \(ReportText.oneLine(name)): \(list)\n"
    }
    return lines.isEmpty ? "" : "\n\(title):\n\(lines)"
  }

  private static func list(_ items: [SuiteCoverage.Item]) -> String {
    items.map { "\(ReportText.oneLine($0.name)) \($0.count)" }.joined(separator: ", ")
  }
}
