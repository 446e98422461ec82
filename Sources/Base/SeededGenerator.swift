/// A random number generator with a seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator with this seed; `nil` for a random seed.
  package init(seed: UInt64?) {
    state = seed ?? .random(in: .min ... .max)
  }

  /// The next number, of 64 random bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A random number from 0 up to, but not including, 1.
  package mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
