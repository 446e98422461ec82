import Protobuf

/// A task that waits for one result: a value, the end of the call, or its own cancellation. The first one counts.
/// `[any thread]`
final class AsyncWaiter<Value: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var continuation: CheckedContinuation<Value, any Error>?
  /// The result that arrived before the task waited.
  private var early: Result<Value, any Error>?
  private var isResumed = false

  /// Whether it still waits.
  var isWaiting: Bool {
    lock.lock()
    defer { lock.unlock() }
    return !isResumed
  }

  /// Waits; returns false if the result arrived before.
  func wait(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    lock.lock()
    let early = early
    if early == nil { self.continuation = continuation }
    lock.unlock()
    if let early { continuation.resume(with: early) }
    return early == nil
  }

  /// Resumes the task with a result; returns false if it already had one.
  @discardableResult
  func resume(_ result: Result<Value, any Error>) -> Bool {
    lock.lock()
    let isFirst = !isResumed
    let continuation = continuation
    self.continuation = nil
    if isFirst, continuation == nil { early = result }
    isResumed = true
    lock.unlock()
    continuation?.resume(with: result)
    return isFirst
  }
}
