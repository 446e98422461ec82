/// Distinguishes an open stream from the others on a terminal: a character, and its colour.
package struct StreamMark {
  private static let characters = ["●", "■", "▲", "◆", "★"]
  /// Cyan, green, yellow, magenta and blue: red is for errors.
  private static let colors = [36, 32, 33, 35, 34]

  private let index: Int

  /// The mark of the stream with a number, which counts from 1.
  package init(_ number: Int) { index = (max(number, 1) - 1) % Self.characters.count }

  /// The character, which takes one column.
  package var character: String { Self.characters[index] }
  /// The number of the colour in a control sequence (SGR).
  package var color: Int { Self.colors[index] }

  /// The character in its colour. Names have the colour of text, which has enough contrast on any background.
  package var colored: String { "\u{1B}[\(color)m\(character)\u{1B}[0m" }
}

extension Session {
  /// The mark of a stream; nil if it has no number, or nothing is drawn on the terminal.
  func mark(of stream: SessionStream) -> StreamMark? {
    editsLines ? stream.number.map(StreamMark.init) : nil
  }

  /// Whether marks have their colours.
  var isColored: Bool { console.error.colors.areOn }

  /// The title of a stream, with its mark.
  func markedTitle(of stream: SessionStream) -> String {
    (mark(of: stream).map { "\($0.character) " } ?? "") + stream.title
  }

  /// Prints a notice about a stream, if the session is interactive.
  func notice(_ text: String, of stream: SessionStream) {
    let title = markedTitle(of: stream)
    notice("\(title) \(text)", colored: isColored ? mark(of: stream) : nil)
  }

  /// What precedes the lines of a stream if others are open.
  func prefix(of stream: SessionStream) -> String {
    guard isColored, let mark = mark(of: stream) else { return "\(markedTitle(of: stream)) " }
    return "\(mark.colored) \(stream.title) "
  }
}
