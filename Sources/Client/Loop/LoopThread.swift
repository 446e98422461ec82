import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlTransport
import Synchronization

/// The thread of a loop, as the executor of the actor that owns it.
///
/// Work is run in the order in which it was added, and always: while a loop runs, by its mailbox; before and after, by the
/// thread itself; after `end`, by a thread that adds work. Without `end`, the thread ends after the executor is released.
package final class LoopThread: SerialExecutor {
  package typealias Work = @Sendable () -> Void

  private let queue = WorkQueue()
  /// The thread that was started and not joined.
  private let thread = Locked<SystemThread?>(nil)

  /// Makes an executor, whose work waits until `start`.
  package init() {}

  deinit {
    queue.end()
    // The last release may be on the thread itself, so it cannot be waited for.
    thread.withLock { $0?.detach() }
  }

  /// Starts the thread. To be called once.
  ///
  /// - Parameter body: Runs first, on the thread.
  package func start(_ body: @escaping Work) {
    let start = ThreadStart(queue: queue, body: body)
    do throws(SystemError) {
      let started = try SystemThread { start.run().runUntilEnd() }
      thread.withLock { $0 = started }
    } catch {
      // As for memory: a process without another thread cannot continue.
      preconditionFailure("a thread for the event loop cannot be started: \(error.reason)")
    }
  }

  /// Waits until the thread has ended, with all that libraries do at its end: OpenSSL's cleanup at the end of the process must
  /// not run beside it. Does not wait on the thread itself. To be called when the thread has only short work.
  package func end() {
    queue.end()
    guard !queue.isCurrent else { return }
    thread.withLock {
      $0?.join()
      $0 = nil
    }
  }

  /// Runs `work` on the thread, after all that was added before.
  func add(_ work: @escaping Work) { queue.add(work) }

  /// Runs further work in the rounds of a loop, until `detach`. On the thread.
  func attach(_ mailbox: Mailbox) { queue.attach(mailbox) }

  /// Runs further work on the thread itself. On the thread.
  func detach() { queue.attach(nil) }

  // MARK: SerialExecutor

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Until it has run, the job retains its actor, which retains the executor.
    let executor = asUnownedSerialExecutor()
    // If it runs here, or the thread ends meanwhile, the job may release all else that retains the queue.
    let retained = Unmanaged.passRetained(queue)
    defer { retained.release() }
    queue.add { job.runSynchronously(on: executor) }
  }

  package func checkIsolated() {
    precondition(queue.isCurrent, "this belongs to the thread of the loop")
  }

  package func isIsolatingCurrentContext() -> Bool? { queue.isCurrent }
}

/// What a thread does first.
private final class ThreadStart: Sendable {
  private let queue: WorkQueue
  private let body: Locked<LoopThread.Work?>

  init(queue: WorkQueue, body: @escaping LoopThread.Work) {
    self.queue = queue
    self.body = Locked(body)
  }

  func run() -> WorkQueue {
    queue.begin()
    let first = body.withLock { body in
      // It may retain what ends the thread, which retains this object.
      defer { body = nil }
      return body
    }
    first?()
    return queue
  }
}

/// The work for a thread. The thread retains it, not the executor.
private final class WorkQueue: Sendable {
  private struct State {
    var work: [LoopThread.Work] = []
    /// Whether a thread will look for work.
    var isAwake = false
    var phase = Phase.running
    var mailbox: Mailbox?
  }

  private enum Phase {
    case running
    /// The thread ends when it has no work.
    case ending
    /// The thread runs no further work: a thread that adds work runs it.
    case ended
  }

  private let state = Locked(State())
  private let sleep = Semaphore()
  /// The thread that runs work; 0 if none does, before it begins and after its end.
  private let thread = Atomic<UInt>(0)

  var isCurrent: Bool { thread.load(ordering: .relaxed) == currentThreadIdentity() }

  func add(_ work: @escaping LoopThread.Work) {
    let (wakes, hasEnded, mailbox): (Bool, Bool, Mailbox?) = state.withLock { state in
      state.work.append(work)
      defer { state.isAwake = true }
      return (!state.isAwake, state.phase == .ended, state.mailbox)
    }
    guard wakes else { return }
    if hasEnded { runHere() } else { wake(mailbox) }
  }

  func end() {
    let mailbox: Mailbox? = state.withLock { state in
      if state.phase == .running { state.phase = .ending }
      return state.mailbox
    }
    wake(mailbox)
  }

  func attach(_ mailbox: Mailbox?) {
    let isWanted = state.withLock { state in
      state.mailbox = mailbox
      return state.isAwake || state.phase == .ending
    }
    if isWanted { wake(mailbox) }
  }

  private func wake(_ mailbox: Mailbox?) {
    guard let mailbox else { return sleep.signal() }
    mailbox.post { self.run() }
  }

  /// Runs the work that was added so far.
  private func run() {
    let work = state.withLock { state in
      defer { state.work = [] }
      state.isAwake = false
      return state.work
    }
    for item in work { item() }
  }

  /// The thread begins.
  func begin() { thread.store(currentThreadIdentity(), ordering: .relaxed) }

  func runUntilEnd() {
    while true {
      sleep.wait()
      run()
      let hasEnded = state.withLock { state in
        guard state.phase == .ending, state.work.isEmpty else { return false }
        state.phase = .ended
        thread.store(0, ordering: .relaxed)
        return true
      }
      if hasEnded { return }
    }
  }

  /// Runs work on this thread, also what is added meanwhile, by this thread and by others.
  private func runHere() {
    thread.store(currentThreadIdentity(), ordering: .relaxed)
    while true {
      let work: [LoopThread.Work] = state.withLock { state in
        if state.work.isEmpty {
          thread.store(0, ordering: .relaxed)
          state.isAwake = false
        }
        defer { state.work = [] }
        return state.work
      }
      if work.isEmpty { return }
      for item in work { item() }
    }
  }
}

#if os(Linux)
  /// A semaphore of the C library. Sendable because its functions may be called on any thread.
  private final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }

    func wait() {
      while sem_wait(semaphore) != 0, errno == EINTR {}
    }
  }
#else
  import Dispatch

  // The C library has none without a name.
  private typealias Semaphore = DispatchSemaphore
#endif
