import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf
import Synchronization

/// A thread that runs its work in order.
final class HelperThread: @unchecked Sendable {
  private let lock = Lock()
  private var work: [@Sendable () -> Void] = []
  private var isStopped = false
  private let left = Atomic(0)
  private var thread = pthread_t()

  init() {
    let this = Unmanaged.passRetained(self)
    pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<HelperThread>.fromOpaque(argument).takeRetainedValue().loop() }
        return nil
      }, this.toOpaque())
  }

  /// Whether the work is done.
  var isIdle: Bool { left.load(ordering: .acquiring) == 0 }

  func run(_ body: @escaping @Sendable () -> Void) {
    left.add(1, ordering: .releasing)
    lock.holding { work.append(body) }
  }

  /// Waits until the work is done.
  func wait() { while !isIdle { sched_yield() } }

  func stop() {
    lock.holding { isStopped = true }
    pthread_join(thread, nil)
  }

  private func loop() {
    while true {
      // The only references to the work: what it retains is released before it counts as done.
      var (batch, isOver): ([@Sendable () -> Void], Bool) = lock.holding {
        defer { work = [] }
        return (work.reversed(), isStopped)
      }
      let isEmpty = batch.isEmpty
      while !batch.isEmpty {
        batch.removeLast()()
        left.subtract(1, ordering: .releasing)
      }
      if isEmpty {
        if isOver { return }
        sched_yield()
      }
    }
  }
}
