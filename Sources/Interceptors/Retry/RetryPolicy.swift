import RPCProtocols

/// When a call is tried again, and how long after (gRFC A6, "Retry Policy Capabilities").
struct RetryPolicy: Sendable, Equatable {
  /// How often a call is tried at most, the first time included.
  var attempts: Int
  /// What is waited before the second attempt.
  var initialBackoff: Duration
  /// What is waited at most.
  var maxBackoff: Duration
  /// How much longer each wait is than the one before.
  var multiplier: Double
  /// The statuses that are tried again.
  var codes: Set<StatusCode>

  /// The time to wait before a retry.
  ///
  /// - Parameters:
  ///   - number: The retry's number since the beginning, or since the server last told a time; from 1 on.
  ///   - fraction: A random number from 0 up to 1.
  ///   - jitter: How much of the time the random number adds or takes at most.
  func backoff(beforeRetry number: Int, fraction: Double, jitter: Double) -> Duration {
    let limit = maxBackoff / .seconds(1)
    var seconds = min(initialBackoff / .seconds(1), limit)
    for _ in 1..<max(number, 1) where seconds < limit { seconds = min(seconds * multiplier, limit) }
    return .seconds(seconds * (1 - jitter + 2 * jitter * fraction))
  }
}

/// What a server says with `grpc-retry-pushback-ms` about being called again (gRFC A6, "Pushback").
enum RetryPushback: Equatable {
  /// Try again after this time.
  case after(Duration)
  /// Do not try again.
  case refused

  static let headerName = "grpc-retry-pushback-ms"

  /// Reads the field's value: a signed 32-bit number without unnecessary zeros. Anything else is a refusal.
  init(_ text: String) {
    guard let milliseconds = Int32(text), milliseconds >= 0, String(milliseconds) == text else {
      self = .refused
      return
    }
    self = .after(.milliseconds(Int64(milliseconds)))
  }
}
