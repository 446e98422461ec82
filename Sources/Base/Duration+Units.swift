extension Duration {
  /// The whole milliseconds, rounded toward zero and clamped to the range of the type.
  package var milliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }

  /// The whole microseconds, rounded toward zero and clamped to the range of the type.
  package var microseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000) }

  /// The whole nanoseconds, rounded toward zero and clamped to the range of the type.
  package var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// The duration rounded to the nearest millisecond, for display.
  package var roundedToMilliseconds: Duration {
    .milliseconds((self + .microseconds(self < .zero ? -500 : 500)).milliseconds)
  }

  /// The duration for people: `10.0 seconds`, `0.25 seconds`. Exact to the nanosecond, unlike `description`, which prints
  /// a sum of binary fractions.
  package var inSeconds: String {
    let magnitude = nanoseconds.magnitude
    var fraction = String(1_000_000_000 + magnitude % 1_000_000_000).dropFirst()
    while fraction.count > 1, fraction.last == "0" { fraction.removeLast() }
    return "\(nanoseconds < 0 ? "-" : "")\(magnitude / 1_000_000_000).\(fraction) seconds"
  }
}
