import RPCurlBase
import RPCurlProtobuf

/// Numbers and times as the messages of rules contain them.
package enum DecimalText {
  /// The shortest decimal form without an exponent.
  package static func plain(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    var text = "\(number.magnitude)"
    if let e = text.firstIndex(of: "e"), let exponent = Int(text[text.index(after: e)...]) {
      var digits = text[..<e].filter { $0 != "." }
      // The position of the decimal point in the digits.
      let point = (text.firstIndex(of: ".").map { text[..<$0].count } ?? digits.count) + exponent
      if point <= 0 {
        text = "0." + String(repeating: "0", count: -point) + digits
      } else {
        if digits.count < point { digits += String(repeating: "0", count: point - digits.count) }
        text = digits.prefix(point) + "." + digits.dropFirst(point)
      }
    }
    if text.contains(where: { $0 == "." }) {
      while text.last == "0" { text.removeLast() }
      if text.last == "." { text.removeLast() }
    }
    return (number.sign == .minus ? "-" : "") + text
  }

  /// A number of seconds, such as `1.5s`.
  package static func duration(nanoseconds: Int128) -> String {
    let magnitude = nanoseconds.magnitude
    return (nanoseconds < 0 ? "-" : "") + "\(magnitude / 1_000_000_000)"
      + fraction(UInt64(truncatingIfNeeded: magnitude % 1_000_000_000)) + "s"
  }

  /// A time in UTC, such as `1970-01-01T00:00:10Z`.
  package static func timestamp(nanoseconds: Int128) -> String {
    let billion: Int128 = 1_000_000_000
    let rest = (nanoseconds % billion + billion) % billion
    let seconds = (nanoseconds - rest) / billion
    let hundredYears: Int128 = 100 * 366 * 86400
    guard seconds.magnitude < hundredYears.magnitude * 100 else { return "\(seconds)s" }
    return CivilTime.secondsText(Int64(seconds)) + fraction(UInt64(rest)) + "Z"
  }

  private static func fraction(_ nanoseconds: UInt64) -> String {
    guard nanoseconds != 0 else { return "" }
    var digits = String(nanoseconds)
    digits = String(repeating: "0", count: 9 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return "." + digits
  }
}
