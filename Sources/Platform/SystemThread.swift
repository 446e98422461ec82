import RPCurlBase
import RPCurlCSystem

/// A thread that was started. `join` or `detach` must follow.
package struct SystemThread: Sendable {
  private final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let number: UInt

  /// Starts a thread, which ends when `body` returns.
  ///
  /// - Throws: `SystemError` if the system has no thread left.
  package init(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let start = Unmanaged.passRetained(Start(body))
    number = csystem_start_thread(
      { start in
        if let start { Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body() }
        return nil
      }, start.toOpaque())
    guard number == 0 else { return }
    let error = SystemError.last
    start.release()
    throw error
  }

  /// Waits until the thread has ended.
  package func join() { csystem_join(number) }

  /// Lets the thread end by itself.
  package func detach() { csystem_detach(number) }
}
