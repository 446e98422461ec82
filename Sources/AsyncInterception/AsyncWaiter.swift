import Interception

/// A task that waits for one result of a call: its value, the end of the call, or the task's own cancellation, the first of
/// which counts. `[any thread]`
final class AsyncWaiter<Value: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var continuation: CheckedContinuation<Value, any Error>?
  /// The result that came before the task waited.
  private var early: Result<Value, any Error>?
  private var isTold = false

  /// Whether it still waits.
  var isWaiting: Bool {
    lock.lock()
    defer { lock.unlock() }
    return !isTold
  }

  /// Waits; returns false if the result came before.
  func wait(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    lock.lock()
    let early = early
    if early == nil { self.continuation = continuation }
    lock.unlock()
    if let early { continuation.resume(with: early) }
    return early == nil
  }

  /// Resumes the task with a result; returns false if there was one before.
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
