import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// Replaces the credentials in what a user has written by environment variables: in values of options, settings of
/// interceptors, and lines of sessions.
package struct WrittenSecrets {
  /// An environment variable that replaces a secret.
  package struct Placeholder: Hashable {
    package let name: String
    /// What the value of the variable is.
    package let meaning: String

    package init(name: String, meaning: String) {
      self.name = name
      self.meaning = meaning
    }
  }

  /// A word that may end with a placeholder.
  package struct Word {
    package let before: String
    package let placeholder: Placeholder?
    /// Whether a session must not replace variables in it.
    package let isLiteral: Bool

    package init(before: String, placeholder: Placeholder?, isLiteral: Bool = true) {
      self.before = before
      self.placeholder = placeholder
      self.isLiteral = isLiteral
    }
  }

  /// Whether secrets are not replaced.
  package let showsSecrets: Bool
  /// Which headers, attributes, variables and keys are secret.
  package let names: SecretNames
  /// The secrets that may occur anywhere in a command.
  var known: KnownSecrets
  /// The placeholders made so far, in order.
  package private(set) var placeholders: [Placeholder] = []
  /// Whether secrets with the same meaning have placeholders of their own.
  private let separates: Bool
  /// The secret of each placeholder.
  package private(set) var secrets: [String] = []

  /// - Parameters:
  ///   - showsSecrets: Whether secrets are not replaced.
  ///   - names: Which headers, attributes, variables and keys are secret.
  ///   - separates: Whether two values of one header or option have two placeholders. In a session, a later value
  ///     usually replaces the earlier one, and they share one.
  ///   - known: The secrets that may occur anywhere in a command.
  package init(
    showsSecrets: Bool = false, _ names: SecretNames = .standard, separates: Bool,
    known: KnownSecrets = KnownSecrets()
  ) {
    self.showsSecrets = showsSecrets
    self.known = known
    self.names = names
    self.separates = separates
  }

  /// Whether the value of an option may contain secrets.
  package static func occur(in id: OptionID) -> Bool { OptionTable[id].secrecy != .none }

  /// Replaces secrets in the value of an option.
  ///
  /// - Parameter optionName: The name of the option as given.
  /// - Returns: The value; nil if the option has no secrets.
  package mutating func value(_ value: String, of option: OptionID, _ optionName: String) -> Word? {
    let definition = OptionTable[option]
    switch definition.secrecy {
    case .none: return nil
    case .header: return header(value)
    case .attribute: return attribute(value)
    case .variable: return named(value, "=", "variable")
    // The arguments of a script are those of a program, which others can list.
    case .settings: return Word(before: option == .script ? value : spec(value), placeholder: nil)
    case .login, .whole:
      let isSecret = definition.secrecy == .login ? value.contains("@") : !WholeValue.isElsewhere(value)
      guard isSecret, !showsSecrets else {
        return Word(before: value, placeholder: nil)
      }
      let name = "RPCURL\(definition.name.dropFirst())"
      return Word(before: "", placeholder: placeholder(name, "the value of \(optionName)", for: value))
    }
  }

  /// Replaces the secret in a header `NAME: VALUE`.
  package mutating func header(_ line: String) -> Word {
    guard !line.begins(with: "@") else { return Word(before: line, placeholder: nil) }
    return named(line, ":", "header", blanks: true)
  }

  /// Replaces the secret in an attribute `KEY=VALUE`.
  package mutating func attribute(_ text: String) -> Word { named(text, "=", "attribute") }

  /// Replaces the value after a separator, if the name before it is that of a secret, or if a variable has a secret in its value.
  ///
  /// - Parameters:
  ///   - kind: What the text is, such as `header`.
  ///   - blanks: Whether blanks before the value are not a part of it.
  private mutating func named(
    _ text: String, _ separator: Unicode.Scalar, _ kind: String, blanks: Bool = false
  ) -> Word {
    let plain = Word(before: text, placeholder: nil)
    guard !showsSecrets, case (let name, let rest?) = text.parted(at: separator),
      names.contains(name) || kind == "variable" && hasSecret(variable: rest)
    else { return plain }
    let value = blanks ? rest.droppingScalars { $0 == " " } : rest
    guard blanks || !value.isEmpty && !(kind == "variable" && WholeValue.isElsewhere(value)) else {
      return plain
    }
    return Word(
      before: "\(name)\(separator)\(blanks ? " " : "")",
      placeholder: placeholder(String(name), "the value of the \(kind) \(name)", for: String(value)))
  }

  /// Whether the value of a variable is a URL with credentials, or JSON in which one is or in which a member has the name of a
  /// secret.
  func hasSecret(variable value: Substring) -> Bool {
    let text = String(value)
    guard text.withoutUserInfo == text else { return true }
    return (try? JSONValue(parsing: Array(text.utf8))).map { hasSecret(in: $0) } ?? false
  }

  private func hasSecret(in json: JSONValue) -> Bool {
    switch json {
    case .object(let members): members.contains { names.contains($0.name) || hasSecret(in: $0.value) }
    case .array(let elements): elements.contains { hasSecret(in: $0) }
    case .string(let text): text.withoutUserInfo != text
    case .null, .bool, .number: false
    }
  }

  /// Replaces secrets in an interceptor `NAME[,KEY=VALUE…]` by `env:NAME`.
  package mutating func spec(_ text: String) -> String {
    guard !showsSecrets else { return text }
    return names.replacingSecrets(ofInterceptor: text) { interceptor, key, value in
      let meaning = "the value of \(key) of the interceptor \(interceptor)"
      return "env:\(placeholder("\(interceptor)_\(key)", meaning, for: String(value)).name)"
    }
  }

  /// The placeholder of a secret. Another secret with the same meaning has a name with a number.
  ///
  /// - Parameters:
  ///   - text: What the name is made of.
  ///   - meaning: What the secret is.
  ///   - secret: The secret, or a text that contains it.
  ///   - separates: Whether another secret with this meaning has a placeholder of its own; nil as for all.
  package mutating func placeholder(
    _ text: String, _ meaning: String, for secret: String, separates: Bool? = nil
  ) -> Placeholder {
    let separates = separates ?? self.separates
    var base = text.uppercased().unicodeScalars.map { Self.isAlphanumeric($0) ? "\($0)" : "_" }.joined()
    if base.utf8.first.map({ $0 <= UInt8(ascii: "9") }) ?? true { base = "_\(base)" }
    var name = base
    var number = 1
    while let index = placeholders.firstIndex(where: {
      $0.name == name && ($0.meaning == meaning || separates)
    }) {
      let isSame = placeholders[index].meaning == meaning && secrets[index] == secret
      guard separates, !isSame else { return placeholders[index] }
      number += 1
      name = "\(base)_\(number)"
    }
    let placeholder = Placeholder(name: name, meaning: meaning)
    placeholders.append(placeholder)
    secrets.append(secret)
    return placeholder
  }

  /// Whether a name of a variable may contain it, in upper case.
  package static func isAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: false
    }
  }
}

extension SecretNames {
  /// Replaces the values in `NAME[,KEY=VALUE…]` that are credentials, except those that are elsewhere.
  ///
  /// - Parameter replacement: Returns the new value of a key of an interceptor that has a credential as its value.
  package func replacingSecrets(
    ofInterceptor text: String,
    _ replacement: (_ interceptor: Substring, _ key: String, _ value: Substring) -> String
  ) -> String {
    let parts = SettingScanner.split(text)
    let interceptor = parts[0].split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
    let builtIn = BuiltIns.all.first { $0.name == parts[0] }
    let changed = parts.dropFirst().map { part in
      guard case (let name, let value?) = part.parted(at: "="), isSecret(String(name), value, of: builtIn)
      else { return part }
      return "\(name)=\(replacement(interceptor, String(name), value))"
    }
    return (parts.prefix(1) + changed).joined(separator: ",")
  }

  /// Whether the value of a key is secret.
  ///
  /// - Parameter builtIn: The interceptor; nil for a plugin.
  private func isSecret(_ key: String, _ value: Substring, of builtIn: BuiltIns.Description?) -> Bool {
    guard !WholeValue.isElsewhere(value), !value.contains("${") else { return false }
    if let known = builtIn?.keys.first(where: { $0.name == key }) {
      return known.isSecret || (known.hasNamedValue || known.isCondition) && isOfSecret(value)
    }
    let prefix = CommonSettings.prefix
    let common = key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : key
    if CommonSettings.keys.contains(where: { $0.name == common }) { return isOfSecret(value) }
    // A mistyped key may be one that is secret.
    return builtIn?.keys.contains(where: \.isSecret) ?? false || contains(key) || isOfSecret(value)
  }

  /// Whether a value is `NAME:VALUE` or `NAME=VALUE` with the name of a secret, or a condition of it, and not elsewhere.
  private func isOfSecret(_ text: Substring) -> Bool {
    var text = text.begins(with: "'") ? Substring(text.unicodeScalars.dropFirst()) : text
    for word in ["header ", "trailer "] where text.begins(with: word) {
      text = Substring(text.unicodeScalars.dropFirst(word.unicodeScalars.count))
    }
    let name = text.prefixOfScalars { !":=!<>~ ".unicodeScalars.contains($0) }
    let value = text[name.endIndex...].droppingScalars { ":=!<>~ ".unicodeScalars.contains($0) }
    return !value.isEmpty && !WholeValue.isElsewhere(value) && contains(name)
  }
}

extension ChainArguments.Entry {
  /// The settings of the interceptor, without its name: empty, or with a comma before each.
  package func settings(_ secrets: WrittenSecrets) -> String {
    let text =
      secrets.showsSecrets
      ? text : secrets.names.replacingSecrets(ofInterceptor: text) { _, _, _ in SecretMask.placeholder }
    return String(text.droppingScalars { $0 != "," })
  }
}
