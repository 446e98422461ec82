import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Retries one call according to its policy, and repeats it until its response meets the conditions of the policy.
final class Retry: StagedInterceptor {
  /// The header with the number of earlier attempts (gRFC A6, "Exposed Retry Metadata").
  static let countHeader = "grpc-previous-rpc-attempts"

  /// The maximum size of a response that is held until the conditions of `until` are checked, in bytes.
  static let heldBytes = 64 << 20

  let stages: Stages
  let messages: MessageAccesses
  let requirements: InterceptorRequirements
  private let policy: RetryPolicy
  private let shared: RetryFactory.Shared
  private let context: CallContext
  private let gate: ResponseGate
  private var polling: Polling?
  private var server: String
  private var deadline: MonotonicClock.Instant?
  /// The number of attempts, including the current one.
  private var attempt = 1
  /// Whether an attempt has failed.
  private var hasFailed = false
  /// The number of the next retry since the start, or since the server's last pushback.
  private var backoffNumber = 1

  init(_ policy: RetryPolicy, _ shared: RetryFactory.Shared, _ facts: CallFacts, _ context: CallContext) {
    self.policy = policy
    self.shared = shared
    self.context = context
    polling = shared.goal.map { Polling($0, facts, context.secrets) }
    gate = ResponseGate(
      shared.goal == nil
        ? ResponseGate.Commitment(facts, patience: shared.headerPatience) : .decision, context)
    stages = gate.stages.union(.requestStart)
    messages = shared.messages
    requirements = InterceptorRequirements(
      // The response is held until its end.
      collects: shared.goal != nil, windowBytes: shared.goal == nil ? 0 : Self.heldBytes,
      // A limit of 0 would disable retries also for requests without a message so far.
      replayLimitBytes: max(shared.bufferBytes, 1))
    server = facts.target
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    deadline = start.deadline
    server = Origin.name(of: start)
    if let timeout = polling?.goal.timeout {
      polling?.end = context.now + timeout
      context.after(timeout) { [weak self] in self?.timeOut() }
    }
    token.proceed(start)
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    polling?.progress.receive(start)
    gate.responseStart(start, token)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    guard polling != nil else { return gate.responseMessage(message, token) }
    // The chain bounds streams only: the end of a response with one message follows it.
    guard message.sizeBytes <= Self.heldBytes else {
      return token.fail(
        RPCError(
          .resourceExhausted,
          "\(context.name) collects values at response_message, and they exceed the window of "
            + "\(Self.heldBytes) bytes", origin: .interceptor(context.name)))
    }
    polling?.progress.receive(try message.typed)
    gate.responseMessage(message, token)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    // Canceled further out, which is unrelated to the server.
    guard !token.isVoid else { return token.proceed(end) }
    let pushback = RetryPushback(of: end, heldHeaders: gate.heldHeaders)
    count(end, pushback)
    if let polling, end.error?.isRepeatable != false, polling.applies(to: end) {
      return poll(end, pushback, polling, token)
    }
    guard let error = end.error, error.isRepeatable, policy.codes.contains(error.code) else {
      return letGo(end, token)
    }
    if let reason = reasonToGiveUp(pushback, canRetry: token.canRetry && !end.followsMessage) {
      context.log(.info, "\(described(error)); not retried: \(reason)")
      return letGo(end, token)
    }
    let delay = delay(pushback, error)
    guard !isTooLate(delay) else {
      context.log(.info, "\(described(error)); not retried: the deadline is before the next attempt")
      return letGo(end, token)
    }
    context.log(.info, "\(described(error)); retrying in \(Self.text(delay))")
    let headers = prepareNextAttempt(after: end)
    token.retry(after: delay, headers: headers)
  }

  private func letGo(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    gate.open()
    token.proceed(end)
  }

  /// Prepares for the next attempt, and returns the headers that it has in addition.
  private func prepareNextAttempt(after end: ResponseEnd) -> Headers {
    // The repetition of a call that succeeds is not a retry. The header stays, so its number is then always replaced.
    hasFailed = hasFailed || end.error != nil
    let headers = hasFailed ? Headers([(Self.countHeader, "\(attempt)")]) : Headers()
    attempt += 1
    gate.reset()
    polling?.restart()
    return headers
  }

  // MARK: - Polling

  /// The comparison of responses with the conditions of `until`.
  private struct Polling {
    let goal: RetryFactory.Goal
    private let call: CallFacts
    private let secrets: CallSecrets
    var progress: ResponseProgress
    /// When the conditions must be met; nil before the request's start.
    var end: MonotonicClock.Instant?
    /// What the last response did not meet.
    var failure: String?

    init(_ goal: RetryFactory.Goal, _ call: CallFacts, _ secrets: CallSecrets) {
      self.goal = goal
      self.call = call
      self.secrets = secrets
      progress = ResponseProgress(goal.conditions, of: call, secrets)
    }

    /// Whether the conditions decide about a response, rather than its status alone.
    func applies(to end: ResponseEnd) -> Bool { end.error == nil || goal.conditions.isAboutStatus }

    mutating func restart() { progress = ResponseProgress(goal.conditions, of: call, secrets) }
  }

  private func poll(
    _ end: ResponseEnd, _ pushback: RetryPushback?, _ polling: Polling,
    _ token: consuming ResponseToken<ResponseEnd>
  ) {
    let failures = polling.progress.failures(end)
    guard !failures.isEmpty else {
      // Before the end is forwarded, so that it is not reported as a failure.
      if end.error != nil { context.report(.expectedStatus, "\(end.code.name) is the expected status") }
      return letGo(end, token)
    }
    let failure = failures.map(\.line).joined(separator: "; ")
    self.polling?.failure = failure
    if let limit = policy.attempts, attempt >= limit {
      return token.fail(unmet("\(failure), in \(limit) attempts"))
    }
    guard token.canRetry else {
      return token.fail(unmet("\(failure); not repeated: the request is larger than the buffer"))
    }
    // A successful response has no directions for retries.
    if end.error != nil, let reason = reasonToGiveUp(pushback, canRetry: true) {
      return token.fail(unmet("\(failure); not repeated: \(reason)"))
    }
    let delay = end.error.map { self.delay(pushback, $0) } ?? nextBackoff()
    guard !isTooLate(delay) else { return token.fail(unmet("\(failure), \(limitText)")) }
    context.log(.info, "attempt \(attempt): \(failure); repeating in \(Self.text(delay))")
    let headers = prepareNextAttempt(after: end)
    token.retry(after: delay, headers: headers)
  }

  /// Ends the call at the time limit of `until`, also in the middle of an attempt.
  private func timeOut() {
    context.fail(unmet("\(polling?.failure ?? "no response"), \(limitText)"))
  }

  private var limitText: String {
    if let deadline, let end = polling?.end, deadline < end {
      return "and the deadline is before the next attempt"
    }
    return "within \(Self.text(polling?.goal.timeout ?? .zero))"
  }

  private func unmet(_ words: String) -> RPCError {
    RPCError(.deadlineExceeded, "until is not met: \(words)", origin: .interceptor(context.name))
  }

  // MARK: - Deciding

  private func reasonToGiveUp(_ pushback: RetryPushback?, canRetry: Bool) -> String? {
    if let limit = policy.attempts, attempt >= limit { return "no attempts left" }
    if pushback == .refused { return "the server refused retries" }
    if !canRetry { return "the response has started, or the request is larger than the buffer" }
    if shared.throttle?.allowsRetry(of: server) == false { return "\(server) fails too often (throttled)" }
    return nil
  }

  /// Whether an attempt after this time would start after the deadline, or after the time limit of `until`.
  private func isTooLate(_ delay: Duration) -> Bool {
    [deadline, polling?.end].contains { $0.map { context.now + delay >= $0 } ?? false }
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

  /// The time before the next attempt. A server's pushback is used as it is and resets the backoff; a
  /// `RetryInfo` is a minimum.
  private func delay(_ pushback: RetryPushback?, _ error: RPCError) -> Duration {
    if case .after(let delay)? = pushback {
      backoffNumber = 1
      return delay
    }
    return max(nextBackoff(), RetryInfo.delay(in: error.details) ?? .zero)
  }

  private func nextBackoff() -> Duration {
    defer { backoffNumber += 1 }
    return policy.backoff(beforeRetry: backoffNumber, fraction: shared.fraction(), jitter: shared.jitter)
  }

  // MARK: - Logging

  private func described(_ error: RPCError) -> String {
    let words = error.message.isEmpty ? "" : " (\(error.message))"
    let limit = policy.attempts.map { " of \($0)" } ?? ""
    return "attempt \(attempt)\(limit) failed: \(error.code.name)\(words)"
  }

  private static func text(_ delay: Duration) -> String {
    let milliseconds = delay.roundedToMilliseconds.milliseconds
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(Double(milliseconds) / 1000) s"
  }
}
