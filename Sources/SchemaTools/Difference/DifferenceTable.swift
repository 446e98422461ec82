import RPCurlBase
import RPCurlProtobuf

/// Findings as Markdown, for the comment of a pull request: a heading, and a table for each file.
///
/// Every text of a schema is in a code span, which has no links, mentions, images or HTML.
package struct DifferenceTable {
  /// The most bytes: GitHub takes comments of 65,536 characters.
  package static let limitBytes = 60_000
  /// The most characters of a text.
  private static let limitOfText = 600

  /// A row.
  package struct Row {
    let finding: SchemaFinding
    /// The path of the file, and the place in the old schema.
    let path: String
    let old: String?

    /// A row.
    ///
    /// - Parameters:
    ///   - finding: The finding.
    ///   - path: The path of the file in which it is shown.
    ///   - old: The place in the old schema; nil if there is none.
    package init(_ finding: SchemaFinding, path: String, old: String?) {
      self.finding = finding
      self.path = path
      self.old = old
    }
  }

  /// The text of findings.
  ///
  /// - Parameters:
  ///   - rows: The findings, sorted by file.
  ///   - summary: The line with the counts.
  package static func text(_ rows: [Row], summary: String) -> String {
    var text = "### rpcurl diff: \(summary)\n"
    var path: String?
    for (index, row) in rows.enumerated() {
      var block = ""
      if row.path != path {
        let count = rows[index...].prefix { $0.path == row.path }.count
        block = "\n#### \(code(row.path)): \(count) change\(count == 1 ? "" : "s")\n\n"
        block += "| Line | Before | Change | Rule |\n|---|---|---|---|\n"
      }
      let place = row.finding.place.map { "\($0.line):\($0.column)" } ?? ""
      let rule = row.finding.rule.map { "`\($0.rawValue)`" } ?? "addition"
      block += "| \(place) | \(row.old.map(code) ?? "") | \(code(row.finding.text)) | \(rule) |\n"
      guard text.utf8.count + block.utf8.count <= limitBytes - 200 else {
        let rest = rows.count - index
        return text + "\n\(rest) more change\(rest == 1 ? "" : "s"): run `rpcurl diff`.\n"
      }
      text += block
      path = row.path
    }
    return text
  }

  /// A text as a code span in a table: its delimiter is longer than any row of backticks in it.
  static func code(_ text: String) -> String {
    // A bar ends a cell, in code too; after a backslash, its escape does.
    var text = TerminalText.escape(text).replacing("|", with: "\\u{7C}")
    if text.count > limitOfText { text = "\(text.prefix(limitOfText))…" }
    var (longest, current) = (0, 0)
    for byte in text.utf8 {
      current = byte == UInt8(ascii: "`") ? current + 1 : 0
      longest = max(longest, current)
    }
    let fence = String(repeating: "`", count: longest + 1)
    let isPadded = text.hasPrefix("`") || text.hasSuffix("`") || text.hasPrefix(" ") || text.isEmpty
    return isPadded ? "\(fence) \(text) \(fence)" : "\(fence)\(text)\(fence)"
  }
}
