import Interception
import RPCProtocols

/// Retries one call according to its policy.
final class Retry: Interceptor {
  /// The header with the number of earlier attempts (gRFC A6, "Exposed Retry Metadata").
  private static let countHeader = "grpc-previous-rpc-attempts"

  let stages: Stages
  let requirements: InterceptorRequirements
  private let policy: RetryPolicy
  private let shared: RetryFactory.Shared
  private let context: CallContext
  private let gate: ResponseGate
  private var server: String
  private var deadline: MonotonicClock.Instant?
  /// The number of attempts, including the current one.
  private var attempt = 1
  /// The number of the next retry since the start, or since the server's last pushback.
  private var backoffNumber = 1

  init(_ policy: RetryPolicy, _ shared: RetryFactory.Shared, _ facts: CallFacts, _ context: CallContext) {
    self.policy = policy
    self.shared = shared
    self.context = context
    gate = ResponseGate(facts, context)
    stages = gate.stages.union(.requestStart)
    // A limit of 0 would disable retries also for requests without a message so far.
    requirements = InterceptorRequirements(replayLimitBytes: max(shared.bufferBytes, 1))
    server = facts.target
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    deadline = start.deadline
    server = Origin(url: start.target)?.description ?? start.target
    token.proceed(start)
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    gate.responseStart(start, token)
  }

  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    gate.responseBytes(bytes, token)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    // Canceled further out, which is unrelated to the server.
    guard !token.isVoid else { return token.proceed(end) }
    let pushback = pushback(of: end)
    count(end, pushback)
    guard let error = end.error, isRetryable(error) else { return letGo(end, token) }
    if let reason = reasonToGiveUp(error, pushback, canRetry: token.canRetry) {
      context.log(.info, "\(described(error)); not retried: \(reason)")
      return letGo(end, token)
    }
    let delay = delay(pushback, error)
    if let deadline, context.now + delay >= deadline {
      context.log(.info, "\(described(error)); not retried: the deadline is before the next attempt")
      return letGo(end, token)
    }
    context.log(.info, "\(described(error)); retrying in \(Self.text(delay))")
    gate.reset()
    token.retry(after: delay, headers: Headers([(Self.countHeader, "\(attempt)")]))
    attempt += 1
  }

  private func letGo(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    gate.open()
    token.proceed(end)
  }

  // MARK: - Deciding

  /// Whether a retry could succeed. An untrusted certificate, an impossible request or a wrong setting fails again.
  private func isRetryable(_ error: RPCError) -> Bool {
    switch error.origin {
    case .tls, .request, .configuration: false
    default: policy.codes.contains(error.code)
    }
  }

  private func reasonToGiveUp(_ error: RPCError, _ pushback: RetryPushback?, canRetry: Bool) -> String? {
    if attempt >= policy.attempts { return "no attempts left" }
    if pushback == .refused { return "the server refused retries" }
    if !canRetry { return "the response has started, or the request is larger than the buffer" }
    if shared.throttle?.allowsRetry(of: server) == false { return "\(server) fails too often (throttled)" }
    return nil
  }

  /// Counts every attempt, also the last (gRFC A6): successes, and failures as of an overloaded server.
  private func count(_ end: ResponseEnd, _ pushback: RetryPushback?) {
    guard let throttle = shared.throttle else { return }
    if end.error == nil {
      throttle.countSuccess(of: server)
    } else if policy.codes.contains(end.code) || pushback == .refused {
      throttle.countFailure(of: server)
    }
  }

  /// The server's pushback. Connect servers may send it in the headers.
  private func pushback(of end: ResponseEnd) -> RetryPushback? {
    let text =
      end.trailers.first(RetryPushback.headerName) ?? gate.heldHeaders?.first(RetryPushback.headerName)
    return text.map { RetryPushback($0) }
  }

  /// The time before the next attempt. A server's pushback is used as it is and resets the backoff; a
  /// `RetryInfo` is a minimum.
  private func delay(_ pushback: RetryPushback?, _ error: RPCError) -> Duration {
    if case .after(let delay)? = pushback {
      backoffNumber = 1
      return delay
    }
    let backoff = policy.backoff(
      beforeRetry: backoffNumber, fraction: shared.fraction(), jitter: shared.jitter)
    backoffNumber += 1
    return max(backoff, RetryInfo.delay(in: error.details) ?? .zero)
  }

  // MARK: - Logging

  private func described(_ error: RPCError) -> String {
    let words = error.message.isEmpty ? "" : " (\(error.message))"
    return "attempt \(attempt) of \(policy.attempts) failed: \(error.code.name)\(words)"
  }

  private static func text(_ delay: Duration) -> String {
    let milliseconds = delay.roundedToMilliseconds.milliseconds
    return milliseconds < 1000 ? "\(milliseconds) ms" : "\(Double(milliseconds) / 1000) s"
  }
}
