import RPCurlProtobuf

/// Which names have a secret as their value: of headers, attributes, variables and keys of plugins.
///
/// A name is secret if one of its words is: `x-auth-token`, `api_key`, `accessToken`. Words end at `-`, `_`, `.` and
/// before an upper-case letter that follows a lower-case one.
package struct SecretNames: Sendable, Equatable {
  /// The rule without further names.
  package static let standard = SecretNames()

  private static let words: Set = [
    "auth", "authorization", "token", "secret", "password", "credential", "credentials", "cookie", "session",
    "jwt", "signature", "apikey",
  ]
  /// Names that the rule would hide, or seems to hide, although a user needs their values.
  private static let exceptions: Set = ["www-authenticate", "proxy-authenticate", "x-session-count"]

  /// Further names in lower case, with `*` at one or both ends for any text.
  private let patterns: [String]

  /// Makes the rule, extended by names.
  ///
  /// - Parameter names: Further names, with `*` at one or both ends for any text.
  package init(adding names: [String] = []) {
    patterns = names.map { $0.lowercased() }
  }

  /// This rule, extended by names.
  package func adding(_ names: [String]) -> SecretNames {
    let new = names.filter { !patterns.contains($0.lowercased()) }
    return new.isEmpty ? self : SecretNames(adding: patterns + new)
  }

  /// Whether a text is the name of a header or of an attribute, with `*` at one or both ends for any text.
  package static func isPattern(_ text: String) -> Bool {
    let core = text.utf8.drop { $0 == UInt8(ascii: "*") }
    let end = core.lastIndex { $0 != UInt8(ascii: "*") }
    return core.startIndex <= text.utf8.index(after: text.utf8.startIndex)
      && end.map { core[$0...].count <= 2 && core[...$0].allSatisfy(isNamePart) } ?? false
  }

  /// RFC 9110, section 5.6.2, without `*`.
  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'+-.^_`|~".utf8.contains(byte)
    }
  }

  /// Whether values of the name are secret.
  package func contains(_ name: some StringProtocol) -> Bool {
    let whole = name.lowercased()
    if patterns.contains(where: { Self.matches(whole, $0) }) { return true }
    guard !Self.exceptions.contains(whole) else { return false }
    let words = Self.words(of: name)
    return words.contains(where: Self.words.contains) || words.last == "key"
      || zip(words, words.dropFirst()).contains { $0 == ("api", "key") }
  }

  /// The words of a name, in lower case, without a final `bin`.
  private static func words(of name: some StringProtocol) -> [String] {
    var words = [""]
    var followsLowerCase = false
    for scalar in name.unicodeScalars {
      let isUpperCase = ("A"..."Z").contains(scalar)
      let separates = "-_.".unicodeScalars.contains(scalar)
      if separates || isUpperCase && followsLowerCase { words.append("") }
      followsLowerCase = !isUpperCase && !separates
      if !separates { words[words.count - 1] += scalar.properties.lowercaseMapping }
    }
    if words.count > 1, words.last == "bin" { words.removeLast() }
    return words
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    let isOpenAtStart = pattern.hasPrefix("*")
    let isOpenAtEnd = pattern.hasSuffix("*") && pattern.utf8.count > 1
    let core = pattern.dropFirst(isOpenAtStart ? 1 : 0).dropLast(isOpenAtEnd ? 1 : 0)
    return switch (isOpenAtStart, isOpenAtEnd) {
    case (false, false): name == core
    case (true, false): name.hasSuffix(core)
    case (false, true): name.hasPrefix(core)
    case (true, true): name.contains(String(core))
    }
  }
}
