/// The escapes of strings in text format.
enum TextEscapes {
  static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 48...57: UInt32(byte - 48)
    case 65...70: UInt32(byte - 55)
    case 97...102: UInt32(byte - 87)
    default: nil
    }
  }

  // MARK: Reading

  /// Reads the escape at the position of `scanner`.
  static func read(_ scanner: inout TextScanner, into content: inout [UInt8]) throws(ReadFailure) {
    let start = scanner.position
    guard start + 1 < scanner.bytes.count else {
      scanner.position = scanner.bytes.count
      throw scanner.failure(.unexpectedEnd)
    }
    let character = scanner.bytes[start + 1]
    scanner.position += 2
    switch character {
    case UInt8(ascii: "a"): content.append(7)
    case UInt8(ascii: "b"): content.append(8)
    case UInt8(ascii: "t"): content.append(9)
    case UInt8(ascii: "n"): content.append(10)
    case UInt8(ascii: "v"): content.append(11)
    case UInt8(ascii: "f"): content.append(12)
    case UInt8(ascii: "r"): content.append(13)
    case UInt8(ascii: "?"), UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""):
      content.append(character)
    case 48...55:
      scanner.position -= 1
      let code = digits(&scanner, atMost: 3, base: 8)
      guard let byte = UInt8(exactly: code) else { throw scanner.failure(.invalidEscape, at: start) }
      content.append(byte)
    case UInt8(ascii: "x"):
      let first = scanner.position
      let code = digits(&scanner, atMost: 2, base: 16)
      guard scanner.position > first else { throw scanner.failure(.invalidEscape, at: start) }
      content.append(UInt8(truncatingIfNeeded: code))
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      scanner.position = start
      try scalar(&scanner, into: &content)
    default: throw scanner.failure(.invalidEscape, at: start)
    }
  }

  private static func digits(_ scanner: inout TextScanner, atMost limit: Int, base: UInt32) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<limit {
      guard scanner.position < scanner.bytes.count, let digit = hexDigit(scanner.bytes[scanner.position]),
        digit < base
      else { break }
      code = code * base + digit
      scanner.position += 1
    }
    return code
  }

  /// Reads `\u` with four digits, or `\U` with eight: a character, not half of a surrogate pair.
  private static func scalar(_ scanner: inout TextScanner, into content: inout [UInt8]) throws(ReadFailure) {
    let start = scanner.position
    let count = scanner.bytes[start + 1] == UInt8(ascii: "u") ? 4 : 8
    scanner.position += 2
    let code = digits(&scanner, atMost: count, base: 16)
    guard scanner.position == start + 2 + count, code <= 0x10ffff else {
      throw scanner.failure(.invalidEscape, at: start)
    }
    guard let scalar = UnicodeScalar(code) else { throw scanner.failure(.loneSurrogate, at: start) }
    content.append(contentsOf: String(Character(scalar)).utf8)
  }

  // MARK: Writing

  /// Appends a string with its quotes if it is ASCII and needs no escape; otherwise returns false, with nothing
  /// appended.
  @inline(__always)
  static func appendPlain(_ bytes: UnsafeRawBufferPointer, to out: inout OutputBuffer) -> Bool {
    out.reserve(bytes.count &+ 16)
    let place = UnsafeMutableRawPointer(out.end)
    place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    if let source = bytes.baseAddress {
      let count = Words.copyPlain(from: source, to: place + 1, count: bytes.count, special: special)
      if count < bytes.count { return false }
    }
    place.storeBytes(of: UInt8(ascii: "\""), toByteOffset: bytes.count &+ 1, as: UInt8.self)
    out.advance(by: bytes.count &+ 2)
    return true
  }

  /// Appends a string with its quotes. Text stays readable, except for control characters of all kinds, so
  /// that output is safe on a terminal; if `isText` is false, all non-ASCII bytes are escaped.
  static func append(_ bytes: UnsafeRawBufferPointer, isText: Bool, to out: inout OutputBuffer) {
    if appendPlain(bytes, to: &out) { return }
    out.append(UInt8(ascii: "\""))
    var plain = 0
    var index = 0
    while index < bytes.count {
      if index + 8 <= bytes.count,
        special(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) == 0
      {
        index += 8
        continue
      }
      let length = escapedLength(bytes, at: index, isText: isText)
      if length == 0 {
        index += 1
        continue
      }
      out.append(UnsafeRawBufferPointer(rebasing: bytes[plain..<index]))
      for byte in bytes[index..<index + length] { appendEscape(byte, to: &out) }
      index += length
      plain = index
    }
    out.append(UnsafeRawBufferPointer(rebasing: bytes[plain...]))
    out.append(UInt8(ascii: "\""))
  }

  /// Marks bytes that cannot be copied directly: controls, quotes, apostrophes, backslashes, DEL and non-ASCII.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let isApostrophe = (word ^ ones &* 0x27) &- ones
    return Words.endsOfPlainText(word) | (isApostrophe | (word &+ ones)) & (ones &* 0x80)
  }

  /// The number of bytes to escape from `index` on; 0 if the next byte needs no escape.
  private static func escapedLength(_ bytes: UnsafeRawBufferPointer, at index: Int, isText: Bool) -> Int {
    switch bytes[index] {
    case ..<0x20, 0x7f, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"): 1
    case 0x80... where !isText: 1
    // U+0080…U+009F, the C1 controls.
    case 0xc2 where index + 1 < bytes.count && bytes[index + 1] < 0xa0: 2
    default: 0
    }
  }

  private static func appendEscape(_ byte: UInt8, to out: inout OutputBuffer) {
    out.append(UInt8(ascii: "\\"))
    switch byte {
    case 9: out.append(UInt8(ascii: "t"))
    case 10: out.append(UInt8(ascii: "n"))
    case 13: out.append(UInt8(ascii: "r"))
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"): out.append(byte)
    default:
      out.append(48 + byte >> 6)
      out.append(48 + byte >> 3 & 7)
      out.append(48 + byte & 7)
    }
  }
}
