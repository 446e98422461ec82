/// A value of an option or a key as it is written: itself, or the place that it is read from.
///
/// `@FILE` is the content of a file, `env:NAME` an environment variable, and `cmd:COMMAND` what a command prints. Text that
/// begins with one of these itself is written with its sign twice: `@@`, `env::`, `cmd::`.
package enum WholeValue: Sendable, Equatable {
  /// The text itself.
  case literal(String)
  /// The content of the file at a path.
  case file(String)
  /// The value of an environment variable.
  case environment(String)
  /// The standard output of a program, by its name and its arguments.
  case command([String])

  /// What the text of a place begins with, with its last sign.
  enum Prefix: String, CaseIterable {
    case file = "@"
    case environment = "env:"
    case command = "cmd:"
  }

  /// Parses a value.
  package init(parsing text: some StringProtocol) throws(LanguageError) {
    guard let prefix = Self.prefix(of: text) else {
      self = .literal(String(text))
      return
    }
    let rest = String(String(text).unicodeScalars.dropFirst(prefix.rawValue.utf8.count))
    switch prefix {
    case _ where rest.unicodeScalars.first == prefix.sign:
      self = .literal(String(prefix.rawValue.dropLast()) + rest)
    case .file: self = .file(rest)
    case .environment: self = .environment(rest)
    case .command: self = .command(try CommandWords.split(rest))
    }
  }

  /// Whether a value is read from elsewhere.
  package static func isElsewhere(_ text: some StringProtocol) -> Bool {
    guard let prefix = prefix(of: text) else { return false }
    return text.unicodeScalars.dropFirst(prefix.rawValue.utf8.count).first != prefix.sign
  }

  /// The text that is written for a literal value.
  package static func written(_ literal: String) -> String {
    guard let prefix = prefix(of: literal)?.rawValue, let sign = prefix.last else { return literal }
    return "\(prefix)\(sign)\(String(literal.unicodeScalars.dropFirst(prefix.utf8.count)))"
  }

  private static func prefix(of text: some StringProtocol) -> Prefix? {
    Prefix.allCases.first { text.utf8.starts(with: $0.rawValue.utf8) }
  }
}

extension WholeValue.Prefix {
  /// The last sign, which is written twice in a literal.
  fileprivate var sign: Unicode.Scalar? { rawValue.unicodeScalars.last }
}

extension String {
  /// The text without its last line end: the value in a file or in the output of a command.
  package var withoutLineEnd: String {
    // `\r\n` is one character.
    last == "\n" || last == "\r\n" ? String(dropLast()) : self
  }
}
