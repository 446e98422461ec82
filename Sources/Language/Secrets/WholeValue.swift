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

  /// What the text of a place begins with, each with its last sign.
  private static let prefixes = ["@", "env:", "cmd:"]

  /// Parses a value.
  package init(parsing text: some StringProtocol) throws(LanguageError) {
    guard let prefix = Self.prefix(of: text) else {
      self = .literal(String(text))
      return
    }
    let rest = String(String(text).unicodeScalars.dropFirst(prefix.utf8.count))
    switch prefix {
    case _ where rest.unicodeScalars.first == prefix.unicodeScalars.last:
      self = .literal(String(prefix.unicodeScalars.dropLast()) + rest)
    case "@": self = .file(rest)
    case "env:": self = .environment(rest)
    default: self = .command(try CommandWords.split(rest))
    }
  }

  /// Whether a value is read from elsewhere.
  package static func isElsewhere(_ text: some StringProtocol) -> Bool {
    guard let prefix = prefix(of: text) else { return false }
    return text.unicodeScalars.dropFirst(prefix.utf8.count).first != prefix.unicodeScalars.last
  }

  /// The text that is written for a literal value.
  package static func written(_ literal: String) -> String {
    guard let prefix = prefix(of: literal), let sign = prefix.last else { return literal }
    return "\(prefix)\(sign)\(String(literal.unicodeScalars.dropFirst(prefix.utf8.count)))"
  }

  private static func prefix(of text: some StringProtocol) -> String? {
    prefixes.first { text.utf8.starts(with: $0.utf8) }
  }
}

extension String {
  /// The text without its last line end: the value in a file or in the output of a command.
  package var withoutLineEnd: String {
    // `\r\n` is one character.
    last == "\n" || last == "\r\n" ? String(dropLast()) : self
  }
}
