/// The shortest decimal that reads back as the same number; the nearest one if there are several.
///
/// The method is Schubfach (Raffaello Giulietti, “The Schubfach way to render doubles”, 2020).
struct ShortestDecimal {
  var digits: UInt64
  /// The power of ten of the last digit.
  var exponent: Int

  /// Converts the magnitude of a finite double.
  init(_ value: Double) {
    let significand = value.significandBitPattern
    let biased = Int(value.exponentBitPattern)
    var c = significand
    var q = 1 - 1075
    if biased != 0 {
      c |= 1 << 52
      q = biased - 1075
    }
    let isCloser = significand == 0 && biased > 1
    let k = ShortestDecimal.decimalExponent(q, isCloser)
    let h = UInt64(truncatingIfNeeded: q &+ PowersOfTen.log2(-k) &+ 1)
    let power = PowersOfTen.significand(-k)
    @inline(__always)
    func scaled(_ value: UInt64) -> UInt64 {
      let shifted = value << h
      let low = power.low.multipliedFullWidth(by: shifted).high
      let high = power.high.multipliedFullWidth(by: shifted)
      let (middle, carry) = high.low.addingReportingOverflow(low)
      return high.high &+ (carry ? 1 : 0) | (middle > 1 ? 1 : 0)
    }
    self.init(
      lower: scaled(4 &* c &- (isCloser ? 1 : 2)), middle: scaled(4 &* c), upper: scaled(4 &* c &+ 2),
      isEven: c & 1 == 0, exponent: k)
  }

  /// Converts the magnitude of a finite float.
  init(_ value: Float) {
    let significand = value.significandBitPattern
    let biased = Int(value.exponentBitPattern)
    var c = UInt64(significand)
    var q = 1 - 150
    if biased != 0 {
      c |= 1 << 23
      q = biased - 150
    }
    let isCloser = significand == 0 && biased > 1
    let k = ShortestDecimal.decimalExponent(q, isCloser)
    let h = UInt64(truncatingIfNeeded: q &+ PowersOfTen.log2(-k) &+ 1)
    let (high, low) = PowersOfTen.significand(-k)
    // The high half, rounded up.
    let power = high &+ (low != 0 ? 1 : 0)
    @inline(__always)
    func scaled(_ value: UInt64) -> UInt64 {
      let product = power.multipliedFullWidth(by: value << h)
      let middle = product.low >> 32
      return product.high & 0xffff_ffff | (middle > 1 ? 1 : 0)
    }
    self.init(
      lower: scaled(4 &* c &- (isCloser ? 1 : 2)), middle: scaled(4 &* c), upper: scaled(4 &* c &+ 2),
      isEven: c & 1 == 0, exponent: k)
  }

  /// ⌊log₁₀ of the distance to the neighbours⌋
  @inline(__always)
  private static func decimalExponent(_ q: Int, _ isCloser: Bool) -> Int {
    (q &* 1_262_611 &- (isCloser ? 524_031 : 0)) >> 22
  }

  /// Makes it from four times the value and the bounds of the interval that reads back as it, in units of
  /// 10^exponent.
  @inline(__always)
  private init(lower: UInt64, middle: UInt64, upper: UInt64, isEven: Bool, exponent: Int) {
    let low = lower &+ (isEven ? 0 : 1)
    let high = upper &- (isEven ? 0 : 1)
    let s = middle >> 2
    if s >= 10 {
      let tenth = s / 10
      let isBelowInside = low <= 40 &* tenth
      let isAboveInside = 40 &* tenth &+ 40 <= high
      if isBelowInside != isAboveInside {
        digits = tenth &+ (isAboveInside ? 1 : 0)
        self.exponent = exponent &+ 1
        dropZeros()
        return
      }
    }
    let isBelowInside = low <= 4 &* s
    let isAboveInside = 4 &* s &+ 4 <= high
    self.exponent = exponent
    if isBelowInside != isAboveInside {
      digits = s &+ (isAboveInside ? 1 : 0)
    } else {
      let half = 4 &* s &+ 2
      digits = s &+ (middle > half || middle == half && s & 1 != 0 ? 1 : 0)
    }
    dropZeros()
  }

  @inline(__always)
  private mutating func dropZeros() {
    while digits >= 100_000_000, digits % 100_000_000 == 0 {
      digits /= 100_000_000
      exponent &+= 8
    }
    while digits >= 10 {
      let (quotient, remainder) = (digits / 10, digits % 10)
      if remainder != 0 { return }
      digits = quotient
      exponent &+= 1
    }
  }
}
