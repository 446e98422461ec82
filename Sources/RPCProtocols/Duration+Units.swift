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
}
