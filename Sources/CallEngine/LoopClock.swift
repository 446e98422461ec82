import Glibc
import Interception
import RPCProtocols
import Transport

/// The clock of chains, based on the event loop.
final class LoopClock: ChainClock {
  private let loop: EventLoop
  private var timers: [Int: EventLoop.TimerID] = [:]
  private var last = 0

  init(_ loop: EventLoop) {
    self.loop = loop
  }

  var now: MonotonicClock.Instant { .now }

  var coarseNanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  func schedule(after delay: Duration, _ body: @escaping () -> Void) -> Int {
    last += 1
    let number = last
    timers[number] = loop.schedule(at: .now + delay) { [weak self] in
      self?.timers[number] = nil
      body()
    }
    return number
  }

  func cancel(_ timer: Int) {
    if let id = timers.removeValue(forKey: timer) { loop.cancel(id) }
  }
}
