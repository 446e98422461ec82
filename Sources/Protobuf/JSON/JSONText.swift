/// Writes the tokens of JSON.
package enum JSONText {
  /// The maximum length of a number with quotes.
  static let numberRoom = 32

  // MARK: Strings

  /// Writes a string with its quotes. Control characters of all kinds are escaped, so that output is safe on
  /// a terminal; everything else stays readable. Returns false, with nothing written, if it is not UTF-8.
  @inline(__always)
  static func appendIfValid(_ bytes: UnsafeRawBufferPointer, to out: inout OutputBuffer) -> Bool {
    let count = bytes.count
    out.reserve(count &+ 24)
    let place = UnsafeMutableRawPointer(out.end)
    place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    guard let source = bytes.baseAddress, count > 0 else {
      place.storeBytes(of: UInt8(ascii: "\""), toByteOffset: 1, as: UInt8.self)
      out.advance(by: 2)
      return true
    }
    let target = place + 1
    let index = Words.copyPlain(from: source, to: target, count: count, special: special)
    if index < count { return appendSlowly(source, from: index, count, to: &out) }
    target.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count, as: UInt8.self)
    out.advance(by: count &+ 2)
    return true
  }

  /// Marks bytes that cannot be copied directly: controls, quotes, backslashes, DEL and non-ASCII.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    return Words.endsOfPlainText(word) | (word &+ ones) & (ones &* 0x80)
  }

  /// Continues after `index` bytes, which are already copied after the quote.
  @inline(never)
  private static func appendSlowly(
    _ source: UnsafeRawPointer, from start: Int, _ count: Int, to out: inout OutputBuffer
  ) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: source, count: count)
    let before = out.count
    out.advance(by: start &+ 1)
    var index = start
    while index < count {
      // Room for the unchanged rest and for one escape.
      out.reserve(count &- index &+ 24)
      var place = UnsafeMutableRawPointer(out.end)
      while index &+ 8 <= count {
        let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        place.storeBytes(of: word, as: UInt64.self)
        let mask = special(word)
        let plain = mask == 0 ? 8 : mask.trailingZeroBitCount >> 3
        index &+= plain
        place += plain
        if plain < 8 { break }
      }
      out.advance(by: place - UnsafeMutableRawPointer(out.end))
      guard index < count else { break }
      let byte = bytes[index]
      if byte >= 0x80 {
        let length = UTF8Validation.sequenceLength(bytes, at: index)
        if length == 0 {
          out.truncate(to: before)
          return false
        }
        // U+0080…U+009F are controls.
        if byte == 0xc2, bytes[index &+ 1] < 0xa0 {
          appendEscape(UInt32(bytes[index &+ 1]), to: &out)
        } else {
          for offset in 0..<length { out.appendReserved(bytes[index &+ offset]) }
        }
        index &+= length
      } else {
        if byte < 0x20 || byte == 0x22 || byte == 0x5c || byte == 0x7f {
          appendEscape(UInt32(byte), to: &out)
        } else {
          out.appendReserved(byte)
        }
        index &+= 1
      }
    }
    out.append(UInt8(ascii: "\""))
    return true
  }

  /// Writes a valid UTF-8 string.
  static func appendString(_ bytes: UnsafeRawBufferPointer, to out: inout OutputBuffer) {
    if !appendIfValid(bytes, to: &out) { appendString(String(decoding: bytes, as: UTF8.self), to: &out) }
  }

  static func appendString(_ text: String, to out: inout OutputBuffer) {
    var text = text
    text.withUTF8 { _ = appendIfValid(UnsafeRawBufferPointer($0), to: &out) }
  }

  private static func appendEscape(_ code: UInt32, to out: inout OutputBuffer) {
    out.append(UInt8(ascii: "\\"))
    switch code {
    case 8: out.append(UInt8(ascii: "b"))
    case 9: out.append(UInt8(ascii: "t"))
    case 10: out.append(UInt8(ascii: "n"))
    case 12: out.append(UInt8(ascii: "f"))
    case 13: out.append(UInt8(ascii: "r"))
    case 0x22, 0x5c: out.append(UInt8(truncatingIfNeeded: code))
    default:
      out.append("u00")
      out.append(hex(code >> 4))
      out.append(hex(code & 15))
    }
  }

  private static func hex(_ digit: UInt32) -> UInt8 {
    UInt8(truncatingIfNeeded: digit < 10 ? 48 + digit : 87 + digit)
  }

  // MARK: Integers

  @inline(__always)
  static func appendInteger(_ value: UInt64, to out: inout OutputBuffer) {
    out.reserve(numberRoom)
    out.advance(by: DecimalDigits.write(value, at: out.end))
  }

  @inline(__always)
  static func appendInteger(_ value: Int64, to out: inout OutputBuffer) {
    out.reserve(numberRoom)
    if value < 0 { out.appendReserved(UInt8(ascii: "-")) }
    out.advance(by: DecimalDigits.write(value.magnitude, at: out.end))
  }

  @inline(__always)
  static func appendQuoted(_ value: UInt64, isNegative: Bool, to out: inout OutputBuffer) {
    out.reserve(numberRoom)
    let start = out.end
    var place = start
    place.pointee = UInt8(ascii: "\"")
    place += 1
    if isNegative {
      place.pointee = UInt8(ascii: "-")
      place += 1
    }
    place += DecimalDigits.write(value, at: place)
    place.pointee = UInt8(ascii: "\"")
    out.advance(by: place - start + 1)
  }

  // MARK: Floating point

  /// Writes the shortest form that reads back as the same number; numbers that JSON lacks are strings.
  package static func append(_ value: Double, to out: inout OutputBuffer) {
    guard value.isFinite else { return appendSpecial(value, to: &out) }
    out.reserve(numberRoom)
    let magnitude = value.magnitude
    if magnitude < 9_007_199_254_740_992, magnitude == Double(UInt64(magnitude)) {
      return appendWhole(UInt64(magnitude), isNegative: value.sign == .minus, to: &out)
    }
    if value.sign == .minus { out.appendReserved(UInt8(ascii: "-")) }
    append(ShortestDecimal(magnitude), isPlain: magnitude <= 0x1p53, to: &out)
  }

  package static func append(_ value: Float, to out: inout OutputBuffer) {
    guard value.isFinite else { return appendSpecial(Double(value), to: &out) }
    out.reserve(numberRoom)
    let magnitude = value.magnitude
    if magnitude < 16_777_216, magnitude == Float(UInt32(magnitude)) {
      return appendWhole(UInt64(magnitude), isNegative: value.sign == .minus, to: &out)
    }
    if value.sign == .minus { out.appendReserved(UInt8(ascii: "-")) }
    append(ShortestDecimal(magnitude), isPlain: magnitude <= 0x1p24, to: &out)
  }

  @inline(__always)
  private static func appendWhole(_ magnitude: UInt64, isNegative: Bool, to out: inout OutputBuffer) {
    if isNegative {
      // Many readers parse `-0` as an integer and lose the sign.
      if magnitude == 0 { return out.append("-0.0") }
      out.appendReserved(UInt8(ascii: "-"))
    }
    out.advance(by: DecimalDigits.write(magnitude, at: out.end))
  }

  /// Writes `0.00015`, `12.5`, `1200` or, for very large and very small numbers, `1.5e-07`.
  @inline(__always)
  private static func append(_ value: ShortestDecimal, isPlain: Bool, to out: inout OutputBuffer) {
    let start = out.end
    let count = DecimalDigits.count(value.digits)
    // The position of the decimal point, from the first digit.
    let point = count &+ value.exponent
    if point < -3 || !isPlain { return appendScientific(value, count, point &- 1, to: &out) }
    if value.exponent >= 0 {
      DecimalDigits.write(value.digits, count, at: start)
      (start + count).update(repeating: 48, count: value.exponent)
      out.advance(by: point)
    } else if point > 0 {
      DecimalDigits.write(value.digits, count, at: start + 1)
      for index in 0..<point { start[index] = start[index + 1] }
      start[point] = UInt8(ascii: ".")
      out.advance(by: count + 1)
    } else {
      start.update(repeating: 48, count: 2 - point)
      start[1] = UInt8(ascii: ".")
      DecimalDigits.write(value.digits, count, at: start + 2 - point)
      out.advance(by: count + 2 - point)
    }
  }

  @inline(never)
  private static func appendScientific(
    _ value: ShortestDecimal, _ count: Int, _ exponent: Int, to out: inout OutputBuffer
  ) {
    let start = out.end
    DecimalDigits.write(value.digits, count, at: start + 1)
    start[0] = start[1]
    start[1] = UInt8(ascii: ".")
    var end = start + (count > 1 ? count + 1 : 1)
    end[0] = UInt8(ascii: "e")
    end[1] = UInt8(ascii: exponent < 0 ? "-" : "+")
    end += 2
    let magnitude = exponent.magnitude
    let digits = magnitude < 100 ? 2 : 3
    DecimalDigits.write(UInt64(magnitude), digits, at: end)
    out.advance(by: end + digits - start)
  }

  private static func appendSpecial(_ value: Double, to out: inout OutputBuffer) {
    out.append(value.isNaN ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"" as StaticString)
  }
}
