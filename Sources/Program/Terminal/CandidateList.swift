import RPCurlBase

/// Lays out completion candidates: one per line with a description, or in columns if there are many.
package enum CandidateList {
  /// The rows to show.
  ///
  /// - Parameters:
  ///   - candidates: The candidates, in order.
  ///   - columns: The width of the window.
  ///   - limit: The largest number of rows.
  ///   - width: The width of a text in columns.
  package static func rows(
    _ candidates: [Completion.Candidate], columns: Int, limit: Int, width: (String) -> Int
  ) -> [String] {
    let labels = candidates.map { TerminalText.escape($0.label) }
    let widest = labels.map(width).max() ?? 0
    let hasNotes = candidates.contains { !$0.note.isEmpty }
    if hasNotes, candidates.count <= limit, widest + 12 <= columns {
      return zip(labels, candidates).map { label, candidate in
        let note = TerminalText.escape(candidate.note)
        let padding = String(repeating: " ", count: widest - width(label) + 2)
        return note.isEmpty ? label : cut(label + padding + note, to: columns - 1, width)
      }
    }
    return grid(labels, widest: widest, columns: columns, limit: limit, width)
  }

  /// Lays out `labels` in columns, ordered from top to bottom.
  private static func grid(
    _ labels: [String], widest: Int, columns: Int, limit: Int, _ width: (String) -> Int
  ) -> [String] {
    let perRow = max((columns - 1) / (widest + 2), 1)
    let needed = (labels.count + perRow - 1) / perRow
    let isCut = needed > limit
    let height = max(isCut ? limit - 1 : needed, 1)
    let shown = labels.prefix(height * perRow)
    var rows = (0..<min(height, shown.count)).map { row in
      let cells = stride(from: row, to: shown.count, by: height).map { shown[$0] }
      let padded = cells.dropLast().map { $0 + String(repeating: " ", count: widest - width($0) + 2) }
      return cut((padded + cells.suffix(1)).joined(), to: columns - 1, width)
    }
    if isCut { rows.append("… and \(labels.count - shown.count) more") }
    return rows
  }

  private static func cut(_ text: String, to columns: Int, _ width: (String) -> Int) -> String {
    guard width(text) > columns else { return text }
    var kept = ""
    for character in text {
      guard width(kept + String(character)) < columns else { break }
      kept.append(character)
    }
    return kept + "…"
  }
}
