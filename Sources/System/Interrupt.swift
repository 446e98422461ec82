import Glibc

/// Ctrl-C and SIGTERM, turned into something that the event loop can wait for.
///
/// The first signal of each kind makes the descriptor readable. A second one restores the terminal and ends the process
/// at once, in any state. A session takes the signal over again when it has done what the first one asks for.
package enum Interrupt {
  // Written by `install` before any signal can come; a handler may only read it.
  nonisolated(unsafe) private static var writeEnd: Int32 = -1
  // The first signal that came; written by the handler, and by `rearm`.
  nonisolated(unsafe) private static var signalNumber: Int32 = 0

  /// What becomes readable when a signal came, and stays so; -1 before `install`.
  nonisolated(unsafe) package private(set) static var descriptor: Int32 = -1

  /// Whether a signal came.
  package static var isPending: Bool { signalNumber != 0 }

  /// Whether the signal that came is SIGTERM.
  package static var isTermination: Bool { signalNumber == SIGTERM }

  /// What the signal did, in a word.
  package static var reason: String { isTermination ? "terminated" : "interrupted" }

  /// Called in a signal handler before the second signal ends the process; restores the terminal.
  package nonisolated(unsafe) static var beforeEnd: (@convention(c) () -> Void)?

  /// Takes over the signals. Gives the descriptor that becomes readable, or `nil` when there is none to be had.
  ///
  /// Further calls give the same one.
  package static func install() -> Int32? {
    if descriptor >= 0 { return descriptor }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    writeEnd = ends[1]
    descriptor = ends[0]
    arm()
    return descriptor
  }

  /// Forgets the signal that came, which has had its effect, and waits for the next one.
  package static func rearm() {
    guard descriptor >= 0 else { return }
    var bytes: (UInt64, UInt64) = (0, 0)
    while read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    signalNumber = 0
    arm()
  }

  private static func arm() {
    for number in [SIGINT, SIGTERM] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        let saved = errno
        if Interrupt.signalNumber == 0 { Interrupt.signalNumber = number }
        var byte: UInt8 = 1
        _ = write(Interrupt.writeEnd, &byte, 1)
        Interrupt.endAtNext(number)
        errno = saved
      }
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_RESTART
      sigaction(number, &action, nil)
    }
  }

  /// Has the next signal of this kind end the process. Called by a signal handler.
  private static func endAtNext(_ number: Int32) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in
      Interrupt.beforeEnd?()
      // Blocked until this returns; then it has its usual effect.
      raise(number)
    }
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    sigaction(number, &action, nil)
  }
}
