/// URIs and references to them (RFC 3986); the bytes of a host must be UTF-8.
package enum URIFormat {
  private typealias Bytes = InternetFormat.Bytes

  /// Whether a text is a URI, with a scheme.
  package static func isURI(_ text: InternetFormat.Bytes) -> Bool {
    let (rest, isValid) = withoutQueryAndFragment(text)
    guard isValid, let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let scheme = rest[..<colon]
    return scheme.first?.isLetter == true
      && scheme.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
      && isHierarchy(rest[rest.index(after: colon)...])
  }

  /// Whether a text is a URI or a relative reference.
  package static func isReference(_ text: InternetFormat.Bytes) -> Bool {
    if isURI(text) { return true }
    let (rest, isValid) = withoutQueryAndFragment(text)
    guard isValid, isHierarchy(rest) else { return false }
    // The first segment of a relative path has no colon.
    let segment = rest.prefix { $0 != UInt8(ascii: "/") }
    return !segment.contains(UInt8(ascii: ":"))
  }

  private static func withoutQueryAndFragment(_ text: Bytes) -> (rest: Bytes, isValid: Bool) {
    var rest = text
    var isValid = true
    for mark in "#?".utf8 {
      guard let index = rest.firstIndex(of: mark) else { continue }
      isValid = isValid && consists(rest[rest.index(after: index)...], of: ":@/?")
      rest = rest[..<index]
    }
    return (rest, isValid)
  }

  /// Whether bytes are an authority and a path, or a path.
  private static func isHierarchy(_ text: Bytes) -> Bool {
    guard text.starts(with: "//".utf8) else { return consists(text, of: ":@/") }
    let rest = text.dropFirst(2)
    let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    return isAuthority(rest[..<end]) && consists(rest[end...], of: ":@/")
  }

  private static func isAuthority(_ text: Bytes) -> Bool {
    var host = text
    if let at = text.firstIndex(of: UInt8(ascii: "@")) {
      guard consists(text[..<at], of: ":") else { return false }
      host = text[text.index(after: at)...]
    }
    let isInBrackets = host.first == UInt8(ascii: "[")
    let colon: Bytes.Index?
    if isInBrackets {
      guard let close = host.lastIndex(of: UInt8(ascii: "]")) else { return false }
      let after = host.index(after: close)
      guard after == host.endIndex || host[after] == UInt8(ascii: ":") else { return false }
      colon = after == host.endIndex ? nil : after
    } else {
      colon = host.lastIndex(of: UInt8(ascii: ":"))
    }
    if let colon {
      guard host[host.index(after: colon)...].allSatisfy(\.isDigit) else { return false }
      host = host[..<colon]
    }
    guard isInBrackets else { return consists(host, of: "") && isUTF8(host) }
    return isLiteral(host.dropFirst().dropLast())
  }

  /// Whether bytes are an address of version 6, with a zone (RFC 6874) or not, or of a future version.
  private static func isLiteral(_ text: Bytes) -> Bool {
    if let first = text.first, first | 0x20 == UInt8(ascii: "v") {
      let version = text.dropFirst().prefix(while: \.isHexDigit)
      let rest = text[version.endIndex...]
      return !version.isEmpty && rest.first == UInt8(ascii: ".") && rest.count > 1
        && !rest.contains(UInt8(ascii: "%")) && consists(rest.dropFirst(), of: ":")
    }
    guard let percent = text.firstIndex(of: UInt8(ascii: "%")) else {
      return InternetFormat.address6(text) != nil
    }
    let zone = text[percent...]
    let name = zone.dropFirst(3)
    // The name of a zone has no sub-delims.
    return zone.starts(with: "%25".utf8) && !name.isEmpty && InternetFormat.address6(text[..<percent]) != nil
      && consists(name, of: "") && !name.contains { "!$&'()*+,;=".utf8.contains($0) } && isUTF8(name)
  }

  /// Whether bytes are unreserved characters, sub-delims, percent-encoded bytes and some other characters.
  private static func consists(_ text: Bytes, of others: StaticString) -> Bool {
    others.withUTF8Buffer { others in
      var index = text.startIndex
      while index != text.endIndex {
        let byte = text[index]
        text.formIndex(after: &index)
        if byte == UInt8(ascii: "%") {
          let digits = text[index...].prefix(2)
          guard digits.count == 2, digits.allSatisfy(\.isHexDigit) else { return false }
          index = digits.endIndex
          continue
        }
        guard byte.isLetterOrDigit || "-._~!$&'()*+,;=".utf8.contains(byte) || others.contains(byte) else {
          return false
        }
      }
      return true
    }
  }

  /// Whether the decoded bytes of a valid text are UTF-8.
  private static func isUTF8(_ text: Bytes) -> Bool {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self) != nil
  }
}
