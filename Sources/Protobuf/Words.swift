/// Operations on eight bytes at a time.
enum Words {
  /// Loads fewer than eight bytes, and the others from `fill`.
  ///
  /// Reads nothing beyond `count` bytes.
  @inline(__always)
  static func load(_ source: UnsafeRawPointer, count: Int, fill: UInt64 = 0) -> UInt64 {
    var word: UInt64
    if count >= 4 {
      let low = UInt64(source.loadUnaligned(as: UInt32.self))
      let high = UInt64(source.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
      // The words overlap by 8 − count bytes.
      word = low | high << UInt64(truncatingIfNeeded: 8 &* (count &- 4))
    } else if count > 0 {
      let first = UInt64(source.load(as: UInt8.self))
      let middle = UInt64(source.load(fromByteOffset: count >> 1, as: UInt8.self))
      let last = UInt64(source.load(fromByteOffset: count &- 1, as: UInt8.self))
      word =
        first | middle << UInt64(truncatingIfNeeded: 8 &* (count >> 1))
        | last << UInt64(truncatingIfNeeded: 8 &* (count &- 1))
    } else {
      return fill
    }
    if fill != 0 { word |= fill & (UInt64.max << UInt64(truncatingIfNeeded: 8 &* count)) }
    return word
  }

  @inline(__always)
  static func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, count: Int) -> Bool {
    var index = 0
    while index &+ 8 <= count {
      if a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        != b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      {
        return false
      }
      index &+= 8
    }
    return load(a + index, count: count &- index) == load(b + index, count: count &- index)
  }

  /// Compares bytes behind each of which seven more can be read.
  @inline(__always)
  static func areEqualPadded(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, count: Int) -> Bool {
    @inline(__always)
    func difference(_ offset: Int) -> UInt64 {
      a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        ^ b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
    if count < 8 {
      return count == 0
        || difference(0).littleEndian &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count) == 0
    }
    // The last word overlaps the one before.
    if (difference(0) | difference(count &- 8)) != 0 { return false }
    var index = 8
    while index < count &- 8 {
      if difference(index) != 0 { return false }
      index &+= 8
    }
    return true
  }

  /// Marks the bytes that end a run of plain characters in a JSON text: controls, quotes, backslashes and
  /// non-ASCII. Only the lowest mark is reliable; higher ones may be false.
  @inline(__always)
  static func endsOfPlainText(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let isControl = word &- ones &* 0x20
    let isQuote = (word ^ ones &* 0x22) &- ones
    let isBackslash = (word ^ ones &* 0x5c) &- ones
    return (word | isControl | isQuote | isBackslash) & (ones &* 0x80)
  }

  /// All ones in the first `count` bytes, at most 16.
  @inline(__always)
  static func firstBytes(_ count: Int) -> SIMD2<UInt64> {
    onesAndZeros.withUnsafeBytes {
      $0.loadUnaligned(fromByteOffset: 16 &- min(count, 16), as: SIMD2<UInt64>.self)
    }
  }

  private static let onesAndZeros: [UInt64] = [.max, .max, 0, 0]

  /// Copies bytes up to the first word in which `special` marks a byte, and returns their number.
  ///
  /// The target needs room for `count` bytes and seven more, and for eight if there are none.
  @inline(__always)
  static func copyPlain(
    from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, special: (UInt64) -> UInt64
  ) -> Int {
    @inline(__always)
    func word(_ offset: Int) -> UInt64 { source.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    @inline(__always)
    func copyTwo(_ first: Int, _ second: Int) -> Bool {
      let words = (word(first), word(second))
      if (special(words.0) | special(words.1)) != 0 { return false }
      target.storeBytes(of: words.0, toByteOffset: first, as: UInt64.self)
      target.storeBytes(of: words.1, toByteOffset: second, as: UInt64.self)
      return true
    }
    // The last words overlap those before.
    if count >= 16 {
      var index = 0
      while index &+ 16 <= count {
        guard copyTwo(index, index &+ 8) else { return index }
        index &+= 16
      }
      return index == count || copyTwo(count &- 16, count &- 8) ? count : index
    }
    if count >= 8 { return copyTwo(0, count &- 8) ? count : 0 }
    let rest = load(source, count: count, fill: 0x2020_2020_2020_2020)
    if special(rest) != 0 { return 0 }
    target.storeBytes(of: rest, as: UInt64.self)
    return count
  }

  /// How often a byte occurs.
  static func count(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int {
    count(of: byte, underMask: 0xff, in: bytes)
  }

  /// The number of characters of a text in UTF-8: of bytes that do not continue one.
  static func countOfCharacters(in text: UnsafeRawBufferPointer) -> Int {
    text.count - count(of: 0x80, underMask: 0xc0, in: text)
  }

  /// How many bytes are equal to one in the bits of a mask.
  @inline(__always)
  private static func count(of byte: UInt8, underMask mask: UInt8, in bytes: UnsafeRawBufferPointer) -> Int {
    var count = 0
    var index = 0
    let wanted = SIMD16<UInt8>(repeating: byte)
    while bytes.count - index >= 16 {
      // A lane holds up to 255.
      let end = min(bytes.count & ~15, index + 255 * 16)
      var lanes = SIMD16<UInt8>()
      while index < end {
        let block = bytes.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
        lanes &-= unsafeBitCast(block & mask .== wanted, to: SIMD16<UInt8>.self)
        index &+= 16
      }
      count += Int(SIMD16<UInt16>(truncatingIfNeeded: lanes).wrappedSum())
    }
    for other in bytes[index...] where other & mask == byte { count += 1 }
    return count
  }

  /// The number of digits before the first other byte; the lowest byte is the first.
  @inline(__always)
  static func leadingDigits(_ word: UInt64) -> Int {
    // No carry comes from the bytes before the lowest mark.
    otherThanDigits(word).trailingZeroBitCount &>> 3
  }

  /// Whether all bytes are digits.
  @inline(__always)
  static func areDigits(_ word: UInt64) -> Bool { otherThanDigits(word) == 0 }

  /// Marks the bytes that are not digits. Only the lowest mark is reliable.
  @inline(__always)
  private static func otherThanDigits(_ word: UInt64) -> UInt64 {
    let values = word ^ 0x3030_3030_3030_3030
    return (values &+ 0x7676_7676_7676_7676 | values) & 0x8080_8080_8080_8080
  }

  /// The number of the first digits, of which there is at least one.
  @inline(__always)
  static func number(_ word: UInt64, digits count: Int) -> UInt64 {
    let shift = UInt64(truncatingIfNeeded: 8 &* count)
    return number(word &<< (64 &- shift) | (0x3030_3030_3030_3030 as UInt64) &>> shift)
  }

  /// The number of eight digits, of which the lowest byte is the first.
  @inline(__always)
  static func number(_ digits: UInt64) -> UInt64 {
    let mask: UInt64 = 0x0000_00ff_0000_00ff
    var value = digits &- 0x3030_3030_3030_3030
    value = value &* 10 &+ value &>> 8
    return
      ((value & mask) &* 0x000f_4240_0000_0064 &+ (value &>> 16 & mask) &* 0x0000_2710_0000_0001) &>> 32
  }
}
