import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// An event loop with timers, posted work and descriptors: sufficient for calls that are answered locally.
// Sendable because the chain posts to it from any thread; the timers belong to the thread that runs it.
final class SelfTestLoop: ChainClock, @unchecked Sendable {
  private let posted = Locked<[@Sendable () -> Void]>([])
  // The following members belong to the loop's thread.
  private var timers: [Int: (due: MonotonicClock.Instant, body: () -> Void)] = [:]
  private var lastTimer = 0
  private var watchers: [(descriptor: Int32, events: DescriptorEvents, action: () -> Void)] = []

  var now: MonotonicClock.Instant { .now }

  var coarseNanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  func preemption(since begin: Int64) -> Int64 { 0 }

  func schedule(after delay: Duration, _ body: @escaping () -> Void) -> Int {
    lastTimer += 1
    timers[lastTimer] = (.now + delay, body)
    return lastTimer
  }

  func cancel(_ timer: Int) { timers[timer] = nil }

  /// Calls `action` whenever a descriptor is ready or its peer is closed; nil stops that.
  func watch(_ descriptor: Int32, _ events: DescriptorEvents, _ action: (() -> Void)?) {
    watchers.removeAll { $0.descriptor == descriptor && $0.events == events }
    if let action { watchers.append((descriptor, events, action)) }
  }

  /// Runs work on the loop's thread. `[any thread]`
  func post(_ work: @escaping @Sendable () -> Void) {
    posted.withLock { $0.append(work) }
  }

  /// Runs until a condition holds; `false` at the time limit, and at a signal if these are handled.
  func run(for limit: Duration, until isDone: () -> Bool) -> Bool {
    let end = MonotonicClock.now + limit
    while !isDone() {
      let work = posted.withLock { posted in
        defer { posted = [] }
        return posted
      }
      for item in work { item() }
      let due = timers.filter { $0.value.due <= .now }.sorted {
        ($0.value.due, $0.key) < ($1.value.due, $1.key)
      }
      for (number, timer) in due where timers.removeValue(forKey: number) != nil { timer.body() }
      let isIdle = work.isEmpty && due.isEmpty
      let isServed = serveDescriptors(isIdle ? 1 : 0)
      if MonotonicClock.now >= end || Interrupt.isPending { return isDone() }
      if isIdle, !isServed, watchers.isEmpty { usleep(500) }
    }
    return true
  }

  /// Waits for descriptors, and calls the actions of those that are ready. Returns whether there was one.
  private func serveDescriptors(_ milliseconds: Int32) -> Bool {
    guard !watchers.isEmpty else { return false }
    let watched = watchers
    var polls = watched.map {
      pollfd(fd: $0.descriptor, events: Int16($0.events == .reading ? POLLIN : POLLOUT), revents: 0)
    }
    guard poll(&polls, nfds_t(polls.count), milliseconds) > 0 else { return false }
    for (watcher, result) in zip(watched, polls) where result.revents != 0 {
      // An action may stop watching later descriptors.
      watchers.first { $0.descriptor == watcher.descriptor && $0.events == watcher.events }?.action()
    }
    return true
  }
}
