extension Duration {
  /// Parses a number with a unit: `s` (the default), `ms`, `us`, `ns`, `m`, `h` or `d`.
  package init?(written text: some StringProtocol) {
    let units: [(String, Double)] = [
      ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("s", 1), ("m", 60), ("h", 3600),
      ("d", 86400),
    ]
    let unit = units.first { text.hasSuffix($0.0) }
    let digits = text.dropLast(unit?.0.count ?? 0)
    guard let first = digits.utf8.first, (0x30...0x39).contains(first) || first == UInt8(ascii: "."),
      !digits.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }), let number = Double(digits),
      number.isFinite, number * (unit?.1 ?? 1) < 1e9
    else { return nil }
    self = .nanoseconds(Int64((number * (unit?.1 ?? 1) * 1e9).rounded()))
  }

  /// Milliseconds, to the microsecond.
  package var millisecondsText: String {
    let microseconds = attoseconds / 1_000_000_000_000
    let fraction = String(microseconds.magnitude % 1000)
    let zeros = String(repeating: "0", count: 3 - fraction.count)
    return "\(microseconds < 0 ? "-" : "")\(microseconds.magnitude / 1000).\(zeros)\(fraction)"
  }
}
