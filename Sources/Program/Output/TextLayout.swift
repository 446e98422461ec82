/// Lays out text for the width of a terminal: lines end between words.
package enum TextLayout {
  /// The rows that lines with control sequences for colours take; counts up to `limit`.
  package static func rows(of text: [UInt8], columns: Int, limit: Int) -> Int {
    var (rows, width, isInSequence) = (0, 0, false)
    for byte in text where rows < limit {
      switch byte {
      case UInt8(ascii: "\n"):
        rows += max((width + columns - 1) / max(columns, 1), 1)
        width = 0
      case 0x1B: isInSequence = true
      case _ where isInSequence: isInSequence = byte < 0x40 || byte == UInt8(ascii: "[")
      case 0x80..<0xC0: break
      default: width += 1
      }
    }
    return rows
  }

  /// Wraps a line. Further lines begin with `indent` blanks.
  ///
  /// A word that is longer than a line is not divided. Blanks at the start and within the line are kept.
  ///
  /// - Parameters:
  ///   - line: The line.
  ///   - columns: The width of the terminal; nil for no limit.
  ///   - indent: The number of blanks; fewer if the terminal is narrow.
  package static func wrapped(_ line: String, columns: Int?, indent: Int = 0) -> [String] {
    guard let columns, line.unicodeScalars.count > columns else { return [line] }
    let margin = String(repeating: " ", count: min(indent, columns / 2))
    var lines: [String] = []
    var current = ""
    var blanks = ""
    for word in line.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false) {
      let isFirst = current.isEmpty && lines.isEmpty
      let width = current.unicodeScalars.count + blanks.unicodeScalars.count + word.count
      if width > columns, !current.allSatisfy({ $0 == " " }), !word.isEmpty {
        lines.append(current)
        current = margin
        blanks = ""
      }
      if word.isEmpty, !isFirst {
        blanks += " "
        continue
      }
      current += blanks + String(word)
      blanks = " "
    }
    return lines + [current]
  }

  /// Lays out names and texts side by side, or one below the other where a name is long or the terminal is narrow.
  ///
  /// - Parameters:
  ///   - rows: The names and texts.
  ///   - columns: The width of the terminal; nil for no limit.
  package static func table(_ rows: [(name: String, text: String)], columns: Int?) -> [String] {
    let widest = rows.map(\.name.unicodeScalars.count).max() ?? 0
    guard let columns, widest + 2 + (rows.map(\.text.unicodeScalars.count).max() ?? 0) > columns else {
      return rows.map { "\(padded($0.name, to: widest + 2))\($0.text)" }
    }
    let width = min(widest, 28, columns / 3) + 2
    return rows.flatMap { name, text in
      if name.unicodeScalars.count + 2 <= width {
        return wrapped(padded(name, to: width) + text, columns: columns, indent: width)
      }
      return wrapped(name, columns: columns, indent: 4)
        + wrapped(String(repeating: " ", count: min(width, 4)) + text, columns: columns, indent: 4)
    }
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(width - text.unicodeScalars.count, 0))
  }
}

extension StandardOutput {
  /// The width of the terminal in columns; nil if the output is not a terminal.
  package var columns: Int? { isTerminal ? error.columns : nil }
}

extension StandardError {
  /// The width of the terminal in columns; nil if standard error is not a terminal.
  package var noticeColumns: Int? { isTerminal ? columns : nil }
}
