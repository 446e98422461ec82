import CCurl
import Glibc
import RPCProtocols

/// A timer of an event loop with the resolution of the system's clock. Those of `EventLoop.schedule` are rounded up to
/// milliseconds.
package final class PreciseTimer {
  private let loop: EventLoop
  private let descriptor: Int32

  /// Makes a timer; nil if the process has no descriptor left.
  package init?(_ loop: EventLoop) {
    self.loop = loop
    descriptor = ccurl_timer_open()
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Ends the loop's wait at an instant, once.
  package func set(_ instant: MonotonicClock.Instant) {
    ccurl_timer_set(descriptor, (instant - .now).nanoseconds)
    loop.watch(descriptor) { [weak loop, descriptor] in loop?.unwatch(descriptor) }
  }

  /// Does not end the loop's wait any more.
  package func stop() { loop.unwatch(descriptor) }
}
