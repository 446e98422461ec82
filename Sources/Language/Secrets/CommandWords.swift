/// Splits a command into its words as a POSIX shell does, with its quotes. No shell runs it: what a shell would expand or
/// interpret is an error, unless it is quoted.
package enum CommandWords {
  /// The words of a command, at least one.
  ///
  /// - Parameters:
  ///   - text: The command.
  ///   - mark: The text in front of it, for hints.
  ///   - example: A command, for hints.
  package static func split(
    _ text: some StringProtocol, after mark: String = "cmd:", example: String = "cat token"
  ) throws(LanguageError) -> [String] {
    var words: [String] = []
    var rest = Substring(text).unicodeScalars
    while true {
      rest = rest.drop(while: isBlank)
      guard !rest.isEmpty else { break }
      words.append(try word(&rest, mark))
    }
    guard let program = words.first, !program.isEmpty else {
      throw LanguageError(
        "missing command after \(mark)", hint: "write it with its arguments: \(mark)\(example)")
    }
    guard !words.contains(where: { $0.utf8.contains(0) }) else {
      throw LanguageError("a command cannot contain a zero byte")
    }
    return words
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t" || scalar == "\n"
  }

  /// Takes the word that a text begins with.
  private static func word(
    _ rest: inout Substring.UnicodeScalarView, _ mark: String
  ) throws(LanguageError) -> String {
    var word = String.UnicodeScalarView()
    if let first = rest.first, first == "~" || first == "#" { throw special(first, mark) }
    while let scalar = rest.first, !isBlank(scalar) {
      rest.removeFirst()
      switch scalar {
      case "'": word += try quoted(&rest)
      case "\"": word += try doubleQuoted(&rest, mark)
      case "\\":
        guard let next = rest.popFirst() else { throw LanguageError("the command ends with a backslash") }
        // A backslash removes a line end.
        if next != "\n" { word.append(next) }
      case "|", "&", ";", "<", ">", "(", ")", "$", "`": throw special(scalar, mark)
      default: word.append(scalar)
      }
    }
    return String(word)
  }

  private static func quoted(
    _ rest: inout Substring.UnicodeScalarView
  ) throws(LanguageError) -> Substring.UnicodeScalarView {
    guard let end = rest.firstIndex(of: "'") else { throw LanguageError("a single quote is not closed") }
    defer { rest = rest[rest.index(after: end)...] }
    return rest[..<end]
  }

  private static func doubleQuoted(
    _ rest: inout Substring.UnicodeScalarView, _ mark: String
  ) throws(LanguageError) -> String.UnicodeScalarView {
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return text
      case "$", "`": throw special(scalar, mark)
      case "\\":
        guard let next = rest.popFirst() else { break }
        if !"$`\"\\\n".unicodeScalars.contains(next) { text.append(scalar) }
        if next != "\n" { text.append(next) }
      default: text.append(scalar)
      }
    }
    throw LanguageError("a double quote is not closed")
  }

  private static func special(_ scalar: Unicode.Scalar, _ mark: String) -> LanguageError {
    LanguageError(
      "no shell runs the command, so \(scalar) has no effect",
      hint: "quote the sign, or write \(mark)sh -c 'COMMAND'")
  }
}
