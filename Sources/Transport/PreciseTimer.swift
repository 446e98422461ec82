import RPCurlBase
import RPCurlCCurl
import RPCurlPlatform
import RPCurlProtocols

/// A timer of an event loop with the resolution of the system's clock. Those of `EventLoop.schedule` are rounded up to
/// milliseconds.
package final class PreciseTimer {
  private let loop: EventLoop
  private let descriptor: Int32
  /// The instant at which the wait ends; nil if none is set.
  private var due: MonotonicClock.Instant?

  /// Makes a timer; nil if the process has no descriptor left.
  package init?(_ loop: EventLoop) {
    self.loop = loop
    descriptor = ccurl_timer_open()
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Ends the loop's wait at an instant, once. A later call replaces the instant.
  package func set(_ instant: MonotonicClock.Instant) {
    guard instant != due else { return }
    due = instant
    ccurl_timer_set(descriptor, (instant - .now).nanoseconds)
    loop.watch(descriptor) { [weak self] in self?.stop() }
  }

  /// Does not end the loop's wait any more.
  package func stop() {
    due = nil
    loop.unwatch(descriptor)
  }
}
