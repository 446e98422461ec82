/// State that several threads use, under a lock.
///
/// ThreadSanitizer sees this lock. It does not see that of the standard library's `Mutex`, which waits in a library that
/// the sanitizer does not instrument, and reports what `Mutex` protects. Sendable because `withLock` is the only way to the
/// state.
package final class Locked<State: ~Copyable>: @unchecked Sendable {
  private let lock = Lock()
  private var state: State

  /// Makes the state.
  package init(_ state: consuming sending State) {
    self.state = state
  }

  /// Runs `body` with the lock held.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }
}
