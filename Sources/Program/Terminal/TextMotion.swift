/// A key that moves the cursor within the rows of a text of several lines.
enum TextMotion {
  case up, down, start, end

  /// The motion of a key; nil if the key has none.
  init?(_ key: [Unicode.Scalar]) {
    switch String(String.UnicodeScalarView(key)) {
    case "\u{10}", "\u{1B}[A", "\u{1B}OA": self = .up
    case "\u{0E}", "\u{1B}[B", "\u{1B}OB": self = .down
    case "\u{01}", "\u{1B}[H", "\u{1B}OH", "\u{1B}[1~", "\u{1B}[7~": self = .start
    case "\u{05}", "\u{1B}[F", "\u{1B}OF", "\u{1B}[4~", "\u{1B}[8~": self = .end
    default: return nil
    }
  }

  /// The new place of the cursor; nil if the text has no such row, or the cursor is there, so that the key has its usual meaning.
  func cursor(in line: EditingEngine.Line) -> Int? {
    let (text, cursor) = (line.text, line.cursor)
    guard text.contains("\n") else { return nil }
    let start = text[..<cursor].lastIndex(of: "\n").map { $0 + 1 } ?? 0
    let end = text[cursor...].firstIndex(of: "\n") ?? text.count
    switch self {
    case .start: return cursor == start ? nil : start
    case .end: return cursor == end ? nil : end
    case .up:
      guard start > 0 else { return nil }
      let before = text[..<(start - 1)].lastIndex(of: "\n").map { $0 + 1 } ?? 0
      return min(before + cursor - start, start - 1)
    case .down:
      guard end < text.count else { return nil }
      let next = text[(end + 1)...].firstIndex(of: "\n") ?? text.count
      return min(end + 1 + cursor - start, next)
    }
  }
}
