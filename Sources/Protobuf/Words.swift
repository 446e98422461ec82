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

  /// Copies bytes up to the first word in which `special` marks a byte, and returns their number.
  ///
  /// The target needs room for seven bytes more.
  @inline(__always)
  static func copyPlain(
    from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, special: (UInt64) -> UInt64
  ) -> Int {
    var index = 0
    while index &+ 16 <= count {
      let first = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let second = source.loadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
      if (special(first) | special(second)) != 0 { return index }
      target.storeBytes(of: first, toByteOffset: index, as: UInt64.self)
      target.storeBytes(of: second, toByteOffset: index &+ 8, as: UInt64.self)
      index &+= 16
    }
    if index &+ 8 <= count {
      let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if special(word) != 0 { return index }
      target.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    if index < count {
      let word = load(source + index, count: count &- index, fill: 0x2020_2020_2020_2020)
      if special(word) != 0 { return index }
      target.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
    }
    return count
  }

  /// Whether all bytes are digits.
  @inline(__always)
  static func areDigits(_ word: UInt64) -> Bool {
    let sixes: UInt64 = 0x0606_0606_0606_0606
    let highs: UInt64 = 0xf0f0_f0f0_f0f0_f0f0
    return word & highs | ((word &+ sixes) & highs) &>> 4 == 0x3333_3333_3333_3333
  }

  /// The number of eight digits.
  @inline(__always)
  static func number(_ digits: UInt64) -> UInt64 {
    let mask: UInt64 = 0x0000_00ff_0000_00ff
    var value = UInt64(littleEndian: digits) &- 0x3030_3030_3030_3030
    value = value &* 10 &+ value &>> 8
    return
      ((value & mask) &* 0x000f_4240_0000_0064 &+ (value &>> 16 & mask) &* 0x0000_2710_0000_0001) &>> 32
  }
}
