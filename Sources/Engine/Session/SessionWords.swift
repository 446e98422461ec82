import RPCurlProgram

/// Splits a line into words as a shell does: separated by white space, with single and double quotes.
package enum SessionWords {
  /// A word.
  package struct Word: Equatable {
    package let text: String
    /// Whether it was in single quotes: variables in it are not replaced.
    package let isLiteral: Bool
  }

  /// The words of `line`.
  ///
  /// - Throws: `Failure` if a quote is not closed.
  package static func split(_ line: some StringProtocol) throws(Failure) -> [Word] {
    var words: [Word] = []
    var reader = WordReader()
    for scalar in line.unicodeScalars {
      if let word = reader.add(scalar) { words.append(word) }
    }
    if let quote = reader.quote { throw Failure(.usage, "", "missing closing quote \(quote)") }
    if let word = reader.word { words.append(word) }
    return words
  }

  /// The text of an incomplete word, which may have an open quote.
  package static func begun(_ text: some StringProtocol) -> String {
    var reader = WordReader()
    for scalar in text.unicodeScalars { _ = reader.add(scalar) }
    return reader.word?.text ?? ""
  }

  /// The end of the first word of `text`; nil if it may continue.
  package static func end(of text: Substring) -> Substring.Index? {
    var reader = WordReader()
    return text.unicodeScalars.indices.first { reader.add(text.unicodeScalars[$0]) != nil }
  }

  // MARK: Writing

  /// Quotes `word` so that `split` returns it and replaces nothing in it.
  package static func quoted(_ word: String) -> String {
    needsQuotes(word) ? "'\(withinQuotes(word))'" : word
  }

  /// Quotes `word` so that `split` returns it and variables in it are replaced.
  package static func doubleQuoted(_ word: String) -> String {
    "\"\(escaped(word, "\"\\"))\""
  }

  /// Whether an unquoted word would not be read literally.
  static func needsQuotes(_ word: String) -> Bool {
    let special = "'\"\\$#".unicodeScalars
    return word.isEmpty || word.unicodeScalars.contains { $0.properties.isWhitespace || special.contains($0) }
  }

  /// Escapes `text` for use within single quotes.
  static func withinQuotes(_ text: String) -> String {
    text.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false).map { String($0) }
      .joined(separator: "'\\''")
  }

  /// Puts a backslash before each scalar of `special`.
  static func escaped(_ text: String, _ special: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if special.unicodeScalars.contains(scalar) { escaped.append("\\") }
      escaped.append(scalar)
    }
    return String(escaped)
  }
}

/// Reads words by Unicode scalars: a `Character` may join a quote with a combining scalar after it.
private struct WordReader {
  private var text = String.UnicodeScalarView()
  private var isWord = false
  private var isLiteral = false
  private var isEscaped = false
  /// The open quote.
  private(set) var quote: Unicode.Scalar?

  /// The current word.
  var word: SessionWords.Word? {
    isWord ? SessionWords.Word(text: String(text), isLiteral: isLiteral) : nil
  }

  /// Reads a scalar. Returns the word that it ends.
  mutating func add(_ scalar: Unicode.Scalar) -> SessionWords.Word? {
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
