import RPCurlBase
/// A value that belongs to the thread of the loop, in a container that may pass through other threads.
///
/// An interceptor, its tokens' values and a `CallContext` are not `Sendable`. What runs on another thread keeps them in
/// this container, and returns to the loop with `CallHandle.post`:
///
/// ```swift
/// let resume = LoopBound { [weak self] (price: Int) in self?.receive(price) }
/// let handle = context.handle
/// prices.request { price in handle.post { resume.value(price) } }
/// ```
public struct LoopBound<Value>: @unchecked Sendable {
  // Sendable because `value` stops the program on any thread but the one that has made the container.
  private let thread = currentThreadIdentity()
  private let stored: Value

  /// Makes a container. `[loop's thread]`
  public init(_ value: Value) { stored = value }

  /// The value. The program stops if this is read on another thread than the one that has made the container.
  /// `[loop's thread]`
  public var value: Value {
    precondition(currentThreadIdentity() == thread, "this value belongs to the thread of the loop")
    return stored
  }
}
