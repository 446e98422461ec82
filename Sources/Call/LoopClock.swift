import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtocols
import RPCurlTransport

/// The clock of chains, based on the event loop.
final class LoopClock: ChainClock {
  private let loop: EventLoop
  private var timers: [Int: EventLoop.TimerID] = [:]
  private var last = 0
  /// How long the thread has waited for a processor until a time.
  private struct Sample {
    var time: Int64 = 0
    var preemption: Int64 = 0
  }

  /// The last two samples.
  private var samples = (older: Sample(), newer: Sample())
  /// The least time between two samples: a system call takes longer than most stages.
  private static let samplingNanoseconds: Int64 = 50_000_000

  init(_ loop: EventLoop) {
    self.loop = loop
  }

  var now: MonotonicClock.Instant { .now }

  var coarseNanoseconds: Int64 {
    var time = timespec()
    #if os(Linux)
      clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &time)
    #endif
    let now = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    if now &- samples.newer.time > Self.samplingNanoseconds {
      // The first read would delay short calls.
      let preemption = samples.newer.time == 0 ? 0 : Self.totalPreemption
      samples = (samples.newer, Sample(time: now, preemption: preemption))
    }
    return now
  }

  func preemption(since begin: Int64) -> Int64 {
    let before = samples.newer.time <= begin ? samples.newer : samples.older
    return max(Self.totalPreemption - before.preemption, 0)
  }

  /// How long the thread has waited for a processor since its start, in nanoseconds.
  private static var totalPreemption: Int64 {
    // The second number: proc_pid_schedstat(5).
    let file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 80)
    let count = read(file, &text, text.count)
    let fields = String(decoding: text.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? Int64(fields[1]) ?? 0 : 0
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
