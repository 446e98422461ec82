import RPCurlClient

/// A thread that asynchronous tests use as the thread of the loop.
@globalActor actor TestLoop {
  static let shared = TestLoop()

  private let thread = LoopThread()

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  private init() { thread.start {} }
}
