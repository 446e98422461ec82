import RPCurlBase
import RPCurlProtocols

/// The deadline that an interceptor has set for one attempt at a call.
struct AttemptDeadline {
  /// The clock's number of the timer that ends the attempt.
  private var timer: Int?

  /// Sets when the attempt ends, in place of the time set before.
  ///
  /// - Parameters:
  ///   - instant: The time; nil for no deadline, and after the end of the attempt.
  ///   - chain: The chain of the attempt.
  mutating func set(_ instant: MonotonicClock.Instant?, of chain: Chain) {
    let clock = chain.environment.clock
    if let timer { clock.cancel(timer) }
    timer = nil
    guard let instant, let begin = chain.progress.begin else { return }
    let limit = (instant - begin).roundedToMilliseconds.inSeconds
    timer = clock.schedule(after: max(instant - clock.now, .zero)) {
      chain.cancel(RPCError(.deadlineExceeded, "the attempt took longer than \(limit)", origin: .client))
    }
  }
}
