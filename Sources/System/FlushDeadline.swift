import Glibc
import RPCProtocols
import Synchronization

/// How long output waits for its reader: as long as it takes while the command goes on, but only a moment for each
/// piece when the command is to end.
package enum FlushDeadline {
  private struct State {
    var deadline: MonotonicClock.Instant?
    /// Since when the command is to end.
    var end: MonotonicClock.Instant?
  }

  /// How long a reader may take nothing when the command is to end, and how long it may take in all.
  private static let pause = Duration.milliseconds(200)
  private static let total = Duration.seconds(2)

  // Interceptors write to the log from any thread.
  private static let state = Mutex(State())

  /// The command is to end at `deadline`, unless it is changed.
  package static func keep(_ deadline: MonotonicClock.Instant?) {
    state.withLock { $0.deadline = deadline }
  }

  /// From now on, readers are waited for no longer than a moment.
  package static func hurry() {
    state.withLock { $0.end = $0.end ?? .now }
  }

  /// The command does not end after all: readers may take their time again.
  package static func calm() {
    state.withLock { $0.end = nil }
  }

  /// Writes all of `bytes`, for as long as somebody may still read them.
  package static func write(_ bytes: UnsafeBufferPointer<UInt8>, to stream: OutputStream) {
    var rest = UnsafeRawBufferPointer(bytes)[...]
    while !rest.isEmpty {
      switch stream.write(UnsafeRawBufferPointer(rebasing: rest)) {
      case .wrote(let count): rest = rest.dropFirst(count)
      case .full: guard wait(for: stream) else { return }
      // Nothing can be told any more.
      case .failed: return
      }
    }
  }

  /// Waits until `stream` takes something; `false` when that is not to be expected in time.
  package static func wait(for stream: OutputStream) -> Bool {
    while true {
      let now = MonotonicClock.now
      let (deadline, end) = state.withLock { state in
        let isOver = state.deadline.map { $0 <= now } ?? false
        if state.end == nil, isOver || Interrupt.isPending { state.end = now }
        return (state.deadline, state.end)
      }
      if let end {
        let left = end + total - now
        return left > .zero && stream.isWritable(within: milliseconds(min(left, pause)))
      }
      var waits = [
        pollfd(fd: stream.descriptor, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let limit = deadline.map { milliseconds($0 - now) } ?? -1
      guard poll(&waits, nfds_t(waits.count), limit) > 0 else { continue }
      if waits[0].revents != 0 { return true }
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int32 {
    Int32(clamping: Int((min(duration, .seconds(3600)) / .milliseconds(1)).rounded(.up)))
  }
}
