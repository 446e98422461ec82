/// A timeout in the form of a protocol's header.
enum Timeout {
  /// The value of `grpc-timeout`: at most eight digits and a unit (gRPC over HTTP/2, "Timeout").
  ///
  /// Uses the finest unit that fits and rounds up, so that the server's deadline is never before the
  /// client's.
  static func grpc(_ timeout: Duration) -> String {
    let nanoseconds = max(timeout.nanoseconds, 1)
    let units: [(String, Int64)] = [
      ("n", 1), ("u", 1_000), ("m", 1_000_000), ("S", 1_000_000_000), ("M", 60_000_000_000),
      ("H", 3_600_000_000_000),
    ]
    for (unit, size) in units {
      let value = nanoseconds / size + (nanoseconds % size == 0 ? 0 : 1)
      if value <= 99_999_999 { return "\(value)\(unit)" }
    }
    return "99999999H"
  }

  /// Parses the value of `grpc-timeout`; returns nil if it is invalid.
  static func parse(grpc text: String, minimum: Int64 = 1) -> Duration? {
    guard let unit = text.last, let count = digits(text.dropLast(), limit: 8, minimum) else { return nil }
    return switch unit {
    case "n": .nanoseconds(count)
    case "u": .microseconds(count)
    case "m": .milliseconds(count)
    case "S": .seconds(count)
    case "M": .seconds(count * 60)
    case "H": .seconds(count * 3600)
    default: nil
    }
  }

  /// Parses the value of `connect-timeout-ms`; returns nil if it is invalid.
  static func parse(connect text: String, minimum: Int64 = 1) -> Duration? {
    digits(text[...], limit: 10, minimum).map { .milliseconds($0) }
  }

  /// A number of at most `limit` digits.
  private static func digits(_ text: Substring, limit: Int, _ minimum: Int64) -> Int64? {
    guard (1...limit).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
      let number = Int64(text), number >= minimum
    else { return nil }
    return number
  }

  /// The value of `connect-timeout-ms`: at most ten digits (Connect protocol, "Timeout-Milliseconds").
  static func connect(_ timeout: Duration) -> String {
    let nanoseconds = max(timeout.nanoseconds, 1)
    return "\(min(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1), 9_999_999_999))"
  }
}

extension ProtocolName {
  /// The header with the timeout of a call, and what its value is.
  package var timeoutHeader: (name: String, syntax: String) {
    switch self {
    case .grpc, .grpcWeb:
      ("grpc-timeout", "up to 8 digits and a unit (n, u, m, S, M, H): 100m is 100 milliseconds")
    case .connect: ("connect-timeout-ms", "milliseconds of up to 10 digits")
    }
  }

  /// Parses the value of the header with the timeout; returns nil if it is invalid.
  package func timeout(_ value: String) -> Duration? { timeout(value, minimum: 1) }

  /// Parses the value of the header with the timeout; returns nil if it is invalid, or less than `minimum` of its unit.
  func timeout(_ value: String, minimum: Int64) -> Duration? {
    let value = HeaderSyntax.trimmed(value)
    return self == .connect
      ? Timeout.parse(connect: value, minimum: minimum) : Timeout.parse(grpc: value, minimum: minimum)
  }

  /// Throws if a value of the header with the timeout is invalid.
  package func checkTimeout(in headers: Headers) throws(RPCError) {
    let (name, syntax) = timeoutHeader
    guard headers.values(name).allSatisfy({ timeout($0) != nil }) else {
      throw RPCError(
        .invalidArgument, "the value of \(name) is not a timeout: write \(syntax)", origin: .request)
    }
  }

  /// Removes the timeout from headers: a request has the time left until the deadline.
  ///
  /// - Returns: The shortest of the timeouts and another limit; nil if there is none.
  package func takeTimeout(from headers: inout Headers, limit: Duration?) -> Duration? {
    let timeouts = headers.values(timeoutHeader.name).compactMap(timeout)
    if !timeouts.isEmpty { headers.remove(timeoutHeader.name) }
    return (timeouts + [limit].compactMap(\.self)).min()
  }
}
