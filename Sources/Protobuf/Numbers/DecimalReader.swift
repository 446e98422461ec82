/// Reads numbers of JSON and text format in common notation, with a single scan of the text.
///
/// `JSONNumber` and `TextScanner` handle other notations.
enum DecimalReader {
  /// Reads `0` or up to 19 digits without a leading zero; the position after them is nil if there are none or
  /// more.
  @inline(__always)
  static func digits(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> (value: UInt64, end: UnsafePointer<UInt8>?) {
    var place = start
    guard let value = digits(&place, end, after: 0) else { return (0, nil) }
    let count = place - start
    if count == 0 || count > 19 || count > 1 && start.pointee == 48 { return (0, nil) }
    return (value, place)
  }

  /// Reads a whole number that `kind` can represent, as 64 bits in two's complement, and returns the position after it.
  @inline(__always)
  static func integer(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ kind: FieldKind
  ) -> (bits: UInt64, end: UnsafePointer<UInt8>)? {
    guard start < end else { return nil }
    let isNegative = start.pointee == UInt8(ascii: "-")
    let (magnitude, found) = digits(isNegative ? start + 1 : start, end)
    guard let place = found, magnitude <= kind.limit(isNegative: isNegative) else { return nil }
    return (isNegative ? 0 &- magnitude : magnitude, place)
  }

  /// Whether a byte after a number certainly ends it.
  @inline(__always)
  static func isEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || byte <= 0x20
  }

  /// Reads further digits after those with the value `value`; nil if there are too many.
  @inline(__always)
  private static func digits(
    _ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, after value: UInt64
  ) -> UInt64? {
    var value = value
    let limit = place + 24
    while end - place >= 8 {
      let word = UnsafeRawPointer(place).loadUnaligned(as: UInt64.self).littleEndian
      let count = Words.leadingDigits(word)
      guard count == 8 else {
        if count == 0 { return value }
        if place >= limit { return nil }
        place += count
        return value &* (smallPowers.withUnsafeBufferPointer { $0[count] })
          &+ Words.number(word, digits: count)
      }
      if place >= limit { return nil }
      value = value &* 100_000_000 &+ Words.number(word)
      place += 8
    }
    while place < end {
      let digit = place.pointee &- 48
      if digit > 9 { break }
      if place >= limit { return nil }
      value = value &* 10 &+ UInt64(digit)
      place += 1
    }
    return value
  }

  private static let smallPowers: [UInt64] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]

  /// The value of a whole token; nil for others than numbers with up to 19 digits, and where rounding is uncertain.
  static func double(_ token: UnsafeRawBufferPointer) -> Double? {
    guard let start = token.baseAddress?.assumingMemoryBound(to: UInt8.self),
      let (value, end) = double(start, start + token.count), end == start + token.count
    else { return nil }
    return value
  }

  /// Reads the magnitude of a number with up to 19 digits; nil for others and where rounding is uncertain.
  @inline(__always)
  static func double(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> (value: Double, end: UnsafePointer<UInt8>)? {
    var place = start
    guard var digits = digits(&place, end, after: 0) else { return nil }
    var count = place - start
    if count == 0 || count > 1 && start.pointee == 48 { return nil }
    if start.pointee == 48 { count = 0 }
    var exponent = 0
    if place < end, place.pointee == UInt8(ascii: ".") {
      place += 1
      let first = place
      guard let more = self.digits(&place, end, after: digits) else { return nil }
      digits = more
      exponent = first - place
      if exponent == 0 { return nil }
      count &-= exponent
    }
    if count > 19 { return nil }
    if place < end, place.pointee | 0x20 == UInt8(ascii: "e") {
      place += 1
      guard let stated = self.exponent(&place, end) else { return nil }
      exponent &+= stated
    }
    guard let value = nearest(digits, exponent) else { return nil }
    return (value, place)
  }

  @inline(never)
  private static func exponent(_ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int? {
    guard place < end else { return nil }
    let isNegative = place.pointee == UInt8(ascii: "-")
    if isNegative || place.pointee == UInt8(ascii: "+") { place += 1 }
    let first = place
    var value = 0
    while place < end, place.pointee &- 48 <= 9, place - first < 5 {
      value = value * 10 + Int(place.pointee - 48)
      place += 1
    }
    if place == first || place - first == 5 { return nil }
    return isNegative ? -value : value
  }

  /// The double nearest to digits × 10^exponent.
  @inline(__always)
  private static func nearest(_ digits: UInt64, _ exponent: Int) -> Double? {
    if digits == 0 { return 0 }
    // One exact operation on two exact numbers (Clinger 1990).
    if digits < 1 << 53, exponent >= -22, exponent <= 22 {
      let power = powers.withUnsafeBufferPointer { $0[exponent < 0 ? 0 &- exponent : exponent] }
      return exponent < 0 ? Double(digits) / power : Double(digits) * power
    }
    return approximate(digits, exponent)
  }

  /// Daniel Lemire, “Number Parsing at a Gigabyte per Second”, 2021; nil for a subnormal or too large result.
  @inline(__always)
  private static func approximate(_ digits: UInt64, _ exponent: Int) -> Double? {
    guard exponent >= -342, exponent <= 308 else { return nil }
    let zeros = digits.leadingZeroBitCount
    let shifted = digits &<< UInt64(truncatingIfNeeded: zeros)
    var (powerHigh, powerLow) = PowersOfTen.significand(exponent)
    if exponent > 55 {
      // The table is rounded up; this method requires truncation.
      if powerLow == 0 { powerHigh &-= 1 }
      powerLow &-= 1
    }
    var product = shifted.multipliedFullWidth(by: powerHigh)
    if product.high & 0x1ff == 0x1ff {
      let second = shifted.multipliedFullWidth(by: powerLow)
      let (sum, carry) = product.low.addingReportingOverflow(second.high)
      product = (product.high &+ (carry ? 1 : 0), sum)
    }
    let upper = product.high &>> 63
    let shift = upper &+ 9
    var mantissa = product.high &>> shift
    let binary = PowersOfTen.log2(exponent) &+ 63 &+ Int(upper) &- zeros &+ 1023
    guard binary > 0 else { return nil }
    if product.low <= 1, exponent >= -4, exponent <= 23, mantissa & 3 == 1,
      mantissa &<< shift == product.high
    {
      // Exactly between two doubles: round to even.
      mantissa &= ~1
    }
    mantissa = (mantissa &+ mantissa & 1) &>> 1
    var biased = binary
    if mantissa >= 2 << 52 {
      mantissa = 1 << 52
      biased &+= 1
    }
    guard biased < 2047 else { return nil }
    return Double(bitPattern: UInt64(biased) &<< 52 | mantissa & (1 << 52 &- 1))
  }

  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
  ]
}

extension FieldKind {
  /// The greatest magnitude of a whole number of this kind.
  @inline(__always)
  func limit(isNegative: Bool) -> UInt64 {
    switch self {
    case .uint32, .fixed32: isNegative ? 0 : UInt64(UInt32.max)
    case .uint64, .fixed64: isNegative ? 0 : UInt64.max
    case .int32, .sint32, .sfixed32: UInt64(Int32.max) + (isNegative ? 1 : 0)
    default: UInt64(Int64.max) + (isNegative ? 1 : 0)
    }
  }
}
