import RPCurlCSystem

/// The values of literal tokens.
enum Literals {
  /// The value of an integer in decimal, octal or hexadecimal digits; nil if it is malformed or greater than `limit`.
  static func integer(_ text: UnsafeBufferPointer<UInt8>, limit: UInt64) -> UInt64? {
    var digits = text[...]
    var radix: UInt64 = 10
    if digits.first == UInt8(ascii: "0") {
      radix = 8
      if digits.count > 1, text[1] | 0x20 == UInt8(ascii: "x") {
        radix = 16
        digits = text[2...]
      }
    }
    var value: UInt64 = 0
    for byte in digits {
      let digit = UInt64(digit(byte))
      guard digit < radix else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: radix)
      let (sum, carry) = product.addingReportingOverflow(digit)
      if overflow || carry { return nil }
      value = sum
    }
    return value <= limit ? value : nil
  }

  /// The value of a digit in a radix up to 16; 36 for other bytes.
  static func digit(_ byte: UInt8) -> UInt8 {
    if Lexer.isDigit(byte) { return byte - 0x30 }
    let letter = (byte | 0x20) &- 0x61
    return letter < 26 ? letter + 10 : 36
  }

  /// The value of a number with decimals. `e` without an exponent and a final `f` are ignored.
  static func float(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    var digits = text[...]
    while let last = digits.last {
      if let value = Double(String(decoding: digits, as: UTF8.self)) { return value }
      guard !Lexer.isDigit(last) else { break }
      digits.removeLast()
    }
    return nil
  }

  /// Appends the bytes of a string literal with its quotation marks.
  static func appendString(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout ContiguousArray<UInt8>) {
    guard let quote = text.first else { return }
    var index = 1
    func byte(_ offset: Int) -> UInt8 { offset < text.count ? text[offset] : 0 }
    while index < text.count {
      let next = text[index]
      if next == UInt8(ascii: "\\"), index + 1 < text.count {
        index += 1
        appendEscape(&index, byte, to: &bytes)
      } else if next != quote || index + 1 != text.count {
        bytes.append(next)
      }
      index += 1
    }
  }

  /// Appends an escape whose kind is at `index`, and moves `index` to its last byte.
  private static func appendEscape(
    _ index: inout Int, _ byte: (Int) -> UInt8, to bytes: inout ContiguousArray<UInt8>
  ) {
    let kind = byte(index)
    switch kind {
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      var code = UInt32(kind - 0x30)
      for _ in 0..<2 where byte(index + 1) &- 0x30 < 8 {
        index += 1
        code = code * 8 + UInt32(byte(index) - 0x30)
      }
      bytes.append(UInt8(truncatingIfNeeded: code))
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      var code: UInt32 = 0
      for _ in 0..<2 where Lexer.isHexDigit(byte(index + 1)) {
        index += 1
        code = code * 16 + UInt32(digit(byte(index)))
      }
      bytes.append(UInt8(truncatingIfNeeded: code))
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      let length = kind == UInt8(ascii: "u") ? 4 : 8
      guard var code = hex(index + 1, length, byte) else { return bytes.append(kind) }
      index += length
      if 0xd800..<0xdc00 ~= code, byte(index + 1) == UInt8(ascii: "\\"), byte(index + 2) == UInt8(ascii: "u"),
        let low = hex(index + 3, 4, byte), 0xdc00..<0xe000 ~= low
      {
        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00))
        index += 6
      }
      appendUTF8(code, to: &bytes)
    default:
      bytes.append(translated(kind))
    }
  }

  private static func hex(_ start: Int, _ count: Int, _ byte: (Int) -> UInt8) -> UInt32? {
    var value: UInt32 = 0
    for offset in start..<start + count {
      guard byte(offset) != 0 else { return nil }
      value = value << 4 &+ UInt32(digit(byte(offset)))
    }
    return value
  }

  private static func appendUTF8(_ code: UInt32, to bytes: inout ContiguousArray<UInt8>) {
    func last(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: code >> shift & 0x3f) }
    switch code {
    case ..<0x80: bytes.append(UInt8(code))
    case ..<0x800: bytes.append(contentsOf: [0xc0 | UInt8(code >> 6), last(0)])
    case 0x110000...: bytes.append(contentsOf: Array("\\U00".utf8) + hexText(code))
    case ..<0x10000: bytes.append(contentsOf: [0xe0 | UInt8(code >> 12), last(6), last(0)])
    default:
      bytes.append(contentsOf: [0xf0 | UInt8(truncatingIfNeeded: code >> 18 & 7), last(12), last(6), last(0)])
    }
  }

  private static func hexText(_ code: UInt32) -> [UInt8] {
    stride(from: UInt32(20), through: 0, by: -4).map { shift in
      Array("0123456789abcdef".utf8)[Int(code >> shift & 15)]
    }
  }

  private static func translated(_ kind: UInt8) -> UInt8 {
    switch kind {
    case UInt8(ascii: "a"): 7
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "f"): 12
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "v"): 11
    case UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "'"), UInt8(ascii: "\""): kind
    default: UInt8(ascii: "?")
    }
  }

  /// The text of bytes in which all but printable ASCII is escaped, as in the default value of a `bytes` field.
  static func escaped(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    for byte in bytes {
      switch byte {
      case 0x0a: text += Array("\\n".utf8)
      case 0x0d: text += Array("\\r".utf8)
      case 0x09: text += Array("\\t".utf8)
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case 0x20..<0x7f: text.append(byte)
      default: text += [UInt8(ascii: "\\"), 0x30 + byte >> 6, 0x30 + (byte >> 3) & 7, 0x30 + byte & 7]
      }
    }
    return text
  }

  /// The text of a number in 15 significant digits, or 17 if these do not suffice.
  static func text(_ value: Double) -> String {
    if value.isNaN { return "nan" }
    if value.isInfinite { return value < 0 ? "-inf" : "inf" }
    let short = formatted(value, digits: 15)
    return Double(short) == value ? short : formatted(value, digits: 17)
  }

  /// The text of a number in 6 significant digits, or 9 if these do not suffice.
  static func text(_ value: Float) -> String {
    if value.isNaN { return "nan" }
    if value.isInfinite { return value < 0 ? "-inf" : "inf" }
    let short = formatted(Double(value), digits: 6)
    // Numbers below the normal ones count as not exact.
    let isExact = Float(short) == value && (value.isNormal || value.isZero)
    return isExact ? short : formatted(Double(value), digits: 9)
  }

  private static func formatted(_ value: Double, digits: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 40)
    let count = withVaList([digits, value]) { vsnprintf(&buffer, 40, "%.*g", $0) }
    return String(decoding: buffer.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
