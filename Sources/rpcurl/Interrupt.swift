import Glibc

/// Ctrl-C and SIGTERM, turned into something that the event loop can wait for.
///
/// The first signal of each kind makes the descriptor readable and gives that signal back its usual effect, so
/// that a second one ends the process at once, whatever it is busy with.
enum Interrupt {
  /// Written by `install` before any signal can come; a handler may only read it.
  nonisolated(unsafe) private static var writeEnd: Int32 = -1
  nonisolated(unsafe) private static var readEnd: Int32 = -1

  /// Takes over the signals. Gives the descriptor that becomes readable, or `nil` when there is none to be had.
  ///
  /// Further calls give the same one; it stays readable once a signal came.
  static func install() -> Int32? {
    if readEnd >= 0 { return readEnd }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    writeEnd = ends[1]
    for number in [SIGINT, SIGTERM] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in
        let saved = errno
        var byte: UInt8 = 1
        _ = write(Interrupt.writeEnd, &byte, 1)
        errno = saved
      }
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_RESTART
      sigaction(number, &action, nil)
    }
    readEnd = ends[0]
    return readEnd
  }
}
