/// A task that waits for something of a call, and is told once: by the call, by its end, or by the task's own
/// cancellation. `[any thread]`
final class AsyncWaiter<Value: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var continuation: CheckedContinuation<Value, any Error>?
  /// What it was told before it waited.
  private var early: Result<Value, any Error>?
  private var isTold = false

  /// Whether it still waits.
  var isWaiting: Bool {
    lock.lock()
    defer { lock.unlock() }
    return !isTold
  }

  /// Waits; `false` when it was told before.
  func wait(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    lock.lock()
    let early = early
    if early == nil { self.continuation = continuation }
    lock.unlock()
    if let early { continuation.resume(with: early) }
    return early == nil
  }

  /// Tells it; `false` when it was told before.
  @discardableResult
  func tell(_ result: Result<Value, any Error>) -> Bool {
    lock.lock()
    let isFirst = !isTold
    let continuation = continuation
    self.continuation = nil
    if isFirst, continuation == nil { early = result }
    isTold = true
    lock.unlock()
    continuation?.resume(with: result)
    return isFirst
  }
}
