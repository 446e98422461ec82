import RPCurlProtobuf

/// Which names have a secret as their value: of headers, attributes, variables and keys of plugins.
///
/// A name is secret if one of its words is: `x-auth-token`, `api_key`, `accessToken`. Words end at `-`, `_`, `.` and
/// before an upper-case letter that follows a lower-case one.
package struct SecretNames: Sendable, Equatable {
  /// The rule without further names.
  package static let standard = SecretNames()

  private static let words = [
    "auth", "authorization", "token", "secret", "password", "credential", "credentials", "cookie", "session",
    "jwt", "signature", "apikey",
  ].map { Array($0.utf8) }
  private static let (api, key, bin) = (Array("api".utf8), Array("key".utf8), Array("bin".utf8))
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

  /// This rule, extended by the names of another one.
  package func adding(_ other: SecretNames) -> SecretNames { adding(other.patterns) }

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
  package func contains(_ name: some StringProtocol) -> Bool { contains(String(name)) }

  /// Every header of every call passes this, so it makes no strings.
  private func contains(_ name: String) -> Bool {
    if !patterns.isEmpty {
      let whole = name.lowercased()
      if patterns.contains(where: { Self.matches(whole, $0) }) { return true }
    }
    var name = name
    return name.withUTF8(Self.hasSecretWord) && !Self.exceptions.contains(name.lowercased())
  }

  private static func hasSecretWord(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    let words = words(of: name)
    for (index, range) in words.enumerated() {
      let word = name[range]
      if Self.words.contains(where: { isEqual(word, $0) }) { return true }
      guard isEqual(word, key) else { continue }
      if index == words.count - 1 || index > 0 && isEqual(name[words[index - 1]], api) { return true }
    }
    return false
  }

  /// The words of a name, without a final `bin`.
  private static func words(of name: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
    var words: [Range<Int>] = []
    var (start, followsLowerCase) = (0, false)
    for (index, byte) in name.enumerated() {
      let isUpperCase = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      let separates = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
      if separates || isUpperCase && followsLowerCase {
        words.append(start..<index)
        start = separates ? index + 1 : index
      }
      followsLowerCase = !isUpperCase && !separates
    }
    if words.isEmpty || !isEqual(name[start...], bin) { words.append(start..<name.count) }
    return words
  }

  /// Whether a word has the letters of another, which is in lower case.
  private static func isEqual(_ word: Slice<UnsafeBufferPointer<UInt8>>, _ other: [UInt8]) -> Bool {
    word.count == other.count && zip(word, other).allSatisfy { $0 | 0x20 == $1 }
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
