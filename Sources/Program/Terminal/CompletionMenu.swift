import RPCurlBase

/// The candidates that are shown below a line, of which one can be selected: each with its description, or in columns if they are
/// too many for that.
package struct CompletionMenu {
  /// What a key does while the menu is shown.
  package enum Action: Equatable {
    case next, previous, left, right
    /// The selected candidate stays in the line.
    case accept
    /// What was typed comes back.
    case cancel

    /// The action of a key; nil if the key has none, and ends the menu.
    ///
    /// - Parameter isSelected: Whether a candidate is selected.
    package init?(_ key: [Unicode.Scalar], isSelected: Bool) {
      switch String(String.UnicodeScalarView(key)) {
      case "\t", "\u{0E}", "\u{1B}[B", "\u{1B}OB": self = .next
      case "\u{1B}[Z", "\u{10}", "\u{1B}[A", "\u{1B}OA": self = .previous
      case "\u{1B}[C", "\u{1B}OC": self = .right
      case "\u{1B}[D", "\u{1B}OD": self = .left
      case "\u{07}": self = .cancel
      case "\r" where isSelected: self = .accept
      default: return nil
      }
    }
  }

  /// The size of the window in which the menu is drawn.
  package struct Window {
    /// The width in columns.
    package let columns: Int
    /// The largest number of rows of the menu.
    package let rows: Int
    /// The width of a text in columns.
    var width: (String) -> Int = CharacterWidth.columns
  }

  /// How the candidates are arranged.
  private struct Arrangement {
    let labels: [String]
    /// The width of the widest label in columns.
    let widest: Int
    /// Whether each candidate has a row with its description.
    let showsNotes: Bool
    let perRow: Int
    /// The rows of candidates, without that of the position.
    let height: Int
    var capacity: Int { height * perRow }
  }

  private let completion: Completion
  /// The index of the selected candidate.
  private var selection: Int?

  package init(_ completion: Completion) { self.completion = completion }

  /// Whether a candidate is selected.
  package var isSelected: Bool { selection != nil }

  /// What the line has at the cursor: the selected candidate, or what was typed.
  package var inserted: String {
    selection.map { completion.candidates[$0].text } ?? completion.replaced
  }

  /// Selects another candidate, or none.
  package mutating func perform(_ action: Action, in window: Window) {
    let count = completion.candidates.count
    let height = arrangement(in: window).height
    switch action {
    case .accept: break
    case .cancel: selection = nil
    case .next: selection = selection.map { ($0 + 1) % count } ?? 0
    case .previous: selection = ((selection ?? 0) + count - 1) % count
    case .right: selection = selection.map { $0 + height < count ? $0 + height : $0 } ?? 0
    case .left: selection = selection.map { $0 >= height ? $0 - height : $0 } ?? 0
    }
  }

  /// The rows to show. If there are more candidates than fit, those around the selected one, and its position.
  ///
  /// - Parameter isStyled: Whether the selected candidate is in reverse video and descriptions are dim; otherwise a mark precedes it.
  package func rows(in window: Window, isStyled: Bool) -> [String] {
    guard window.rows > 0 else { return [] }
    let all = arrangement(in: window)
    let first = (selection ?? 0) / all.capacity * all.capacity
    let shown = first..<min(first + all.capacity, all.labels.count)
    let height = min(all.height, shown.count)
    var rows = (0..<height).map { row in
      let indices = Array(stride(from: shown.lowerBound + row, to: shown.upperBound, by: all.height))
      return indices.map { cell($0, all, window, isLast: $0 == indices.last, isStyled) }.joined()
    }
    if shown.count < all.labels.count, window.rows > 1 { rows.append(position(after: shown, window)) }
    return rows
  }

  private func arrangement(in window: Window) -> Arrangement {
    let labels = completion.candidates.map { TerminalText.escape($0.label) }
    let widest = min(labels.map(window.width).max() ?? 0, max(window.columns - 3, 1))
    let showsNotes =
      completion.candidates.contains { !$0.note.isEmpty } && labels.count <= window.rows
      && widest + 12 <= window.columns
    let perRow = showsNotes ? 1 : max((window.columns - 1) / (widest + 2), 1)
    let needed = (labels.count + perRow - 1) / perRow
    let height = needed <= window.rows ? needed : max(window.rows - 1, 1)
    return Arrangement(
      labels: labels, widest: widest, showsNotes: showsNotes, perRow: perRow, height: max(height, 1))
  }

  /// A candidate with a column at each side.
  private func cell(_ index: Int, _ all: Arrangement, _ window: Window, isLast: Bool, _ isStyled: Bool)
    -> String
  {
    let label = Self.cut(all.labels[index], to: all.widest, window.width)
    let note = all.showsNotes ? TerminalText.escape(completion.candidates[index].note) : ""
    let padding = String(repeating: " ", count: all.widest - window.width(label))
    let isSelected = index == selection
    guard isStyled, isSelected || !note.isEmpty else {
      let end = note.isEmpty ? isLast ? "" : padding + " " : padding + "  "
      return (isSelected ? ">" : " ") + label + end + shortened(note, all, window)
    }
    let styled = isSelected ? "\u{1B}[7m \(label)\(padding) \u{1B}[0m" : " \(label)\(padding) "
    return styled + (note.isEmpty ? "" : "\u{1B}[2m \(shortened(note, all, window))\u{1B}[0m")
  }

  private func shortened(_ note: String, _ all: Arrangement, _ window: Window) -> String {
    // The last column stays empty: some terminals wrap when it is written.
    Self.cut(note, to: window.columns - all.widest - 4, window.width)
  }

  /// How many candidates are not shown, or which one is selected, with its description.
  private func position(after shown: Range<Int>, _ window: Window) -> String {
    let count = completion.candidates.count
    guard let selection else { return " … and \(count - shown.count) more" }
    let note = TerminalText.escape(completion.candidates[selection].note)
    return Self.cut(
      " \(selection + 1) of \(count)\(note.isEmpty ? "" : "  \(note)")", to: window.columns - 1, window.width)
  }

  private static func cut(_ text: String, to columns: Int, _ width: (String) -> Int) -> String {
    guard !text.isEmpty, width(text) > columns else { return text }
    var (kept, used) = ("", 0)
    for character in text {
      used += width(String(character))
      guard used < columns else { break }
      kept.append(character)
    }
    return kept + "…"
  }
}
