/// Splits a line of a session into words, as a shell does: white space between words, quotes around text that has some.
enum SessionWords {
  /// One word.
  struct Word: Equatable {
    let text: String
    /// Whether single quotes keep variables in it from being replaced.
    let isLiteral: Bool
  }

  /// The words of `line`.
  static func split(_ line: some StringProtocol) throws(Failure) -> [Word] {
    var words: [Word] = []
    var text = ""
    var isWord = false
    var isLiteral = false
    var quote: Character?
    var rest = line[...]
    while let character = rest.popFirst() {
      switch (quote, character) {
      case ("'", "'"), ("\"", "\""): quote = nil
      case ("'", _): text.append(character)
      case ("\"", "\\"):
        guard let next = rest.popFirst() else { break }
        if next != "\"" && next != "\\" { text.append("\\") }
        text.append(next)
      case ("\"", _): text.append(character)
      case (_, "'"), (_, "\""):
        quote = character
        isWord = true
        if character == "'" { isLiteral = true }
      case (_, "\\"):
        isWord = true
        if let next = rest.popFirst() { text.append(next) }
      case _ where character.isWhitespace:
        if isWord { words.append(Word(text: text, isLiteral: isLiteral)) }
        (text, isWord, isLiteral) = ("", false, false)
      default:
        isWord = true
        text.append(character)
      }
    }
    if let quote { throw Failure(.usage, "", "the quote \(quote) is not closed") }
    if isWord { words.append(Word(text: text, isLiteral: isLiteral)) }
    return words
  }

  /// `word`, written so that `split` gives it back, and nothing in it is replaced.
  static func quoted(_ word: String) -> String {
    let isPlain = !word.isEmpty && !word.contains { $0.isWhitespace || "'\"\\$#".contains($0) }
    return isPlain
      ? word : "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
  }
}
