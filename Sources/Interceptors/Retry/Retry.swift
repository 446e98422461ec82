import Interception
import RPCProtocols

/// Tries one call again, as often as its policy has it.
final class Retry: Interceptor {
  /// Tells the server how many attempts came before (gRFC A6, "Exposed Retry Metadata").
  private static let countHeader = "grpc-previous-rpc-attempts"

  let stages: Stages
  let requirements: InterceptorRequirements
  private let policy: RetryPolicy
  private let shared: RetryFactory.Shared
  private let context: CallContext
  private let gate: ResponseGate
  private var server: String
  private var deadline: MonotonicClock.Instant?
  /// Attempts made, with the one under way.
  private var attempt = 1
  /// The number of the next retry since the beginning, or since the server last told a time to wait.
  private var backoffNumber = 1

  init(_ policy: RetryPolicy, _ shared: RetryFactory.Shared, _ facts: CallFacts, _ context: CallContext) {
    self.policy = policy
    self.shared = shared
    self.context = context
    gate = ResponseGate(facts, context)
    stages = gate.stages.union(.requestStart)
    // A limit of 0 would mean that nothing is ever retried, also what has no message yet.
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
    // Canceled further out: it says nothing about the server.
    guard !token.isVoid else { return token.proceed(end) }
    let pushback = pushback(of: end)
    count(end, pushback)
    guard let error = end.error, isRetryable(error) else { return letGo(end, token) }
    if let reason = reasonToGiveUp(error, pushback, canRetry: token.canRetry) {
      context.log(.info, "\(described(error)); not tried again: \(reason)")
      return letGo(end, token)
    }
    let delay = delay(pushback, error)
    if let deadline, context.now + delay >= deadline {
      context.log(.info, "\(described(error)); not tried again: the deadline comes before the next attempt")
      return letGo(end, token)
    }
    context.log(.info, "\(described(error)); next in \(Self.text(delay))")
    gate.reset()
    token.retry(after: delay, headers: Headers([(Self.countHeader, "\(attempt)")]))
    attempt += 1
  }

  private func letGo(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    gate.open()
    token.proceed(end)
  }

  // MARK: - Deciding

  /// Whether another attempt could end otherwise. A certificate that is not trusted, or a request that cannot be made,
  /// stays so.
  private func isRetryable(_ error: RPCError) -> Bool {
    switch error.origin {
    case .tls, .request: false
    default: policy.codes.contains(error.code)
    }
  }

  private func reasonToGiveUp(_ error: RPCError, _ pushback: RetryPushback?, canRetry: Bool) -> String? {
    if attempt >= policy.attempts { return "that was the last attempt" }
    if pushback == .refused { return "the server asks not to" }
    if !canRetry { return "the response had begun, or the request is larger than the buffer" }
    if shared.throttle?.allowsRetry(of: server) == false { return "\(server) fails too often (throttled)" }
    return nil
  }

  /// Every attempt counts, the last as well (gRFC A6): what succeeds, and what fails as an overloaded server would.
  private func count(_ end: ResponseEnd, _ pushback: RetryPushback?) {
    guard let throttle = shared.throttle else { return }
    if end.error == nil {
      throttle.countSuccess(of: server)
    } else if policy.codes.contains(end.code) || pushback == .refused {
      throttle.countFailure(of: server)
    }
  }

  /// What the server says about another attempt. Connect's servers may write it among the headers.
  private func pushback(of end: ResponseEnd) -> RetryPushback? {
    let text =
      end.trailers.first(RetryPushback.headerName) ?? gate.heldHeaders?.first(RetryPushback.headerName)
    return text.map { RetryPushback($0) }
  }

  /// A server's time stands as it is, and the waits begin anew behind it. A `RetryInfo` is the least.
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

  // MARK: - Telling

  private func described(_ error: RPCError) -> String {
    let words = error.message.isEmpty ? "" : " (\(error.message))"
    return "attempt \(attempt) of \(policy.attempts) failed: \(error.code.name)\(words)"
  }

  private static func text(_ delay: Duration) -> String {
    let milliseconds = Int((delay / .milliseconds(1)).rounded())
    return milliseconds < 1000 ? "\(milliseconds) ms" : "\(Double(milliseconds) / 1000) s"
  }
}
