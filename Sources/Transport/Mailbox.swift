import RPCurlBase
import RPCurlCCurl
import RPCurlProtobuf

/// Work for the loop from any thread.
package final class Mailbox: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    nonisolated(unsafe) var multi: UnsafeMutableRawPointer?
  }

  private let state: Locked<State>
  /// The thread of the loop.
  private let thread = currentThreadIdentity()

  /// Makes a mailbox, on the thread of its loop.
  ///
  /// - Parameter multi: The multi whose wait ends when work arrives.
  init(_ multi: UnsafeMutableRawPointer) {
    nonisolated(unsafe) let multi = multi
    state = Locked(State(multi: multi))
  }

  /// Runs `work` on the loop's thread, soon. Drops it if the loop has ended.
  package func post(_ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard let multi = state.multi else { return }
      state.work.append(work)
      // The loop does not wait while there is work.
      guard currentThreadIdentity() != thread else { return }
      // Within the lock, so that the loop cannot end between the check and the call.
      _ = ccurl_multi_wakeup(multi)
    }
  }

  /// Whether no work waits.
  var isEmpty: Bool { state.withLock { $0.work.isEmpty } }

  /// Runs the work that was posted so far, on the loop's thread.
  func drain() {
    let work = state.withLock { state in
      defer { state.work = [] }
      return state.work
    }
    for item in work { item() }
  }

  /// Drops work that is posted from now on.
  func close() {
    state.withLock { $0.multi = nil }
  }
}
