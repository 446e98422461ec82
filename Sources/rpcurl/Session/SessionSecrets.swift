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
  }

  private static let headerOptions: Set<String> = ["-H", "--header", "--rpc-header", "--reflect-header"]
  private static let secretOptions = [
    "-u": "RPCURL_USER", "--user": "RPCURL_USER", "--bearer": "RPCURL_BEARER", "--proxy": "RPCURL_PROXY",
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
    var result: [Word] = []
    var option: String?
    for word in words {
      if let name = option {
        option = nil
        result.append(value(word, of: name))
      } else if let equals = word.firstIndex(of: "="), Self.hasSecrets(String(word[..<equals])) {
        let name = String(word[..<equals])
        result.append(Word(before: name, placeholder: nil))
        result.append(value(String(word[word.index(after: equals)...]), of: name))
      } else {
        if Self.hasSecrets(word) { option = word }
        result.append(Word(before: word, placeholder: nil))
      }
    }
    return result
  }

  private static func hasSecrets(_ name: String) -> Bool {
    headerOptions.contains(name) || secretOptions[name] != nil || name == "--use" || name == "--plugin"
  }

  private mutating func value(_ value: String, of option: String) -> Word {
    if Self.headerOptions.contains(option) { return header(value) }
    guard let name = Self.secretOptions[option] else { return Word(before: spec(value), placeholder: nil) }
    let isHarmless = value.hasPrefix("@") || option == "--proxy" && !value.contains("@")
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
        Self.secretSettings.contains(key) || Redaction.isSecret(key.lowercased())
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
    case "header" where !rest.contains("${"): return "header \(session(header(rest), escaping: false))"
    case "use": return "use \(spec(rest))"
    case "plugin":
      let words = rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      return words.count == 2 ? "plugin \(words[0]) \(spec(String(words[1])))" : line
    case "options" where !rest.contains("${"):
      guard let words = try? SessionWords.split(rest) else { return line }
      return options(words.map(\.text))
    case "set":
      let name = rest.prefix { $0 != "=" && !$0.isWhitespace }
      let value = rest[name.endIndex...].drop { $0 == "=" || $0.isWhitespace }
      guard Redaction.isSecret(name.lowercased()), !value.hasPrefix("$"), !value.contains("${") else {
        return line
      }
      return "set \(name) = \"${\(note(String(name), "the value of the variable \(name)").name)}\""
    default: return line
    }
  }

  /// `options` with these words.
  mutating func options(_ options: [String]) -> String {
    let words = words(options).map { word in
      word.placeholder == nil ? SessionWords.quoted(word.before) : "\"\(session(word, escaping: true))\""
    }
    return (["options"] + words).joined(separator: " ")
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
