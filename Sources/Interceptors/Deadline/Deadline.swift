import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// Limits the time of one call.
final class Deadline: StagedInterceptor {
  let stages: Stages
  let messages = MessageAccesses(.none)
  private let limits: DeadlineFactory.Limits
  private let context: CallContext
  /// When the stream's start or its last message was received.
  private var lastReceived: MonotonicClock.Instant?

  init(_ limits: DeadlineFactory.Limits, _ context: CallContext) {
    self.limits = limits
    self.context = context
    stages = Self.stages(limits)
  }

  /// The stages at which these limits need the values of a call.
  static func stages(_ limits: DeadlineFactory.Limits) -> Stages {
    limits.idle == nil ? .requestStart : [.requestStart, .responseStart, .responseMessage, .responseEnd]
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    var start = start
    if start.deadline == nil, let initial = limits.initial { set(initial, of: &start) }
    if let max = limits.max, start.deadline.map({ $0 > context.now + max }) ?? true { set(max, of: &start) }
    if let idle = limits.idle {
      lastReceived = context.now
      check(idle, after: idle)
    }
    token.proceed(start)
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    received()
    token.proceed(start)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    received()
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    lastReceived = nil
    token.proceed(end)
  }

  private func set(_ limit: Duration, of start: inout RequestStart) {
    start.deadline = context.now + limit
    context.log(.debug, "deadline set to \(limit.inSeconds) from now")
  }

  // MARK: - Idle streams

  private func received() {
    if lastReceived != nil { lastReceived = context.now }
  }

  /// Fails the call if the stream is idle when `delay` has passed. One timer for many messages: it continues with the
  /// time that is left.
  private func check(_ idle: Duration, after delay: Duration) {
    context.after(delay) { [weak self] in
      guard let self, let lastReceived else { return }
      let left = idle - (context.now - lastReceived)
      if left > .zero { check(idle, after: left) } else { failUnlessPaused(idle) }
    }
  }

  /// Fails the call, unless the caller has paused the response: then no message can arrive, and the time counts from
  /// the end of the pause.
  private func failUnlessPaused(_ idle: Duration) {
    var isPaused = false
    context.whenResponseWanted { [weak self] in
      guard let self, lastReceived != nil else { return }
      guard isPaused else {
        let error = RPCError(
          .deadlineExceeded, "no message received for \(idle.inSeconds)", origin: .interceptor(context.name))
        return context.fail(error)
      }
      lastReceived = context.now
      check(idle, after: idle)
    }
    // Runs before the other closure only if that one waits for the end of a pause.
    context.after(.zero) { isPaused = true }
  }
}
