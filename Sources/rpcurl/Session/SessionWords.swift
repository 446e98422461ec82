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
    var reader = WordReader()
    for character in line {
      if let word = reader.take(character) { words.append(word) }
    }
    if let quote = reader.quote { throw Failure(.usage, "", "the quote \(quote) is not closed") }
    if let word = reader.word { words.append(word) }
    return words
  }

  /// The text of a word that is being typed, of which a quote may be open.
  static func begun(_ text: some StringProtocol) -> String {
    var reader = WordReader()
    for character in text { _ = reader.take(character) }
    return reader.word?.text ?? ""
  }

  /// Where the first word of `text` ends; `nil` when it may go on.
  static func end(of text: Substring) -> Substring.Index? {
    var reader = WordReader()
    return text.indices.first { reader.take(text[$0]) != nil }
  }

  // MARK: Writing

  /// `word`, written so that `split` gives it back, and nothing in it is replaced.
  static func quoted(_ word: String) -> String {
    needsQuotes(word) ? "'\(withinQuotes(word))'" : word
  }

  /// `word`, written so that `split` gives it back, and variables in it are replaced.
  static func doubleQuoted(_ word: String) -> String {
    let escaped = word.map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    return "\"\(escaped)\""
  }

  /// Whether a word means something else than it says when it stands alone.
  static func needsQuotes(_ word: String) -> Bool {
    word.isEmpty || word.contains { $0.isWhitespace || "'\"\\$#".contains($0) }
  }

  /// `text` as it stands within single quotes.
  static func withinQuotes(_ text: String) -> String {
    text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
  }
}

/// Reads words character by character.
private struct WordReader {
  private var text = ""
  private var isWord = false
  private var isLiteral = false
  private var isEscaped = false
  /// The quote that is open.
  private(set) var quote: Character?

  /// The word that has begun.
  var word: SessionWords.Word? {
    isWord ? SessionWords.Word(text: text, isLiteral: isLiteral) : nil
  }

  /// Takes a character; gives the word that ends in front of it.
  mutating func take(_ character: Character) -> SessionWords.Word? {
    if isEscaped {
      isEscaped = false
      if quote != nil, character != "\"", character != "\\" { text.append("\\") }
      text.append(character)
      return nil
    }
    switch (quote, character) {
    case ("'", "'"), ("\"", "\""): quote = nil
    case ("'", _): text.append(character)
    case ("\"", "\\"): isEscaped = true
    case ("\"", _): text.append(character)
    case (_, "'"), (_, "\""):
      quote = character
      isWord = true
      if character == "'" { isLiteral = true }
    case (_, "\\"):
      isWord = true
      isEscaped = true
    case _ where character.isWhitespace:
      defer { self = WordReader() }
      return word
    default:
      isWord = true
      text.append(character)
    }
    return nil
  }
}
