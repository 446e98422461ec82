/// Numbers with a fixed number of decimals. The standard library does not print them.
enum Decimal {
  /// The text of a number.
  ///
  /// - Parameters:
  ///   - value: The number; one that is not finite or too large is 0.
  ///   - digits: The number of digits after the point.
  static func text(_ value: Double, _ digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = (value.magnitude * Double(scale)).rounded()
    guard scaled.isFinite, scaled < 9e18 else { return "0" }
    let number = Int(scaled)
    let sign = value < 0 && number > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(number)" }
    // The digits after the point, with their leading zeros.
    return "\(sign)\(number / scale).\(String(number % scale + scale).dropFirst())"
  }

  /// A duration in milliseconds, to the microsecond.
  static func milliseconds(_ duration: Duration) -> String { text(duration / .milliseconds(1), 3) }

  /// A duration in seconds, to the millisecond.
  static func seconds(_ duration: Duration) -> String { text(duration / .seconds(1), 3) }

  /// A number without needless zeros after the point, such as a rate that was given.
  static func short(_ value: Double) -> String {
    var text = text(value, 6)
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// A number of bytes with its unit.
  static func size(_ bytes: Int) -> String {
    guard bytes >= 1000 else { return "\(bytes) B" }
    var value = Double(bytes) / 1000
    for unit in ["kB", "MB", "GB"] {
      if value < 1000 { return "\(text(value, 1)) \(unit)" }
      value /= 1000
    }
    return "\(text(value, 1)) TB"
  }

  /// A fraction in percent.
  static func percent(_ fraction: Double) -> String { "\(text(fraction * 100, 3)) %" }
}
