import Protobuf
import CommandLine
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

  private static let headerOptions: Set<OptionID> = [.header, .rpcHeader, .reflectHeader]
  private static let secretOptions: [OptionID: String] = [
    .user: "RPCURL_USER", .bearer: "RPCURL_BEARER", .proxy: "RPCURL_PROXY", .proxyUser: "RPCURL_PROXY_USER",
    .pass: "RPCURL_PASS",
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
    var option: (id: OptionID, name: String)?
    for word in words {
      if let (id, name) = option {
        option = nil
        result.append(value(word.text, of: id, name, isLiteral: word.isLiteral))
        continue
      }
      let parts = OptionPart.parts(of: word.text)
      guard parts.contains(where: Self.hasSecrets) else {
        // A value that follows is not an option, even if it begins with a dash.
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
    guard let id = part.id else { return false }
    return headerOptions.contains(id) || secretOptions[id] != nil || id == .use || id == .plugin
  }

  private mutating func value(
    _ value: String, of option: OptionID, _ optionName: String, isLiteral: Bool
  ) -> Word {
    // What a variable holds is not written.
    guard isLiteral || !value.begins(with: "$") && !value.contains("${") else {
      return Word(before: value, placeholder: nil, isLiteral: false)
    }
    if Self.headerOptions.contains(option) { return header(value) }
    if option == .use || option == .plugin { return Word(before: spec(value), placeholder: nil) }
    guard let name = Self.secretOptions[option] else { return Self.plain(value, isLiteral: isLiteral) }
    let isHarmless =
      value.hasPrefix("@") || option == .proxy && !value.contains("@")
      || option == .pass && value.hasPrefix("env:")
    guard !showsSecrets, !isHarmless else { return Word(before: value, placeholder: nil) }
    return Word(before: "", placeholder: note(name, "the value of \(optionName)"))
  }

  /// `NAME: VALUE`.
  mutating func header(_ line: String) -> Word {
    let name = String(line.prefixOfScalars { $0 != ":" })
    guard !showsSecrets, !line.begins(with: "@"), line.utf8.contains(UInt8(ascii: ":")),
      Redaction.isSecret(name.lowercased())
    else {
      return Word(before: line, placeholder: nil)
    }
    return Word(before: "\(name): ", placeholder: note(name, "the value of the header \(name)"))
  }

  /// `NAME[,key=value…]` of an interceptor, in which `env:NAME` stands for a secret, or `shown` if that is given.
  mutating func spec(_ text: String, shown: String? = nil) -> String {
    guard !showsSecrets else { return text }
    let parts = Self.split(text)
    let interceptor = parts[0].split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
    var changed = [parts[0]]
    for part in parts.dropFirst() {
      guard case let (name, value?) = part.parted(at: "=") else {
        changed.append(part)
        continue
      }
      let key = String(name)
      let inner = value.prefixOfScalars { $0 != ":" && $0 != "=" }
      let isElsewhere =
        value.begins(with: "@") || value.begins(with: "env:") || value.contains("${")
      let isSecret =
        Self.secretSettings.contains(key) || Self.isSecret(setting: key.lowercased())
        || inner.endIndex < value.endIndex && Redaction.isSecret(inner.lowercased())
      guard isSecret, !isElsewhere, !Self.harmlessSettings.contains(key) else {
        changed.append(part)
        continue
      }
      if let shown {
        changed.append("\(key)=\(shown)")
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

  /// The settings of an interceptor as they are shown: what follows its name, secrets redacted.
  static func settings(_ entry: ChainArguments.Entry, showsSecrets: Bool) -> String {
    var secrets = SessionSecrets(showsSecrets: showsSecrets)
    let text = secrets.spec(entry.text, shown: Redaction.placeholder)
    return String(text.droppingScalars { $0 != "," })
  }

  /// Splits at single commas; two of them stay in their part.
  private static func split(_ text: String) -> [String] {
    var parts = [String.UnicodeScalarView()]
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scalar == ",", rest.first == "," {
        parts[parts.count - 1] += ",,".unicodeScalars
        rest = rest.dropFirst()
      } else if scalar == "," {
        parts.append(String.UnicodeScalarView())
      } else {
        parts[parts.count - 1].append(scalar)
      }
    }
    return parts.map { String($0) }
  }

  // MARK: Lines of a session

  /// A line as it was typed, secrets replaced.
  mutating func line(_ line: String) -> String {
    guard !showsSecrets else { return line }
    let trimmed = line.droppingScalars { $0.properties.isWhitespace || $0 == ":" }
    let verb = trimmed.prefixOfScalars { !$0.properties.isWhitespace }
    let rest = String(trimmed[verb.endIndex...].droppingScalars(while: \.properties.isWhitespace))
    switch verb {
    case "header" where rest.utf8.contains(UInt8(ascii: ":")) && !rest.contains("${"):
      return "header \(session(header(rest), escaping: false))"
    case "use": return "use \(spec(rest))"
    case "plugin":
      let name = rest.prefixOfScalars { !$0.properties.isWhitespace }
      let plugin = rest[name.endIndex...].droppingScalars(while: \.properties.isWhitespace)
      return plugin.isEmpty ? mistyped(line) : "plugin \(name) \(spec(String(plugin)))"
    case "options":
      guard let words = try? SessionWords.split(rest) else { return mistyped(line) }
      return options(self.words(words))
    case "target" where Self.hasCredentials(target: rest):
      return "target ${\(note("RPCURL_TARGET", "the target").name)}"
    case "set":
      let name = rest.prefixOfScalars { $0 != "=" && !$0.properties.isWhitespace }
      let value = rest[name.endIndex...].droppingScalars { $0 == "=" || $0.properties.isWhitespace }
      guard Redaction.isSecret(name.lowercased()), !value.begins(with: "$"),
        !value.contains("${")
      else {
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
      rest = rest.droppingScalars { $0.properties.isWhitespace || $0 == ":" }
      let name = rest.prefixOfScalars { Self.isAlphanumeric($0) || $0 == "-" || $0 == "_" }
      rest = rest[name.endIndex...]
      let value = rest.droppingScalars { $0.properties.isWhitespace || $0 == ":" || $0 == "=" }
      guard Redaction.isSecret(name.lowercased()), !value.isEmpty, !value.begins(with: "$"),
        value.startIndex > rest.startIndex
      else { continue }
      return "\(line[..<value.startIndex])${\(note(String(name), "the value of \(name)").name)}"
    }
    // Options with secrets.
    for word in line.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
    where word.first == "-" {
      guard OptionPart.parts(of: String(word)).contains(where: Self.hasSecrets) else { continue }
      return "\(line[..<word.startIndex])${\(note("RPCURL_OPTIONS", "the options").name)}"
    }
    // `use` or `plugin` with settings.
    let scalars = line.unicodeScalars
    guard let comma = scalars.firstIndex(of: ",") else { return line }
    let start =
      scalars[..<comma].lastIndex(where: \.properties.isWhitespace).map(scalars.index(after:))
      ?? line.startIndex
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
    let start = target.firstRange(of: "://")?.upperBound ?? target.startIndex
    let behindScheme = target[start...]
    return !target.hasPrefix("unix:")
      && (behindScheme.prefixOfScalars { $0 != "/" }.utf8.contains(UInt8(ascii: "@"))
        || behindScheme.utf8.contains(UInt8(ascii: "?")))
  }

  /// A word as a session reads it.
  func session(_ word: Word, escaping: Bool) -> String {
    let before = escaping ? word.before.replacing("${", with: "$${") : word.before
    return before + (word.placeholder.map { "${\($0.name)}" } ?? "")
  }

  private static func isAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: false
    }
  }

  private mutating func note(_ text: String, _ meaning: String) -> Placeholder {
    var name = text.uppercased().unicodeScalars.map { Self.isAlphanumeric($0) ? "\($0)" : "_" }.joined()
    if name.utf8.first.map({ $0 <= UInt8(ascii: "9") }) ?? true { name = "_\(name)" }
    let placeholder = Placeholder(name: name, meaning: meaning)
    if !placeholders.contains(placeholder) { placeholders.append(placeholder) }
    return placeholder
  }
}
