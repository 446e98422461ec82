import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf

/// The credentials in the words and lines of a session.
extension WrittenSecrets {
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
    part.id.map(occur) ?? false
  }

  private mutating func value(
    _ value: String, of option: OptionID, _ optionName: String, isLiteral: Bool
  ) -> Word {
    // The value of a variable is not written.
    guard isLiteral || !value.begins(with: "$") && !value.contains("${") else {
      return Word(before: value, placeholder: nil, isLiteral: false)
    }
    return self.value(value, of: option, optionName) ?? Self.plain(value, isLiteral: isLiteral)
  }

  // MARK: Lines of a session

  /// Replaces secrets in a line of a session.
  package mutating func line(_ line: String) -> String {
    guard !showsSecrets else { return line }
    let trimmed = line.droppingScalars { $0.properties.isWhitespace || $0 == ":" }
    let (name, rest) = SessionVerb.parts(of: trimmed)
    guard let verb = SessionVerb.named(name) else {
      // `Token {…}` is a call.
      let hasMessages = rest.hasPrefix("{") || SessionStatementReader.beginsValue(trimmed)
      return hasMessages ? misplacedOptions(in: line, hasJSON: true) ?? line : mistyped(line)
    }
    switch verb.secrets {
    case .none:
      var reader = SessionStatementReader(endsStrings: true)
      guard verb.acceptsMessages, line.utf8.contains(UInt8(ascii: "|")),
        let statement = try? reader.add(line),
        let command = statement.command
      else { return misplacedOptions(in: line, hasJSON: verb.acceptsJSON) ?? line }
      return "\(self.line(statement.recorded)) | \(mistyped(command))"
    case .guessed: return mistyped(line)
    case .named:
      if let named = named(line) { return named }
      // The rest of any other line is text.
      guard verb.acceptsJSON else { return line }
      return variable(line) ?? misplacedOptions(in: line, hasJSON: true) ?? line
    case .ofCheck:
      if let check = CheckedStream(rest)?.check {
        let written = self.line("\(name) \(check)").dropFirst(name.utf8.count + 1)
        return String(line[..<line.utf8.index(line.endIndex, offsetBy: -check.utf8.count)]) + written
      }
      return rest.hasPrefix("header") || rest.hasPrefix("trailer") ? named(line) ?? line : line
    case .settings: return settings(line)
    case .options:
      guard let words = try? SessionWords.split(rest) else { return mistyped(line) }
      return options(self.words(words))
    case .target:
      guard Self.hasCredentials(target: String(rest)) else {
        return misplacedOptions(in: line, hasJSON: false) ?? line
      }
      return "\(name) ${env.\(placeholder("RPCURL_TARGET", "the target", for: String(rest)).name)}"
    }
  }

  /// Replaces the value after a name that is secret, among the first words: `header NAME: VALUE`, `set NAME = VALUE` or
  /// `expect header NAME == VALUE`. Returns nil if there is no such name.
  private mutating func named(_ line: String) -> String? {
    var rest = line[...]
    var isExpected = false
    for _ in 0..<3 {
      // A quote is one of a shell.
      rest = rest.droppingScalars { $0.properties.isWhitespace || ":\"'".unicodeScalars.contains($0) }
      let name = rest.prefixOfScalars { Self.isAlphanumeric($0) || "-_.".unicodeScalars.contains($0) }
      let separator = rest[name.endIndex...].prefixOfScalars {
        $0.properties.isWhitespace || ":=!<>~".unicodeScalars.contains($0)
      }
      guard !separator.isEmpty else { return nil }
      rest = rest[separator.endIndex...]
      if names.contains(name) {
        return replacing(isExpected ? Self.operand(rest) : rest, of: name, in: line, isExpected: isExpected)
      }
      // What follows is a value.
      guard separator.unicodeScalars.allSatisfy(\.properties.isWhitespace) else { return nil }
      isExpected = isExpected || SessionVerb.named(name)?.isCheck == true
    }
    return nil
  }

  /// What a condition compares with; empty if it has no text.
  private static func operand(_ test: Substring) -> Substring {
    let word = test.prefixOfScalars { !$0.properties.isWhitespace }
    if ["exists", "absent", "is", "size"].contains(word) { return "" }
    guard word == "contains" else { return test }
    return test[word.endIndex...].droppingScalars(while: \.properties.isWhitespace)
  }

  /// The line with a variable in place of the value at its end, unless this is a variable already.
  private mutating func replacing(
    _ value: Substring, of name: Substring, in line: String, isExpected: Bool
  ) -> String {
    guard !value.isEmpty, !value.begins(with: "$"), !value.contains("${") else {
      return line
    }
    let variable =
      isExpected
      ? placeholder("expected_\(name)", "the expected value of \(name)", for: String(value))
      : placeholder(String(name), "the value of \(name)", for: String(value))
    return "\(line[..<value.startIndex])${env.\(variable.name)}"
  }

  /// Replaces the value in `set NAME = VALUE` if it has a secret, though its name is not that of one; nil otherwise.
  private mutating func variable(_ line: String) -> String? {
    guard case (let before, let value?) = line.parted(at: "="), hasSecret(variable: value) else { return nil }
    let name = before.unicodeScalars.split(whereSeparator: \.properties.isWhitespace).last
    let start = value.droppingScalars(while: \.properties.isWhitespace)
    return replacing(start, of: name.map { Substring($0) } ?? before, in: line, isExpected: false)
  }

  /// Replaces the options on a line from the first one that may have a secret, such as the `-H` of a call, which a session
  /// refuses; nil if there is none.
  ///
  /// - Parameter hasJSON: Whether a quote begins a string, in which a dash begins no option. After one that is not closed, it
  ///   may.
  private mutating func misplacedOptions(in line: String, hasJSON: Bool) -> String? {
    var brackets = OpenBrackets()
    for index in line.utf8.indices {
      if line.utf8[index] == UInt8(ascii: "-"), !brackets.isString, mayBeginOption(line[..<index]) {
        let word = line[index...].prefixOfScalars { !$0.properties.isWhitespace }
        if OptionPart.parts(of: String(word)).contains(where: Self.hasSecrets) {
          let variable = placeholder("RPCURL_OPTIONS", "the options", for: line)
          return "\(line[..<index])${env.\(variable.name)}"
        }
      }
      if hasJSON { brackets.read(line.utf8[index]) }
    }
    return brackets.isString ? misplacedOptions(in: line, hasJSON: false) : nil
  }

  /// Whether an option may follow a part of a line: its dash begins a word, or follows JSON.
  private func mayBeginOption(_ before: Substring) -> Bool {
    guard let last = before.unicodeScalars.last else { return true }
    return last.properties.isWhitespace || "\"'}]".unicodeScalars.contains(last)
  }

  /// Replaces secrets in a line that is not a valid command. Its meaning is a guess, so this replaces too much rather
  /// than too little.
  private mutating func mistyped(_ line: String) -> String {
    named(line) ?? misplacedOptions(in: line, hasJSON: false) ?? settings(line)
  }

  /// Replaces secrets in the settings of an interceptor, the last word of a line; a blank was meant to be the comma in
  /// `auth bearer=TOKEN`.
  private mutating func settings(_ line: String) -> String {
    let scalars = line.unicodeScalars
    let comma = scalars.firstIndex(of: ",")
    let equals = scalars.firstIndex(of: "=")
    guard
      let end = comma ?? equals.flatMap({ scalars[..<$0].lastIndex(where: \.properties.isWhitespace) })
    else { return line }
    let start =
      scalars[..<end].lastIndex(where: \.properties.isWhitespace).map(scalars.index(after:))
      ?? line.startIndex
    let name = line[start..<end]
    guard comma != nil || BuiltIns.all.contains(where: { $0.name == name }) else { return line }
    let settings = line[scalars.index(after: end)...]
    let written = spec("\(name),\(settings)")
    return String(line[..<settings.startIndex]) + Substring(written.utf8.dropFirst(name.utf8.count + 1))
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
    return !Target.isSocket(target)
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

  /// Whether a line contains a credential that must not be written to files. Message contents are not examined.
  package func occur(inLine line: String) -> Bool {
    var secrets = WrittenSecrets(names, separates: false)
    _ = secrets.line(line)
    let isUnreadable = line.hasPrefix("options") && (try? SessionWords.split(line)) == nil
    return isUnreadable || !secrets.placeholders.isEmpty
  }
}
