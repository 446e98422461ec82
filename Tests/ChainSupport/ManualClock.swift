import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// A clock that a test advances.
package final class ManualClock: ChainClock {
  package private(set) var now = MonotonicClock.now
  package var coarseNanoseconds: Int64 = 0
  /// How long the thread has waited for a processor, at any time.
  package var preemption: Int64 = 0
  private var timers: [(number: Int, due: MonotonicClock.Instant, body: () -> Void)] = []
  private var last = 0

  package init() {}

  /// How many timers are set.
  package var timerCount: Int { timers.count }

  package func preemption(since begin: Int64) -> Int64 { preemption }

  package func schedule(after delay: Duration, _ body: @escaping () -> Void) -> Int {
    last += 1
    timers.append((last, now + delay, body))
    return last
  }

  package func cancel(_ timer: Int) {
    timers.removeAll { $0.number == timer }
  }

  /// Advances the time, and fires the timers that are due, in their order.
  package func advance(by duration: Duration) {
    let end = now + duration
    while let next = timers.filter({ $0.due <= end }).min(by: { ($0.due, $0.number) < ($1.due, $1.number) }) {
      now = max(now, next.due)
      timers.removeAll { $0.number == next.number }
      next.body()
    }
    now = end
  }
}
