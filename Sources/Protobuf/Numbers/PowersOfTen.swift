/// Powers of ten with 128 significant bits, rounded up: the table for both printing and reading doubles.
enum PowersOfTen {
  @inline(__always)
  static func significand(_ exponent: Int) -> (high: UInt64, low: UInt64) {
    let index = 2 &* (exponent &- first)
    return words.withUnsafeBufferPointer { ($0[index], $0[index &+ 1]) }
  }

  /// ⌊log₂ 10^exponent⌋
  @inline(__always)
  static func log2(_ exponent: Int) -> Int { (exponent &* 1_741_647) >> 19 }
}
