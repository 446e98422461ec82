import Output

/// Splits a line of a session into words, as a shell does: white space between words, quotes around text that has some.
package enum SessionWords {
  /// One word.
  package struct Word: Equatable {
    package let text: String
    /// Whether single quotes keep variables in it from being replaced.
    package let isLiteral: Bool
  }

  /// The words of `line`.
  package static func split(_ line: some StringProtocol) throws(Failure) -> [Word] {
    var words: [Word] = []
    var reader = WordReader()
    for scalar in line.unicodeScalars {
      if let word = reader.take(scalar) { words.append(word) }
    }
    if let quote = reader.quote { throw Failure(.usage, "", "the quote \(quote) is not closed") }
    if let word = reader.word { words.append(word) }
    return words
  }

  /// The text of a word that is being typed, of which a quote may be open.
  package static func begun(_ text: some StringProtocol) -> String {
    var reader = WordReader()
    for scalar in text.unicodeScalars { _ = reader.take(scalar) }
    return reader.word?.text ?? ""
  }

  /// Where the first word of `text` ends; `nil` when it may go on.
  package static func end(of text: Substring) -> Substring.Index? {
    var reader = WordReader()
    return text.unicodeScalars.indices.first { reader.take(text.unicodeScalars[$0]) != nil }
  }

  // MARK: Writing

  /// `word`, written so that `split` gives it back, and nothing in it is replaced.
  package static func quoted(_ word: String) -> String {
    needsQuotes(word) ? "'\(withinQuotes(word))'" : word
  }

  /// `word`, written so that `split` gives it back, and variables in it are replaced.
  package static func doubleQuoted(_ word: String) -> String {
    "\"\(escaped(word, "\"\\"))\""
  }

  /// Whether a word means something else than it says when it stands alone.
  static func needsQuotes(_ word: String) -> Bool {
    let special = "'\"\\$#".unicodeScalars
    return word.isEmpty || word.unicodeScalars.contains { $0.properties.isWhitespace || special.contains($0) }
  }

  /// `text` as it stands within single quotes.
  static func withinQuotes(_ text: String) -> String {
    text.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false).map { String($0) }
      .joined(separator: "'\\''")
  }

  /// `text` with a backslash before each scalar of `special`.
  static func escaped(_ text: String, _ special: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if special.unicodeScalars.contains(scalar) { escaped.append("\\") }
      escaped.append(scalar)
    }
    return String(escaped)
  }
}

/// Reads words by Unicode scalars: a `Character` would join a quote with the combining scalar after it.
private struct WordReader {
  private var text = String.UnicodeScalarView()
  private var isWord = false
  private var isLiteral = false
  private var isEscaped = false
  /// The quote that is open.
  private(set) var quote: Unicode.Scalar?

  /// The word that has begun.
  var word: SessionWords.Word? {
    isWord ? SessionWords.Word(text: String(text), isLiteral: isLiteral) : nil
  }

  /// Reads a scalar; returns the word that ends before it.
  mutating func take(_ scalar: Unicode.Scalar) -> SessionWords.Word? {
    if isEscaped {
      isEscaped = false
      if quote != nil, scalar != "\"", scalar != "\\" { text.append("\\") }
      text.append(scalar)
      return nil
    }
    switch (quote, scalar) {
    case ("'", "'"), ("\"", "\""): quote = nil
    case ("'", _): text.append(scalar)
    case ("\"", "\\"): isEscaped = true
    case ("\"", _): text.append(scalar)
    case (_, "'"), (_, "\""):
      quote = scalar
      isWord = true
      if scalar == "'" { isLiteral = true }
    case (_, "\\"):
      isWord = true
      isEscaped = true
    case _ where scalar.properties.isWhitespace:
      defer { self = WordReader() }
      return word
    default:
      isWord = true
      text.append(scalar)
    }
    return nil
  }
}
