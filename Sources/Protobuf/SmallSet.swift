/// A set of numbers, optimized for numbers below 64.
struct SmallSet {
  private var bits: UInt64 = 0
  private var others: Set<Int>?

  /// Returns false if the number was already in the set.
  @inline(__always)
  mutating func insert(_ number: Int) -> Bool {
    guard number < 64 else { return insertLarge(number) }
    let bit: UInt64 = 1 << UInt64(number)
    if bits & bit != 0 { return false }
    bits |= bit
    return true
  }

  @inline(never)
  private mutating func insertLarge(_ number: Int) -> Bool {
    if others == nil { others = [] }
    return others?.insert(number).inserted ?? true
  }
}
