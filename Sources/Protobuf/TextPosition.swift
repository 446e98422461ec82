/// A position in a text.
public struct TextPosition: Equatable, Sendable {
  /// The line, counted from 1.
  public var line = 1
  /// The column in characters, counted from 1.
  public var column = 1
  /// The byte, counted from 0.
  public var byteOffset = 0

  /// The start of a text.
  package init() {}

  /// The same position in a text that contains the parsed text as a part.
  package func moved(to start: TextPosition) -> TextPosition {
    var position = self
    position.byteOffset += start.byteOffset
    if line == 1 { position.column += start.column - 1 }
    position.line += start.line - 1
    return position
  }

  /// Moves the position to the end of the text that follows it.
  package mutating func advance(over bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    byteOffset += bytes.count
    var rest = bytes
    let lines = Words.count(of: 10, in: bytes)
    if lines > 0, let last = bytes.lastIndex(of: 10) {
      line += lines
      column = 1
      rest = UnsafeRawBufferPointer(rebasing: bytes[(last + 1)...])
    }
    column += Words.countOfCharacters(in: rest)
  }
}
