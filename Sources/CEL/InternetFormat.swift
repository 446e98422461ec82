/// Hostnames, addresses, prefixes and mail addresses, as protovalidate defines them.
package enum InternetFormat {
  package typealias Bytes = ArraySlice<UInt8>

  /// Whether a text is a mail address as HTML defines it for input of the type `email`.
  package static func isEmail(_ text: Bytes) -> Bool {
    guard let at = text.firstIndex(of: UInt8(ascii: "@")) else { return false }
    let local = text[..<at]
    let domain = text[(at + 1)...]
    return !local.isEmpty
      && local.allSatisfy { $0.isLetterOrDigit || ".!#$%&'*+/=?^_`{|}~-".utf8.contains($0) }
      && labels(of: domain).allSatisfy(isLabel)
  }

  /// Whether a text is a mail address as protoc-gen-validate defines it: `NAME <ADDRESS>` is one too.
  package static func isMailbox(_ text: Bytes) -> Bool {
    var address = text
    if text.last == UInt8(ascii: ">"), let start = text.lastIndex(of: UInt8(ascii: "<")) {
      address = text[(start + 1)...].dropLast()
    }
    return address.count <= 254 && address.prefix { $0 != UInt8(ascii: "@") }.count <= 64 && isEmail(address)
  }

  /// Whether a text is a name of a host, with or without a final dot.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - allowsNumbers: Whether its last part may be a number.
  package static func isHostname(_ text: Bytes, allowsNumbers: Bool = false) -> Bool {
    guard text.count <= 253 else { return false }
    let labels = labels(of: text.last == UInt8(ascii: ".") ? text.dropLast() : text)
    return labels.allSatisfy(isLabel)
      && (allowsNumbers || labels.last.map { !$0.allSatisfy(\.isDigit) } == true)
  }

  private static func labels(of text: Bytes) -> [Bytes] {
    text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
  }

  private static func isLabel(_ label: Bytes) -> Bool {
    (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
      && label.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
  }

  /// Whether a text is an IP address; one of version 6 may have a zone.
  package static func isAddress(_ text: Bytes, version: Int?) -> Bool {
    if version != 6, address4(text) != nil { return true }
    if version == 4 { return false }
    guard let percent = text.firstIndex(of: UInt8(ascii: "%")) else { return address6(text) != nil }
    let zone = text[text.index(after: percent)...]
    return !zone.isEmpty && !zone.contains(0) && address6(text[..<percent]) != nil
  }

  /// Whether a text is an address and the length of its prefix.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - version: 4, 6 or nil for both.
  ///   - isStrict: Whether the bits after the prefix must be zero.
  package static func isPrefix(_ text: Bytes, version: Int?, isStrict: Bool) -> Bool {
    guard let slash = text.firstIndex(of: UInt8(ascii: "/")) else { return false }
    let address = text[..<slash]
    let digits = text[(slash + 1)...]
    let bits: [UInt8]
    if version != 6, let found = address4(address) {
      bits = found
    } else if version != 4, let found = address6(address) {
      bits = found
    } else {
      return false
    }
    guard let length = number(digits, through: bits.count * 8) else { return false }
    guard isStrict else { return true }
    return bits.indices.allSatisfy { index in
      let own = min(max(length - index * 8, 0), 8)
      return Int(bits[index]) & (0xff >> own) == 0
    }
  }

  /// Whether a text is a hostname or an address, that of version 6 in brackets, and a port.
  package static func isHostAndPort(_ text: Bytes, requiresPort: Bool) -> Bool {
    let isHost = { (host: Bytes) in isHostname(host) || isAddress(host, version: 4) }
    let colon = text.lastIndex(of: UInt8(ascii: ":"))
    if text.first == UInt8(ascii: "[") {
      guard let end = text.lastIndex(of: UInt8(ascii: "]")) else { return false }
      guard isAddress(text[text.index(after: text.startIndex)..<end], version: 6) else { return false }
      let after = text.index(after: end)
      if after == text.endIndex { return !requiresPort }
      return after == colon && number(text[text.index(after: after)...], through: 65535) != nil
    }
    guard let colon else { return !requiresPort && isHost(text) }
    return isHost(text[..<colon]) && number(text[text.index(after: colon)...], through: 65535) != nil
  }

  /// A decimal number without leading zeros; nil if it is invalid or above a limit.
  private static func number(_ digits: Bytes, through limit: Int) -> Int? {
    guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit),
      digits.count == 1 || digits.first != 0x30
    else { return nil }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    return number <= limit ? number : nil
  }

  /// The bytes of an address of version 4.
  private static func address4(_ text: Bytes) -> [UInt8]? {
    let parts = labels(of: text)
    guard parts.count == 4 else { return nil }
    let bytes = parts.compactMap { number($0, through: 255).map { UInt8($0) } }
    return bytes.count == 4 ? bytes : nil
  }

  /// The bytes of an address of version 6, without a zone.
  package static func address6(_ text: Bytes) -> [UInt8]? {
    var parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count >= 3, parts.count <= 9 else { return nil }
    var tail: [UInt8] = []
    if let last = parts.last, last.contains(UInt8(ascii: ".")) {
      guard let found = address4(last) else { return nil }
      tail = found
      parts.removeLast()
    }
    // Two colons are an empty part, or two of them at an end.
    var gap: Int?
    var bytes: [UInt8] = []
    for index in parts.indices {
      let part = parts[index]
      if part.isEmpty {
        let isFirst = index == 0
        let isLast = index == parts.count - 1 && tail.isEmpty
        if isFirst, parts.count > 1, parts[1].isEmpty { continue }
        if isLast, index > 0, parts[index - 1].isEmpty, gap != nil { continue }
        guard gap == nil, !isFirst, !isLast else { return nil }
        gap = bytes.count
        continue
      }
      guard part.count <= 4, part.allSatisfy(\.isHexDigit),
        let piece = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
      else { return nil }
      bytes += [UInt8(piece >> 8), UInt8(piece & 0xff)]
    }
    bytes += tail
    guard let gap else { return bytes.count == 16 ? bytes : nil }
    guard bytes.count < 16 else { return nil }
    return bytes[..<gap] + [UInt8](repeating: 0, count: 16 - bytes.count) + bytes[gap...]
  }
}
