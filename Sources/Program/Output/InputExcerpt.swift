import RPCurlBase

/// The line of an invalid input with a mark under the error, cut to the width of a terminal.
package struct InputExcerpt: Equatable {
  /// The width of the shown part of a long line: before the mark, and in total, in columns.
  private static let columnsBefore = 36
  private static let columns = 72
  private static let ellipsis = "…"

  /// The shown part of the line, with control characters escaped.
  package let line: String
  /// The number of columns before the mark.
  package let offset: Int

  /// Cuts out the line around a byte of `text`; returns nil if that line is empty.
  ///
  /// - Parameters:
  ///   - text: The input, or a part of it.
  ///   - byte: The offset of the error in `text`.
  ///   - isInside: Whether `text` starts within a line.
  package init?(_ text: some RandomAccessCollection<UInt8>, at byte: Int, isInside: Bool = false) {
    let place = text.index(text.startIndex, offsetBy: byte, limitedBy: text.endIndex) ?? text.endIndex
    // A line may have megabytes; only so many bytes can be shown.
    let reach = Self.columns * 4
    let before = text[..<place].suffix(reach)
    let after = text[place...].prefix(reach)
    let start = before.lastIndex(of: 0x0a).map { text.index(after: $0) } ?? before.startIndex
    var end = after.firstIndex(of: 0x0a) ?? after.endIndex
    // A line may end with a carriage return and a line feed.
    if end > place, end < after.endIndex, text[text.index(before: end)] == 0x0d {
      text.formIndex(before: &end)
    }
    guard start < end else { return nil }
    var left = Self.cells(text[start..<place])
    var right = Self.cells(text[place..<end])
    var isCutLeft = start == before.startIndex && (start > text.startIndex || isInside)
    var isCutRight = end == after.endIndex && end < text.endIndex
    while Self.width(left) > Self.columnsBefore, Self.width(left) + Self.width(right) > Self.columns {
      left.removeFirst()
      isCutLeft = true
    }
    while Self.width(left) + Self.width(right) > Self.columns, right.count > 1 {
      right.removeLast()
      isCutRight = true
    }
    if isCutLeft { left.insert(Cell(text: Self.ellipsis, width: 1), at: 0) }
    line = (left + right).map(\.text).joined() + (isCutRight ? Self.ellipsis : "")
    offset = Self.width(left)
  }

  /// The line, and the mark on a line of its own.
  ///
  /// - Parameter colors: The colours of the text.
  package func rendered(_ colors: TextColors) -> String {
    "  \(line)\n  \(String(repeating: " ", count: offset))\(colors.paint(.boldRed, "^"))\n"
  }

  // MARK: Columns

  /// A character as it is displayed.
  private struct Cell {
    let text: String
    let width: Int
  }

  private static func width(_ cells: [Cell]) -> Int { cells.reduce(0) { $0 + $1.width } }

  private static func cells(_ bytes: some Collection<UInt8>) -> [Cell] {
    // An incomplete or invalid UTF-8 sequence is shown as U+FFFD.
    String(decoding: bytes, as: UTF8.self).map { character in
      if character == "\t" { return Cell(text: "  ", width: 2) }
      let text = TerminalText.escape(String(character))
      guard text == String(character) else { return Cell(text: text, width: text.count) }
      return Cell(text: text, width: isWide(character) ? 2 : 1)
    }
  }

  /// Whether a character occupies two columns (East Asian scripts and emoji).
  private static func isWide(_ character: Character) -> Bool {
    guard let scalar = character.unicodeScalars.first else { return false }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
      0x1F900...0x1F9FF,
      0x20000...0x3FFFD:
      return true
    default:
      return scalar.properties.isEmojiPresentation
        || character.unicodeScalars.dropFirst().contains { $0.value == 0xFE0F }
    }
  }
}
