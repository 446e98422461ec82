/// Decimal digits of integers, written two or eight at a time.
enum DecimalDigits {
  @inline(__always)
  private static var pairs: UnsafePointer<UInt8> {
    let pairs: StaticString =
      """
      00010203040506070809101112131415161718192021222324252627282930313233343536373839\
      40414243444546474849505152535455565758596061626364656667686970717273747576777879\
      8081828384858687888990919293949596979899
      """
    return pairs.utf8Start
  }

  /// Writes two digits of a number below 100.
  @inline(__always)
  static func writePair(_ value: UInt32, at place: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(place).storeBytes(
      of: UnsafeRawPointer(pairs + 2 &* Int(value)).loadUnaligned(as: UInt16.self), as: UInt16.self)
  }

  /// The values of the eight digits of a number below 100,000,000: the lowest byte is the first digit.
  @inline(__always)
  static func eight(_ value: UInt32) -> UInt64 {
    let high = value / 10_000
    // Two numbers of four digits become four of two digits, and these become eight digits.
    let fours = UInt64(high) | UInt64(value &- high &* 10_000) &<< 32
    let hundreds = (fours &* 10_486) &>> 20 & 0x0000_007f_0000_007f
    let twos = hundreds | (fours &- hundreds &* 100) &<< 16
    let tens = (twos &* 103) &>> 10 & 0x000f_000f_000f_000f
    return tens | (twos &- tens &* 10) &<< 8
  }

  /// Writes the values of eight digits.
  @inline(__always)
  static func store(_ digits: UInt64, at place: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(place).storeBytes(
      of: (digits | 0x3030_3030_3030_3030).littleEndian, as: UInt64.self)
  }

  /// Writes a number below 100,000,000 and returns the number of digits.
  @inline(__always)
  private static func writeShort(_ value: UInt32, at place: UnsafeMutablePointer<UInt8>) -> Int {
    let digits = eight(value)
    // The last digit counts also if it is zero.
    let zeros = (digits | 1 &<< 56).trailingZeroBitCount &>> 3
    store(digits &>> UInt64(truncatingIfNeeded: 8 &* zeros), at: place)
    return 8 &- zeros
  }

  /// Writes a number at `place`, which has room for 24 bytes, and returns the number of digits.
  @inline(never)
  static func write(_ value: UInt64, at place: UnsafeMutablePointer<UInt8>) -> Int {
    if value < 10 {
      place.pointee = 48 | UInt8(truncatingIfNeeded: value)
      return 1
    }
    if value < 100 {
      writePair(UInt32(truncatingIfNeeded: value), at: place)
      return 2
    }
    if value < 100_000_000 { return writeShort(UInt32(truncatingIfNeeded: value), at: place) }
    let high = value / 100_000_000
    let low = UInt32(truncatingIfNeeded: value &- high &* 100_000_000)
    var count = 0
    if high < 100_000_000 {
      count = writeShort(UInt32(truncatingIfNeeded: high), at: place)
    } else {
      let top = high / 100_000_000
      count = writeShort(UInt32(truncatingIfNeeded: top), at: place)
      store(eight(UInt32(truncatingIfNeeded: high &- top &* 100_000_000)), at: place + count)
      count &+= 8
    }
    store(eight(low), at: place + count)
    return count &+ 8
  }
}
