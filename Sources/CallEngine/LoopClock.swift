import Glibc
import Interception
import RPCProtocols
import Transport

/// The clock of chains, based on the event loop.
final class LoopClock: ChainClock {
  private let loop: EventLoop
  private var timers: [Int: EventLoop.TimerID] = [:]
  private var last = 0
  /// The preemption when it was last taken, since the start of the thread.
  private var preemption: Int64 = 0

  init(_ loop: EventLoop) {
    self.loop = loop
  }

  var now: MonotonicClock.Instant { .now }

  var coarseNanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  func takePreemption() -> Int64 {
    // Linux counts it for each thread: proc_pid_schedstat(5), the second number.
    let file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 80)
    let count = read(file, &text, text.count)
    let fields = String(decoding: text.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let total = Int64(fields[1]) else { return 0 }
    defer { preemption = total }
    return max(total - preemption, 0)
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
