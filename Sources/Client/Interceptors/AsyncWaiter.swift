import RPCurlBase
import RPCurlProtobuf

/// A task that waits for one result: a value, the end of the call, or its own cancellation. The first one counts.
/// `[any thread]`
final class AsyncWaiter<Value: Sendable>: Sendable {
  private typealias Continuation = CheckedContinuation<Value, any Error>

  private enum State {
    /// The task does not wait yet.
    case new
    case waiting(Continuation)
    /// The result arrived before the task waited.
    case early(Result<Value, any Error>)
    case resumed
  }

  private let state = Locked(State.new)

  /// Whether it has no result.
  var isWaiting: Bool {
    state.withLock { state in
      switch state {
      case .new, .waiting: true
      case .early, .resumed: false
      }
    }
  }

  /// Waits; returns false if the result arrived before.
  func wait(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    let early: Result<Value, any Error>? = state.withLock { state in
      guard case .early(let result) = state else {
        state = .waiting(continuation)
        return nil
      }
      state = .resumed
      return result
    }
    if let early { continuation.resume(with: early) }
    return early == nil
  }

  /// Resumes the task with a result; returns false if it already had one.
  @discardableResult
  func resume(_ result: Result<Value, any Error>) -> Bool {
    let (isFirst, continuation): (Bool, Continuation?) = state.withLock { state in
      switch state {
      case .new:
        state = .early(result)
        return (true, nil)
      case .waiting(let continuation):
        state = .resumed
        return (true, continuation)
      case .early, .resumed: return (false, nil)
      }
    }
    continuation?.resume(with: result)
    return isFirst
  }

  /// Marks for ThreadSanitizer that what follows comes after the resumption: it does not see how the runtime resumes a
  /// task that does not wait yet.
  func noteResumption() { _ = isWaiting }
}
