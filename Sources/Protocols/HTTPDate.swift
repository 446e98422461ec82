import RPCurlProtobuf

/// Times of headers of HTTP and of certificates.
package enum HTTPDate {
  private static let months: [Substring] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Reads a time such as `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate; RFC 9110, section 5.6.7).
  ///
  /// - Returns: The seconds since 1970; nil if it has another form.
  package static func seconds(_ text: String) -> Int64? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT" else { return nil }
    return seconds(year: parts[3], month: parts[2], day: parts[1], time: parts[4])
  }

  /// Reads a time as libcurl writes that of a certificate, such as `Nov  6 08:49:37 1994 GMT`.
  ///
  /// - Returns: The seconds since 1970; nil if it has another form.
  package static func seconds(ofCertificate text: String) -> Int64? {
    let parts = text.split(separator: " ")
    guard parts.count == 5, parts[4] == "GMT" else { return nil }
    let day = parts[1].utf8.count < 2 ? "0\(parts[1])" : parts[1]
    return seconds(year: parts[3], month: parts[0], day: day, time: parts[2])
  }

  private static func seconds(
    year: Substring, month: Substring, day: Substring, time: Substring
  ) -> Int64? {
    guard let index = months.firstIndex(of: month) else { return nil }
    let month = index < 9 ? "0\(index + 1)" : "\(index + 1)"
    return WellKnownMessages.seconds(ofTimestamp: JSONValue.quoted("\(year)-\(month)-\(day)T\(time)Z"))
  }
}
