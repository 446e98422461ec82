import CommandLine
import Interceptors
import Language
import Protobuf

/// Replaces credentials in written commands by environment variables.
package struct CommandSecrets {
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

  private static let headerOptions: Set<OptionID> = [.header, .rpcHeader, .reflectHeader]
  private static let secretOptions: [OptionID: String] = [
    .user: "RPCURL_USER", .bearer: "RPCURL_BEARER", .proxy: "RPCURL_PROXY", .proxyUser: "RPCURL_PROXY_USER",
    .pass: "RPCURL_PASS",
  ]

  /// Whether secrets are not replaced.
  package let showsSecrets: Bool
  /// The placeholders made so far, in order.
  package private(set) var placeholders: [Placeholder] = []
  /// Whether secrets with the same meaning have placeholders of their own.
  private let separates: Bool
  /// The secret of each placeholder.
  package private(set) var secrets: [String] = []

  /// - Parameters:
  ///   - showsSecrets: Whether secrets are not replaced.
  ///   - separates: Whether two values of one header or option have two placeholders. In a session, a later value
  ///     usually replaces the earlier one, and they share one.
  package init(showsSecrets: Bool, separates: Bool) {
    self.showsSecrets = showsSecrets
    self.separates = separates
  }

  /// Whether the value of an option may contain secrets.
  package static func hasSecrets(_ id: OptionID) -> Bool {
    headerOptions.contains(id) || secretOptions[id] != nil || id == .use || id == .plugin || id == .attribute
  }

  /// Replaces secrets in the value of an option.
  ///
  /// - Parameter optionName: The name of the option as given.
  /// - Returns: The value; nil if the option has no secrets.
  package mutating func value(_ value: String, of option: OptionID, _ optionName: String) -> Word? {
    if Self.headerOptions.contains(option) { return header(value) }
    if option == .attribute { return attribute(value) }
    if option == .use || option == .plugin { return Word(before: spec(value), placeholder: nil) }
    guard let name = Self.secretOptions[option] else { return nil }
    let isHarmless =
      value.hasPrefix("@") || option == .proxy && !value.contains("@")
      || (option == .pass || option == .bearer) && value.hasPrefix("env:")
    guard !showsSecrets, !isHarmless else { return Word(before: value, placeholder: nil) }
    return Word(before: "", placeholder: placeholder(name, "the value of \(optionName)", for: value))
  }

  /// Replaces the secret in a header `NAME: VALUE`.
  package mutating func header(_ line: String) -> Word {
    let name = String(line.prefixOfScalars { $0 != ":" })
    guard !showsSecrets, !line.begins(with: "@"), line.utf8.contains(UInt8(ascii: ":")),
      SecretNames.standard.contains(name)
    else {
      return Word(before: line, placeholder: nil)
    }
    let value = String((line.parted(at: ":").after ?? "").droppingScalars { $0 == " " })
    return Word(
      before: "\(name): ", placeholder: placeholder(name, "the value of the header \(name)", for: value))
  }

  /// Replaces the secret in an attribute `KEY=VALUE`.
  package mutating func attribute(_ text: String) -> Word {
    guard !showsSecrets, case (let key, let value?) = text.parted(at: "="), !value.isEmpty,
      SecretNames.standard.contains(key)
    else {
      return Word(before: text, placeholder: nil)
    }
    return Word(
      before: "\(key)=",
      placeholder: placeholder(String(key), "the value of the attribute \(key)", for: String(value)))
  }

  /// Replaces secrets in an interceptor `NAME[,KEY=VALUE…]` by `env:NAME`.
  package mutating func spec(_ text: String) -> String {
    guard !showsSecrets else { return text }
    return InterceptorSecrets.replacing(text) { interceptor, key, value in
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
  package mutating func placeholder(_ text: String, _ meaning: String, for secret: String) -> Placeholder {
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

  private static func isAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: false
    }
  }
}
