import RPCurlBase
import RPCurlProtocols

/// Which calls are retried, and when (gRFC A6, "Retry Policy Capabilities").
struct RetryPolicy: Sendable, Equatable {
  /// The maximum number of attempts, including the first; nil if only time limits them.
  var attempts: Int?
  /// The wait before the second attempt.
  var initialBackoff: Duration
  /// The maximum wait.
  var maxBackoff: Duration
  /// The factor between successive waits.
  var multiplier: Double
  /// The statuses to retry.
  var codes: Set<StatusCode>

  /// The time to wait before a retry.
  ///
  /// - Parameters:
  ///   - number: The number of the retry since the start, or since the server's last pushback; from 1 on.
  ///   - fraction: A random number from 0 up to 1.
  ///   - jitter: The maximum random variation, as a fraction of the time.
  func backoff(beforeRetry number: Int, fraction: Double, jitter: Double) -> Duration {
    Backoff(initial: initialBackoff, limit: maxBackoff, multiplier: multiplier, jitter: jitter)
      .wait(beforeRepetition: number, fraction: fraction)
  }
}

/// A server's request about retries in `grpc-retry-pushback-ms` (gRFC A6, "Pushback").
enum RetryPushback: Equatable {
  /// Retry after this time.
  case after(Duration)
  /// Do not retry.
  case refused

  static let headerName = "grpc-retry-pushback-ms"

  /// Parses the field's value: a signed 32-bit number without unnecessary zeros. Anything else means
  /// `refused`.
  init(_ text: String) {
    guard let milliseconds = Int32(text), milliseconds >= 0, String(milliseconds) == text else {
      self = .refused
      return
    }
    self = .after(.milliseconds(Int64(milliseconds)))
  }

  /// The pushback of a response; nil if it has none. Connect servers may send it in the headers.
  init?(of end: ResponseEnd, heldHeaders: Headers?) {
    guard let text = end.trailers.first(Self.headerName) ?? heldHeaders?.first(Self.headerName) else {
      return nil
    }
    self.init(text)
  }
}

extension RPCError {
  /// Whether another attempt could succeed. An untrusted certificate, an impossible request or a wrong setting fails
  /// again.
  var isRepeatable: Bool {
    switch origin {
    case .tls, .request, .configuration: false
    default: true
    }
  }
}

extension Origin {
  /// The server of a request, for what is counted for each server.
  static func name(of request: RequestStart) -> String {
    Origin(url: request.target)?.description ?? request.target
  }
}
