import RPCurlCSystem

/// A lock around state that several threads use.
///
/// `Locked` owns its state and is the first choice. This lock does not own it, and it may be held from one function to
/// another.
package final class Lock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Takes the lock, without the cost of a closure. `unlock` must follow on every path.
  package func lock() { pthread_mutex_lock(mutex) }

  /// Releases the lock.
  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Runs `body` with the lock held.
  package func holding<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}
