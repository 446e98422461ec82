import Interceptors

/// Keeps credentials out of what a session writes to files: a variable of the environment stands for each.
struct SessionSecrets {
  /// A variable that stands for a secret.
  struct Placeholder: Hashable {
    let name: String
    /// What its value is.
    let meaning: String
  }

  /// A word of which one part may be a placeholder.
  struct Word {
    let before: String
    let placeholder: Placeholder?
    /// Whether it has no variables of a session.
    var isLiteral = true
  }

  private static let headerOptions: Set<String> = ["-H", "--header", "--rpc-header", "--reflect-header"]
  private static let secretOptions = [
    "-u": "RPCURL_USER", "--user": "RPCURL_USER", "--bearer": "RPCURL_BEARER", "--proxy": "RPCURL_PROXY",
    "--pass": "RPCURL_PASS",
  ]

  /// Settings of interceptors that are credentials, beside those whose names tell so.
  private static let secretSettings: Set<String> = ["bearer", "basic"]
  /// Settings that only have to do with credentials.
  private static let harmlessSettings: Set<String> = [
    "bearer-file", "token-url", "client-auth", "auth-scheme", "hosts", "header", "scheme", "redact",
    "redact-field",
    "remove", "rename", "response-remove", "response-rename",
  ]

  /// Whether secrets are written all the same.
  let showsSecrets: Bool
  /// What the placeholders that were made stand for, in order.
  private(set) var placeholders: [Placeholder] = []

  init(showsSecrets: Bool) {
    self.showsSecrets = showsSecrets
  }

  // MARK: Words of the command line

  /// Words of a command line, secrets replaced.
  mutating func words(_ words: [String]) -> [Word] {
    self.words(words.map { SessionWords.Word(text: $0, isLiteral: true) })
  }

  private mutating func words(_ words: [SessionWords.Word]) -> [Word] {
    var result: [Word] = []
    var option: String?
    for word in words {
      if let name = option {
        option = nil
        result.append(value(word.text, of: name, isLiteral: word.isLiteral))
        continue
      }
      for part in OptionWords.apart(word.text) {
        guard let (name, text) = Self.option(part) else {
          if Self.hasSecrets(part) { option = part }
          result.append(Self.plain(part, isLiteral: word.isLiteral))
          continue
        }
        result.append(Word(before: name, placeholder: nil))
        result.append(value(text, of: name, isLiteral: word.isLiteral))
      }
    }
    return result
  }

  /// An option with secrets and its value, in one word. `-uNAME` is none here, but curl's, and typed by mistake.
  private static func option(_ word: String) -> (name: String, value: String)? {
    if let equals = word.firstIndex(of: "="), hasSecrets(String(word[..<equals])) {
      return (String(word[..<equals]), String(word[word.index(after: equals)...]))
    }
    let letter = String(word.prefix(2))
    return word.count > 2 && ["-u", "-H"].contains(letter) ? (letter, String(word.dropFirst(2))) : nil
  }

  private static func plain(_ text: String, isLiteral: Bool) -> Word {
    Word(before: text, placeholder: nil, isLiteral: isLiteral || !text.contains("$"))
  }

  private static func hasSecrets(_ name: String) -> Bool {
    headerOptions.contains(name) || secretOptions[name] != nil || name == "--use" || name == "--plugin"
  }

  private mutating func value(_ value: String, of option: String, isLiteral: Bool) -> Word {
    // What a variable holds is not written.
    guard isLiteral || !value.hasPrefix("$") && !value.contains("${") else {
      return Word(before: value, placeholder: nil, isLiteral: false)
    }
    if Self.headerOptions.contains(option) { return header(value) }
    guard let name = Self.secretOptions[option] else { return Word(before: spec(value), placeholder: nil) }
    let isHarmless =
      value.hasPrefix("@") || option == "--proxy" && !value.contains("@")
      || option == "--pass" && value.hasPrefix("env:")
    guard !showsSecrets, !isHarmless else { return Word(before: value, placeholder: nil) }
    return Word(before: "", placeholder: note(name, "the value of \(option)"))
  }

  /// `NAME: VALUE`.
  mutating func header(_ line: String) -> Word {
    let name = String(line.prefix { $0 != ":" })
    guard !showsSecrets, !line.hasPrefix("@"), line.contains(":"), Redaction.isSecret(name.lowercased())
    else {
      return Word(before: line, placeholder: nil)
    }
    return Word(before: "\(name): ", placeholder: note(name, "the value of the header \(name)"))
  }

  /// `NAME[,key=value…]` of an interceptor, in which `env:NAME` stands for a secret.
  mutating func spec(_ text: String) -> String {
    guard !showsSecrets else { return text }
    let parts = Self.split(text)
    let interceptor = parts[0].split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
    var changed = [parts[0]]
    for part in parts.dropFirst() {
      guard let equals = part.firstIndex(of: "=") else {
        changed.append(part)
        continue
      }
      let key = String(part[..<equals])
      let value = part[part.index(after: equals)...]
      let inner = value.prefix { $0 != ":" && $0 != "=" }.lowercased()
      let isElsewhere = value.hasPrefix("@") || value.hasPrefix("env:") || value.contains("${")
      let isSecret =
        Self.secretSettings.contains(key) || Self.isSecret(setting: key.lowercased())
        || inner.count < value.count && Redaction.isSecret(inner)
      guard isSecret, !isElsewhere, !Self.harmlessSettings.contains(key) else {
        changed.append(part)
        continue
      }
      let placeholder = note("\(interceptor)_\(key)", "the value of \(key) of the interceptor \(interceptor)")
      changed.append("\(key)=env:\(placeholder.name)")
    }
    return changed.joined(separator: ",")
  }

  /// Whether a setting looks like a secret. Its name is shorter than that of a header, and a plugin chooses it.
  private static func isSecret(setting key: String) -> Bool {
    Redaction.isSecret(key) || ["key", "pass", "pwd", "pin"].contains(where: key.hasSuffix)
      || key.contains("passphrase")
  }

  /// The settings of an interceptor, behind its name.
  mutating func settings(_ entry: ChainArguments.Entry) -> String {
    let text = spec(entry.words[1])
    return String(text[(text.firstIndex(of: ",") ?? text.endIndex)...])
  }

  /// Splits at single commas; two of them stay in their part.
  private static func split(_ text: String) -> [String] {
    var parts = [""]
    var rest = text[...]
    while let character = rest.popFirst() {
      if character == ",", rest.first == "," {
        parts[parts.count - 1] += ",,"
        rest = rest.dropFirst()
      } else if character == "," {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    return parts
  }

  // MARK: Lines of a session

  /// A line as it was typed, secrets replaced.
  mutating func line(_ line: String) -> String {
    guard !showsSecrets else { return line }
    let trimmed = line[...].drop { $0.isWhitespace || $0 == ":" }
    let verb = trimmed.prefix { !$0.isWhitespace }
    let rest = String(trimmed[verb.endIndex...].drop(while: \.isWhitespace))
    switch verb {
    case "header" where rest.contains(":") && !rest.contains("${"):
      return "header \(session(header(rest), escaping: false))"
    case "use": return "use \(spec(rest))"
    case "plugin":
      let words = rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      return words.count == 2 ? "plugin \(words[0]) \(spec(String(words[1])))" : mistyped(line)
    case "options":
      guard let words = try? SessionWords.split(rest) else { return mistyped(line) }
      return options(self.words(words))
    case "target" where Self.hasCredentials(target: rest):
      return "target ${\(note("RPCURL_TARGET", "the target").name)}"
    case "set":
      let name = rest.prefix { $0 != "=" && !$0.isWhitespace }
      let value = rest[name.endIndex...].drop { $0 == "=" || $0.isWhitespace }
      guard Redaction.isSecret(name.lowercased()), !value.hasPrefix("$"), !value.contains("${") else {
        return line
      }
      return "set \(name) = \"${\(note(String(name), "the value of the variable \(name)").name)}\""
    case let verb where verb != "header" && Session.entries.contains { $0.verb.name == verb }: return line
    default: return mistyped(line)
    }
  }

  /// A line that is not a command. What it was meant to be is a guess, so rather too much is replaced than too little.
  private mutating func mistyped(_ line: String) -> String {
    var rest = line[...]
    // `header NAME: VALUE` with a mistake in it.
    for _ in 0..<2 {
      rest = rest.drop { $0.isWhitespace || $0 == ":" }
      let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
      rest = rest[name.endIndex...]
      let value = rest.drop { $0.isWhitespace || $0 == ":" || $0 == "=" }
      guard Redaction.isSecret(name.lowercased()), !value.isEmpty, !value.hasPrefix("$"),
        value.startIndex > rest.startIndex
      else { continue }
      return "\(line[..<value.startIndex])${\(note(String(name), "the value of \(name)").name)}"
    }
    // Options with secrets.
    for word in line.split(whereSeparator: \.isWhitespace) where word.hasPrefix("-") {
      let parts = OptionWords.apart(String(word))
      guard parts.contains(where: { Self.option($0) != nil || Self.hasSecrets($0) }) else { continue }
      return "\(line[..<word.startIndex])${\(note("RPCURL_OPTIONS", "the options").name)}"
    }
    // `use` or `plugin` with settings.
    guard let comma = line.firstIndex(of: ",") else { return line }
    let start = line[..<comma].lastIndex(where: \.isWhitespace).map(line.index(after:)) ?? line.startIndex
    return "\(line[..<start])\(spec(String(line[start...])))"
  }

  /// `options` with these words.
  mutating func options(_ options: [String]) -> String {
    self.options(words(options))
  }

  private func options(_ words: [Word]) -> String {
    let texts = words.map { word in
      guard word.placeholder == nil else { return "\"\(session(word, escaping: true))\"" }
      return word.isLiteral ? SessionWords.quoted(word.before) : SessionWords.doubleQuoted(word.before)
    }
    return (["options"] + texts).joined(separator: " ")
  }

  /// Whether a target holds credentials, which are refused there, but may have been typed.
  private static func hasCredentials(target: String) -> Bool {
    let behindScheme = target.split(separator: "://", maxSplits: 1).last ?? ""
    return !target.hasPrefix("unix:")
      && (behindScheme.prefix { $0 != "/" }.contains("@") || behindScheme.contains("?"))
  }

  /// A word as a session reads it.
  func session(_ word: Word, escaping: Bool) -> String {
    let before =
      escaping
      ? word.before.split(separator: "${", omittingEmptySubsequences: false).joined(separator: "$${")
      : word.before
    return before + (word.placeholder.map { "${\($0.name)}" } ?? "")
  }

  private mutating func note(_ text: String, _ meaning: String) -> Placeholder {
    var name = String(text.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    if name.first?.isNumber ?? true { name = "_\(name)" }
    let placeholder = Placeholder(name: name, meaning: meaning)
    if !placeholders.contains(placeholder) { placeholders.append(placeholder) }
    return placeholder
  }
}
