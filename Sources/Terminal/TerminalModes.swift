import Glibc
import System

/// How the terminal hands over what is typed: key by key while a line is edited, else as it was found.
///
/// It is given back however the process ends, but for SIGKILL.
package enum TerminalModes {
  // Written before handlers are in place that read them.
  nonisolated(unsafe) private static var found = termios()
  nonisolated(unsafe) package private(set) static var isTaken = false
  nonisolated(unsafe) private static var isPrepared = false

  /// What handled the signals before, by number.
  nonisolated(unsafe) private static var before = Array<sigaction>(repeating: sigaction(), count: 65)
  nonisolated(unsafe) private static var hasEnded = false
  /// Flags that nobody else combines: they tell our handlers from others.
  private static let ownMark = Int32(SA_SIGINFO | SA_ONSTACK | SA_NOCLDSTOP | SA_RESTART)

  /// The signals that end the process, and after which the terminal is to be as it was.
  private static let endings = [
    SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP,
  ]
  /// Has the terminal mark what is pasted, or not.
  private static let marksPastes: StaticString = "\u{1B}[?2004h"
  private static let marksNoPastes: StaticString = "\u{1B}[?2004l"

  /// Has keys come one by one from standard input. `false` when it is no terminal.
  package static func take() -> Bool {
    guard !isTaken else { return true }
    // As it was found at first: later it may be as we, or a shell that stopped us, left it.
    guard isPrepared || tcgetattr(0, &found) == 0 else { return false }
    prepare()
    var modes = found
    modes.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR | ISTRIP)
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN | ISIG)
    withUnsafeMutableBytes(of: &modes.c_cc) {
      $0[Int(VMIN)] = 1
      $0[Int(VTIME)] = 0
    }
    isTaken = true
    guard tcsetattr(0, TCSANOW, &modes) == 0 else {
      isTaken = false
      return false
    }
    write(marksPastes)
    return true
  }

  /// Gives the terminal back as it was found. Also for signal handlers.
  package static func giveBack() {
    guard isTaken else { return }
    isTaken = false
    write(marksNoPastes)
    tcsetattr(0, TCSANOW, &found)
  }

  /// Forgets that the terminal was taken: somebody else has changed it since.
  package static func forget() { isTaken = false }

  private static func write(_ text: StaticString) {
    _ = Glibc.write(1, text.utf8Start, text.utf8CodeUnitCount)
  }

  private static func prepare() {
    if !isPrepared {
      atexit { TerminalModes.giveBack() }
      Interrupt.beforeEnd = { TerminalModes.giveBack() }
    }
    isPrepared = true
    for number in endings { prepare(number) }
  }

  /// Puts a handler before the one that is there, again if another was put before it since.
  private static func prepare(_ number: Int32) {
    var current = sigaction()
    guard sigaction(number, nil, &current) == 0 else { return }
    let isCrash = ![SIGTERM, SIGHUP, SIGINT, SIGQUIT].contains(number)
    let isDefault = current.__sigaction_handler.sa_handler == nil
    // Who handles a signal that is sent ends in order; who handles a crash does not.
    guard isDefault || isCrash, current.sa_flags & ownMark != ownMark else { return }
    before[Int(number)] = current
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = { number, information, _ in
      let saved = errno
      TerminalModes.giveBack()
      var next = TerminalModes.hasEnded ? sigaction() : TerminalModes.before[Int(number)]
      TerminalModes.hasEnded = true
      sigaction(number, &next, nil)
      // A fault happens again when this returns; what was sent does not.
      if let information, information.pointee.si_code <= 0 { raise(number) }
      errno = saved
    }
    action.sa_flags = ownMark
    sigaction(number, &action, nil)
  }

  /// The columns and rows of the window.
  package static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Whether the terminal is ours to use: the shell, if it is of one, has not put us in the background.
  package static var isForeground: Bool {
    let group = tcgetpgrp(0)
    return group < 0 || group == getpgrp()
  }
}
