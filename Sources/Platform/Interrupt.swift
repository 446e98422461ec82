import Synchronization

/// Turns SIGINT (Ctrl-C), SIGTERM and SIGHUP into a descriptor that the event loop can wait for.
///
/// The first signal of each kind makes the descriptor readable. A second one restores the terminal and ends the
/// process at once. A session calls `rearm` after it has handled the first signal.
///
/// Global, because a process has one handler of a signal, which has no parameter for other data.
package enum Interrupt {
  // nil if it cannot be created. A handler only reads it: `install` creates it first.
  private static let pipe: Pipe? = {
    guard let pipe = Pipe() else { return nil }
    _ = fcntl(pipe.readEnd, F_SETFL, O_NONBLOCK)
    return pipe
  }()
  // The read end of the pipe, -1 before `install`.
  private static let installed = Atomic<Int32>(-1)
  // The number of the first signal, SIGPIPE for a failed output, 0 for none. Set by the handler and by `rearm`.
  private static let signalNumber = Atomic<Int32>(0)
  private static let deferral = Atomic<Bool>(false)

  /// Becomes readable when a signal arrives, and stays readable until `rearm`; -1 before `install`.
  package static var descriptor: Int32 { installed.load(ordering: .relaxed) }

  /// Whether the first signal has no effect yet: it is pending when this is false again. A second one ends the process.
  package static var isDeferred: Bool {
    get { deferral.load(ordering: .relaxed) }
    set { deferral.store(newValue, ordering: .relaxed) }
  }

  /// Whether a signal has arrived.
  package static var isPending: Bool { first != 0 && !isDeferred }

  /// Whether the signal that arrived is SIGTERM.
  package static var isTermination: Bool { first == SIGTERM }

  /// Whether standard output has failed, and no signal has arrived.
  package static var isFailedOutput: Bool { first == SIGPIPE }

  /// The effect of the signal, as a word of an error message.
  package static var reason: String { isTermination ? "terminated" : "interrupted" }

  private static var first: Int32 { signalNumber.load(ordering: .relaxed) }

  /// Called in the signal handler before the second signal ends the process. Must be async-signal-safe.
  package nonisolated(unsafe) static var beforeEnd: (@convention(c) () -> Void)?

  /// Installs the signal handlers. Returns the descriptor that becomes readable, or nil if no pipe could be created.
  ///
  /// Further calls return the same. Any thread may call it.
  package static func install() -> Int32? {
    if descriptor >= 0 { return descriptor }
    guard let pipe else { return nil }
    // Creates what the handlers use: a debug build would do so at the first use.
    _ = (first, isDeferred)
    OwnedGroups.prepare()
    arm()
    handleHangUp()
    installed.store(pipe.readEnd, ordering: .relaxed)
    return pipe.readEnd
  }

  /// Resets the state after a signal was handled, so that the next one counts as the first.
  package static func rearm() {
    guard descriptor >= 0 else { return }
    var bytes: (UInt64, UInt64) = (0, 0)
    while read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    signalNumber.store(0, ordering: .relaxed)
    arm()
  }

  /// Has the effect of a first SIGINT, unless a signal has arrived.
  package static func request() { note(SIGINT) }

  /// Ends calls as a first SIGINT does, since standard output has failed, unless a signal has arrived. One that arrives later
  /// counts as the first.
  package static func noteFailedOutput() { note(SIGPIPE) }

  /// Gives SIGHUP the effect of a first SIGTERM, unless the process ignores it, as below nohup. Further ones have none:
  /// when a terminal closes, its shell and the kernel both send it.
  private static func handleHangUp() {
    var action = sigaction()
    sigaction(SIGHUP, nil, &action)
    let ignoring = unsafeBitCast(SIG_IGN, to: Int.self)
    guard unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != ignoring else { return }
    action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in
      let saved = errno
      Interrupt.note(SIGTERM)
      errno = saved
    }
    action.sa_flags = SA_RESTART
    sigaction(SIGHUP, &action, nil)
  }

  private static func note(_ number: Int32) {
    let (isFirst, earlier) = signalNumber.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    if !isFirst, earlier == SIGPIPE {
      _ = signalNumber.compareExchange(expected: SIGPIPE, desired: number, ordering: .relaxed)
    }
    var byte: UInt8 = 1
    if let pipe, !isDeferred { _ = write(pipe.writeEnd, &byte, 1) }
  }

  private static func arm() {
    for number in [SIGINT, SIGTERM] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        let saved = errno
        Interrupt.note(number)
        Interrupt.endAtNext(number)
        errno = saved
      }
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_RESTART
      sigaction(number, &action, nil)
    }
  }

  /// Makes the next signal of this kind end the process. Called by the signal handler.
  private static func endAtNext(_ number: Int32) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in
      Interrupt.beforeEnd?()
      OwnedGroups.kill()
      // The signal is blocked until this handler returns; then its default action ends the process.
      raise(number)
    }
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    sigaction(number, &action, nil)
  }
}
