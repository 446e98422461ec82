/// Decimal digits of integers, written two at a time.
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

  @inline(__always)
  static func count(_ value: UInt64) -> Int {
    let bits = 64 &- (value | 1).leadingZeroBitCount
    let guess = (bits &* 1233) >> 12
    return guess &+ (value >= power(guess) ? 1 : 0)
  }

  @inline(__always)
  private static func power(_ exponent: Int) -> UInt64 {
    powers.withUnsafeBufferPointer { $0[exponent] }
  }

  private static let powers: [UInt64] = [
    0, 10, 100, 1000, 10000, 100000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
    100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
    10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
  ]

  /// Writes a number at `place`, which has room for 20 digits, and returns the number of digits.
  @inline(__always)
  static func write(_ value: UInt64, at place: UnsafeMutablePointer<UInt8>) -> Int {
    if value < 10 {
      place.pointee = 48 | UInt8(truncatingIfNeeded: value)
      return 1
    }
    let count = count(value)
    write(value, count, at: place)
    return count
  }

  /// Writes the last `count` digits, with leading zeros.
  @inline(__always)
  static func write(_ value: UInt64, _ count: Int, at place: UnsafeMutablePointer<UInt8>) {
    var rest = value
    var position = count
    while position >= 4 {
      let quotient = rest / 10_000
      let four = UInt32(truncatingIfNeeded: rest &- quotient &* 10_000)
      rest = quotient
      let high = four / 100
      writePair(four &- high &* 100, at: place + position - 2)
      writePair(high, at: place + position - 4)
      position &-= 4
    }
    if position >= 2 {
      writePair(UInt32(truncatingIfNeeded: rest % 100), at: place + position - 2)
      rest /= 100
      position &-= 2
    }
    if position > 0 { place.pointee = 48 | UInt8(truncatingIfNeeded: rest % 10) }
  }
}
