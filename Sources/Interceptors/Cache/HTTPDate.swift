import RPCurlProtobuf

/// The time of a header of HTTP.
enum HTTPDate {
  private static let months: [Substring] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Reads a time such as `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate; RFC 9110, section 5.6.7).
  ///
  /// - Returns: The seconds since 1970; nil if it has another form.
  static func seconds(_ text: String) -> Int64? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let index = months.firstIndex(of: parts[2]) else { return nil }
    let month = index < 9 ? "0\(index + 1)" : "\(index + 1)"
    return WellKnownMessages.seconds(
      ofTimestamp: JSONValue.quoted("\(parts[3])-\(month)-\(parts[1])T\(parts[4])Z"))
  }
}
