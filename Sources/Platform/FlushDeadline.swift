import RPCurlBase
/// Limits how long output waits for its reader: without limit while the command runs; 200 ms without progress and a
/// fixed time in total, once it is exiting.
package final class FlushDeadline: Sendable {
  private struct State {
    var deadline: MonotonicClock.Instant?
    /// When the command began to exit; nil while it runs.
    var end: MonotonicClock.Instant?
  }

  /// Once the command is exiting: the longest wait without progress, and the longest wait in total.
  private static let pause = Duration.milliseconds(200)
  private static let total = Duration.seconds(2)

  // The log of interceptors is written from any thread.
  private let state = Locked(State())

  package init() {}

  /// Sets the time at which the command begins to exit; nil for none.
  package func set(_ deadline: MonotonicClock.Instant?) {
    state.withLock { $0.deadline = deadline }
  }

  /// Starts the exit limits now.
  package func begin() {
    state.withLock { $0.end = $0.end ?? .now }
  }

  /// Lifts the exit limits: the command goes on.
  package func lift() {
    state.withLock { $0.end = nil }
  }

  /// Writes all of `bytes`, unless the reader exceeds the limits. Returns the `errno` of a write that failed.
  package func write(_ bytes: UnsafeBufferPointer<UInt8>, to stream: OutputStream) -> Int32? {
    var rest = UnsafeRawBufferPointer(bytes)[...]
    while !rest.isEmpty {
      switch stream.write(UnsafeRawBufferPointer(rebasing: rest)) {
      case .wrote(let count): rest = rest.dropFirst(count)
      case .full: guard wait(for: stream) else { return nil }
      case .failed(let number): return number
      }
    }
    return nil
  }

  /// Waits until `stream` accepts output. Returns false if the reader exceeds the limits.
  package func wait(for stream: OutputStream) -> Bool {
    while true {
      let now = MonotonicClock.now
      let (deadline, end) = state.withLock { state in
        let isOver = state.deadline.map { $0 <= now } ?? false
        if state.end == nil, isOver || Interrupt.isPending { state.end = now }
        return (state.deadline, state.end)
      }
      if let end {
        let left = end + Self.total - now
        return left > .zero && stream.isWritable(within: Self.milliseconds(min(left, Self.pause)))
      }
      var waits = [
        pollfd(fd: stream.descriptor, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let limit = deadline.map { Self.milliseconds($0 - now) } ?? -1
      guard poll(&waits, nfds_t(waits.count), limit) > 0 else { continue }
      if waits[0].revents != 0 { return true }
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int32 {
    Int32(clamping: Int((min(duration, .seconds(3600)) / .milliseconds(1)).rounded(.up)))
  }
}
