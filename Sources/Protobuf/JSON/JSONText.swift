/// Writes the tokens of JSON.
package enum JSONText {
  /// The room for writing a number with quotes, which is longer than any number: digits are stored in blocks.
  static let numberRoom = 48

  // MARK: Strings

  /// Writes a string with its quotes. Control characters of all kinds are escaped, so that output is safe on
  /// a terminal; everything else stays readable. Returns false, with nothing written, if it is not UTF-8.
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

  /// Writes the string of the first `count` bytes, with its quotes. Returns false, with nothing written, unless it
  /// has up to 32 bytes, none of which is escaped, and the text has as many bytes as are copied.
  @inline(__always)
  static func appendShort(_ count: Int, of text: UnsafeRawBufferPointer, to out: inout OutputBuffer) -> Bool {
    let inBlocks = (count &+ 15) & ~15
    guard inBlocks <= 32, inBlocks <= text.count, let source = text.baseAddress else { return false }
    out.reserve(40)
    let place = UnsafeMutableRawPointer(out.end)
    let target = place + 1
    if inBlocks > 0 {
      var marks = copyBlock(from: source, to: target) & Words.firstBytes(count)
      if inBlocks > 16 {
        marks |= copyBlock(from: source + 16, to: target + 16) & Words.firstBytes(count &- 16)
      }
      // The sum of the halves is zero only if both are.
      if (marks &>> 1).wrappedSum() != 0 { return false }
    }
    place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    target.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count, as: UInt8.self)
    out.advance(by: count &+ 2)
    return true
  }

  /// Copies a block and marks its bytes that cannot be copied directly.
  @inline(__always)
  private static func copyBlock(
    from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer
  ) -> SIMD2<UInt64> {
    let block = source.loadUnaligned(as: SIMD2<UInt64>.self)
    target.storeBytes(of: block, as: SIMD2<UInt64>.self)
    return special(block)
  }

  /// Marks bytes that cannot be copied directly: controls, quotes, backslashes, DEL and non-ASCII.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    return Words.endsOfPlainText(word) | (word &+ ones) & (ones &* 0x80)
  }

  /// The same for two words.
  @inline(__always)
  private static func special(_ words: SIMD2<UInt64>) -> SIMD2<UInt64> {
    let ones: UInt64 = 0x0101_0101_0101_0101
    @inline(__always)
    func each(_ byte: UInt64) -> SIMD2<UInt64> { SIMD2(repeating: ones &* byte) }
    let isControl = words &- each(0x20)
    let isQuote = (words ^ each(0x22)) &- each(1)
    let isBackslash = (words ^ each(0x5c)) &- each(1)
    return (words | isControl | isQuote | isBackslash | (words &+ each(1))) & each(0x80)
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
    if !appendIfValid(bytes, to: &out) {
      appendString(String(decoding: bytes, as: UTF8.self), to: &out)
    }
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
    let start = out.end
    var place = start
    if value.sign == .minus {
      place.pointee = UInt8(ascii: "-")
      place += 1
    }
    if magnitude >= 0.001, magnitude < 1e9 {
      // Most numbers have few decimals. With up to 15 digits there is only one decimal that reads back as the number.
      let millionths = Int64(magnitude * 1e6 + 0.5)
      if Double(millionths) / 1e6 == magnitude {
        place += write(millionths: UInt64(bitPattern: millionths), at: place)
        return out.advance(by: place - start)
      }
    } else if magnitude < 9_007_199_254_740_992, magnitude == Double(UInt64(magnitude)) {
      place += write(whole: UInt64(magnitude), isNegative: value.sign == .minus, at: place)
      return out.advance(by: place - start)
    }
    place += write(ShortestDecimal(magnitude), isPlain: magnitude <= 0x1p53, at: place)
    out.advance(by: place - start)
  }

  package static func append(_ value: Float, to out: inout OutputBuffer) {
    guard value.isFinite else { return appendSpecial(Double(value), to: &out) }
    out.reserve(numberRoom)
    let magnitude = value.magnitude
    if value.sign == .minus { out.appendReserved(UInt8(ascii: "-")) }
    if magnitude < 16_777_216, magnitude == Float(UInt32(magnitude)) {
      out.advance(by: write(whole: UInt64(magnitude), isNegative: value.sign == .minus, at: out.end))
    } else {
      out.advance(by: write(ShortestDecimal(magnitude), isPlain: magnitude <= 0x1p24, at: out.end))
    }
  }

  /// Writes the magnitude of a whole number.
  @inline(__always)
  private static func write(whole: UInt64, isNegative: Bool, at place: UnsafeMutablePointer<UInt8>) -> Int {
    let count = DecimalDigits.write(whole, at: place)
    // Many readers parse `-0` as an integer and lose the sign.
    guard whole == 0, isNegative else { return count }
    place[1] = UInt8(ascii: ".")
    place[2] = UInt8(ascii: "0")
    return 3
  }

  /// Writes a number with up to six decimals.
  @inline(__always)
  private static func write(millionths: UInt64, at place: UnsafeMutablePointer<UInt8>) -> Int {
    let whole = millionths / 1_000_000
    let fraction = UInt32(truncatingIfNeeded: millionths &- whole &* 1_000_000)
    let count = DecimalDigits.write(whole, at: place)
    if fraction == 0 { return count }
    place[count] = UInt8(ascii: ".")
    let digits = DecimalDigits.eight(fraction &* 100)
    DecimalDigits.store(digits, at: place + count + 1)
    return count &+ 9 &- digits.leadingZeroBitCount &>> 3
  }

  /// Writes `0.00015`, `12.5`, `1200` or, for very large and very small numbers, `1.5e-07`.
  @inline(never)
  private static func write(
    _ value: ShortestDecimal, isPlain: Bool, at start: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let count = DecimalDigits.write(value.digits, at: start)
    // The position of the decimal point, from the first digit.
    let point = count &+ value.exponent
    if point < -3 || !isPlain { return writeScientific(count, point &- 1, at: start) }
    if value.exponent >= 0 {
      (start + count).update(repeating: 48, count: value.exponent)
      return point
    }
    if point > 0 {
      moveDigits(from: start + point, to: start + point + 1)
      start[point] = UInt8(ascii: ".")
      return count &+ 1
    }
    moveDigits(from: start, to: start + 2 - point)
    start.update(repeating: 48, count: 2 - point)
    start[1] = UInt8(ascii: ".")
    return count &+ 2 &- point
  }

  /// Moves up to 24 digits.
  @inline(__always)
  private static func moveDigits(
    from source: UnsafeMutablePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>
  ) {
    let first = UnsafeRawPointer(source).loadUnaligned(as: SIMD2<UInt64>.self)
    let last = UnsafeRawPointer(source + 16).loadUnaligned(as: UInt64.self)
    UnsafeMutableRawPointer(target).storeBytes(of: first, as: SIMD2<UInt64>.self)
    UnsafeMutableRawPointer(target + 16).storeBytes(of: last, as: UInt64.self)
  }

  /// Makes scientific notation of the digits at `start`.
  @inline(never)
  private static func writeScientific(_ count: Int, _ exponent: Int, at start: UnsafeMutablePointer<UInt8>)
    -> Int
  {
    moveDigits(from: start + 1, to: start + 2)
    start[1] = UInt8(ascii: ".")
    let end = start + (count > 1 ? count + 1 : 1)
    end[0] = UInt8(ascii: "e")
    end[1] = UInt8(ascii: exponent < 0 ? "-" : "+")
    let magnitude = UInt32(truncatingIfNeeded: exponent.magnitude)
    var place = end + 2
    if magnitude >= 100 {
      place.pointee = 48 | UInt8(truncatingIfNeeded: magnitude / 100)
      place += 1
    }
    DecimalDigits.writePair(magnitude % 100, at: place)
    return place + 2 - start
  }

  private static func appendSpecial(_ value: Double, to out: inout OutputBuffer) {
    out.append(value.isNaN ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"" as StaticString)
  }
}
