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

  /// The value of `connect-timeout-ms`: at most ten digits (Connect protocol, "Timeout-Milliseconds").
  static func connect(_ timeout: Duration) -> String {
    let nanoseconds = max(timeout.nanoseconds, 1)
    return "\(min(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1), 9_999_999_999))"
  }
}
