import Protobuf

/// State that several threads use, under a lock that ThreadSanitizer sees.
///
/// Sendable because `with` is the only way to the state, and what leaves it is Sendable.
package final class Locked<State>: @unchecked Sendable {
  private let lock = Lock()
  private var state: State

  /// Makes the state.
  package init(_ state: sending State) {
    self.state = state
  }

  /// Runs `body` with the lock held.
  package func with<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&state)
  }
}
