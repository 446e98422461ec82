import Calls
import CommandLine
import Interceptors
import Language
import Protobuf

/// Replaces credentials in the files that a session writes by environment variables.
package struct SessionSecrets {
  package typealias Word = CommandSecrets.Word

  private var secrets: CommandSecrets
  /// The placeholders made so far, in order.
  package var placeholders: [CommandSecrets.Placeholder] { secrets.placeholders }
  private var showsSecrets: Bool { secrets.showsSecrets }

  package init(showsSecrets: Bool) {
    secrets = CommandSecrets(showsSecrets: showsSecrets, separates: false)
  }

  // MARK: Words of the command line

  /// Replaces secrets in words of a command line.
  package mutating func words(_ words: [String]) -> [Word] {
    self.words(words.map { SessionWords.Word(text: $0, isLiteral: true) })
  }

  private mutating func words(_ words: [SessionWords.Word]) -> [Word] {
    var result: [Word] = []
    var option: (id: OptionID, name: String)?
    for word in words {
      if let (id, name) = option {
        option = nil
        result.append(value(word.text, of: id, name, isLiteral: word.isLiteral))
        continue
      }
      let parts = OptionPart.parts(of: word.text)
      guard parts.contains(where: Self.hasSecrets) else {
        // The next word is the value, even if it starts with a dash.
        if let last = parts.last, let id = last.id, last.value == nil { option = (id, last.text) }
        result.append(Self.plain(word.text, isLiteral: word.isLiteral))
        continue
      }
      for part in parts {
        result.append(Self.plain(part.text, isLiteral: word.isLiteral))
        guard let id = part.id else { continue }
        if let text = part.value {
          result.append(value(text, of: id, part.text, isLiteral: word.isLiteral))
        } else {
          option = (id, part.text)
        }
      }
    }
    return result
  }

  private static func plain(_ text: String, isLiteral: Bool) -> Word {
    Word(before: text, placeholder: nil, isLiteral: isLiteral || !text.utf8.contains(UInt8(ascii: "$")))
  }

  private static func hasSecrets(_ part: OptionPart) -> Bool {
    part.id.map(CommandSecrets.hasSecrets) ?? false
  }

  private mutating func value(
    _ value: String, of option: OptionID, _ optionName: String, isLiteral: Bool
  ) -> Word {
    // The value of a variable is not written.
    guard isLiteral || !value.begins(with: "$") && !value.contains("${") else {
      return Word(before: value, placeholder: nil, isLiteral: false)
    }
    return secrets.value(value, of: option, optionName) ?? Self.plain(value, isLiteral: isLiteral)
  }

  /// Replaces the secret in a header `NAME: VALUE`.
  package mutating func header(_ line: String) -> Word { secrets.header(line) }

  /// Replaces the secret in an attribute `KEY=VALUE`.
  package mutating func attribute(_ text: String) -> Word { secrets.attribute(text) }

  /// Replaces secrets in an interceptor `NAME[,KEY=VALUE…]` by `env:NAME`.
  package mutating func spec(_ text: String) -> String { secrets.spec(text) }

  // MARK: Lines of a session

  /// Replaces secrets in a line of a session.
  package mutating func line(_ line: String) -> String {
    guard !showsSecrets else { return line }
    let trimmed = line.droppingScalars { $0.properties.isWhitespace || $0 == ":" }
    let verb = trimmed.prefixOfScalars { !$0.properties.isWhitespace }
    let rest = String(trimmed[verb.endIndex...].droppingScalars(while: \.properties.isWhitespace))
    switch verb {
    case "header" where rest.utf8.contains(UInt8(ascii: ":")) && !rest.contains("${"):
      return "header \(session(header(rest), escaping: false))"
    case "attribute" where rest.utf8.contains(UInt8(ascii: "=")) && !rest.contains("${"):
      return "attribute \(session(attribute(rest), escaping: false))"
    case "use": return "use \(spec(rest))"
    case "plugin":
      let name = rest.prefixOfScalars { !$0.properties.isWhitespace }
      let plugin = rest[name.endIndex...].droppingScalars(while: \.properties.isWhitespace)
      return plugin.isEmpty ? mistyped(line) : "plugin \(name) \(spec(String(plugin)))"
    case "options":
      guard let words = try? SessionWords.split(rest) else { return mistyped(line) }
      return options(self.words(words))
    case "target" where Self.hasCredentials(target: rest):
      return "target ${env.\(placeholder("RPCURL_TARGET", "the target", for: rest).name)}"
    case "set":
      let name = rest.prefixOfScalars { $0 != "=" && !$0.properties.isWhitespace }
      let value = rest[name.endIndex...].droppingScalars { $0 == "=" || $0.properties.isWhitespace }
      guard SecretNames.standard.contains(name), !value.begins(with: "$"),
        !value.contains("${")
      else {
        return line
      }
      let variable = placeholder(String(name), "the value of the variable \(name)", for: String(value))
      return "set \(name) = \"${env.\(variable.name)}\""
    case "expect": return check(line, trimmed[verb.endIndex...])
    case let verb
    where verb != "header" && verb != "attribute" && Session.entries.contains { $0.verb.name == verb }:
      return line
    default: return mistyped(line)
    }
  }

  /// Replaces the value in a check `header NAME == VALUE` or `trailer NAME == VALUE`, the part `rest` of a line.
  private mutating func check(_ line: String, _ rest: Substring) -> String {
    let (kind, condition) = Self.firstWord(rest)
    guard kind == "header" || kind == "trailer" else { return line }
    let trimmed = condition.droppingScalars(while: \.properties.isWhitespace)
    let name = trimmed.prefixOfScalars { !$0.properties.isWhitespace && !"=!<>".unicodeScalars.contains($0) }
    var value = trimmed[name.endIndex...].droppingScalars(while: \.properties.isWhitespace)
    let (word, operand) = Self.firstWord(value)
    guard SecretNames.standard.contains(name), !["exists", "absent", "is", "size"].contains(word) else {
      return line
    }
    if word == "contains" { value = operand }
    value = value.droppingScalars { $0.properties.isWhitespace || "=!<>~".unicodeScalars.contains($0) }
    guard !value.isEmpty, !value.begins(with: "$"), !value.contains("${") else { return line }
    let variable = placeholder(
      "expected_\(name)", "the expected value of the \(kind) \(name)", for: String(value))
    return "\(line[..<value.startIndex])${env.\(variable.name)}"
  }

  private static func firstWord(_ text: Substring) -> (word: Substring, rest: Substring) {
    let text = text.droppingScalars(while: \.properties.isWhitespace)
    let word = text.prefixOfScalars { !$0.properties.isWhitespace }
    return (word, text[word.endIndex...])
  }

  /// Replaces secrets in a line that is not a valid command. Its meaning is a guess, so this replaces too much rather
  /// than too little.
  private mutating func mistyped(_ line: String) -> String {
    var rest = line[...]
    // A misspelled `header NAME: VALUE`.
    for _ in 0..<2 {
      rest = rest.droppingScalars { $0.properties.isWhitespace || $0 == ":" }
      let name = rest.prefixOfScalars { Self.isAlphanumeric($0) || $0 == "-" || $0 == "_" }
      rest = rest[name.endIndex...]
      let value = rest.droppingScalars { $0.properties.isWhitespace || $0 == ":" || $0 == "=" }
      guard SecretNames.standard.contains(name), !value.isEmpty, !value.begins(with: "$"),
        value.startIndex > rest.startIndex
      else { continue }
      let variable = placeholder(String(name), "the value of \(name)", for: String(value))
      return "\(line[..<value.startIndex])${env.\(variable.name)}"
    }
    // Options with secrets.
    for word in line.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
    where word.first == "-" {
      guard OptionPart.parts(of: String(word)).contains(where: Self.hasSecrets) else { continue }
      return
        "\(line[..<word.startIndex])${env.\(placeholder("RPCURL_OPTIONS", "the options", for: line).name)}"
    }
    // A misspelled `use` or `plugin` with settings.
    let scalars = line.unicodeScalars
    guard let comma = scalars.firstIndex(of: ",") else { return line }
    let start =
      scalars[..<comma].lastIndex(where: \.properties.isWhitespace).map(scalars.index(after:))
      ?? line.startIndex
    return "\(line[..<start])\(spec(String(line[start...])))"
  }

  /// The command `options` with these arguments.
  package mutating func options(_ options: [String]) -> String {
    self.options(words(options))
  }

  private func options(_ words: [Word]) -> String {
    let texts = words.map { word in
      guard word.placeholder == nil else { return "\"\(session(word, escaping: true))\"" }
      return word.isLiteral ? SessionWords.quoted(word.before) : SessionWords.doubleQuoted(word.before)
    }
    return (["options"] + texts).joined(separator: " ")
  }

  /// Whether a target contains credentials. They are rejected, but may have been typed.
  private static func hasCredentials(target: String) -> Bool {
    let start = target.firstRange(of: "://")?.upperBound ?? target.startIndex
    let behindScheme = target[start...]
    return !target.hasPrefix("unix:")
      && (behindScheme.prefixOfScalars { $0 != "/" }.utf8.contains(UInt8(ascii: "@"))
        || behindScheme.utf8.contains(UInt8(ascii: "?")))
  }

  /// A word in the syntax of a session.
  package func session(_ word: Word, escaping: Bool) -> String {
    let before = escaping ? Template(literal: word.before).description : word.before
    return before + (word.placeholder.map { "${env.\($0.name)}" } ?? "")
  }

  /// A header or an attribute in the syntax of a session, in which nothing is replaced but the secret.
  package func session(_ word: Word, separator: Unicode.Scalar) -> String {
    guard word.placeholder == nil, case (let name, let value?) = word.before.parted(at: separator) else {
      return session(word, escaping: true)
    }
    let space = value.prefixOfScalars(while: \.properties.isWhitespace)
    return Template(literal: String(name)).description + "\(separator)\(space)"
      + Template.quoting(String(value[space.endIndex...]))
  }

  private static func isAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: false
    }
  }

  private mutating func placeholder(
    _ text: String, _ meaning: String, for secret: String
  ) -> CommandSecrets.Placeholder {
    secrets.placeholder(text, meaning, for: secret)
  }
}

extension SessionSecrets {
  /// Whether a line contains a credential that must not be written to files. Message contents are not examined.
  package static func occur(in line: String) -> Bool {
    var secrets = SessionSecrets(showsSecrets: false)
    _ = secrets.line(line)
    let isUnreadable = line.hasPrefix("options") && (try? SessionWords.split(line)) == nil
    return isUnreadable || !secrets.placeholders.isEmpty
  }
}
