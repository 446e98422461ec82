import RPCurlPlatform

/// Runs `body` on a new thread, and waits for its end.
package func onOtherThread(_ body: @escaping @Sendable () -> Void) { startThread(body)() }

/// Runs `body` on a new thread. Returns a function that waits for its end.
package func startThread(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
  final class Run: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let run = Unmanaged.passRetained(Run(body))
  let result = pthread_create(
    &thread, nil,
    { argument in
      if let argument { Unmanaged<Run>.fromOpaque(argument).takeRetainedValue().body() }
      return nil
    }, run.toOpaque())
  precondition(result == 0, "a thread can be made")
  let started = thread
  return { pthread_join(started, nil) }
}
