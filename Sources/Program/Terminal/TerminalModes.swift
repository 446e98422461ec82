import RPCurlPlatform

/// Switches the terminal between key-by-key input, while a line is edited, and its original modes.
///
/// Restores the original modes however the process ends, except by SIGKILL.
///
/// Global, because a process has one controlling terminal, whose modes its signal handlers restore.
package enum TerminalModes {
  // Set before the signal handlers that read it are installed. Not a global structure of C: those that have padding within
  // get less room from this compiler than C writes.
  nonisolated(unsafe) private static let found: UnsafeMutablePointer<termios> = {
    let modes = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    modes.initialize(to: termios())
    return modes
  }()
  nonisolated(unsafe) package private(set) static var isKeyByKey = false
  nonisolated(unsafe) private static var isPrepared = false

  /// The previous signal actions, by signal number.
  nonisolated(unsafe) private static var before = Array<sigaction>(repeating: sigaction(), count: 65)
  nonisolated(unsafe) private static var hasEnded = false
  /// A combination of flags that no other code uses: it identifies our signal handlers.
  private static let ownMark = Int32(SA_SIGINFO | SA_ONSTACK | SA_NOCLDSTOP | SA_RESTART)

  /// The signals that end the process; the terminal is restored first.
  private static let endings = [
    SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP,
  ]
  /// The control sequences that enable and disable bracketed paste.
  private static let marksPastes: StaticString = "\u{1B}[?2004h"
  private static let marksNoPastes: StaticString = "\u{1B}[?2004l"

  /// Switches standard input to key-by-key input. Returns false if it is not a terminal.
  package static func enter() -> Bool {
    guard !isKeyByKey else { return true }
    // Keep the first modes: later ones may be ours, or those of a shell that stopped this process.
    guard isPrepared || tcgetattr(0, found) == 0 else { return false }
    prepare()
    var modes = found.pointee
    modes.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR | ISTRIP)
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN | ISIG)
    withUnsafeMutableBytes(of: &modes.c_cc) {
      $0[Int(VMIN)] = 1
      $0[Int(VTIME)] = 0
    }
    isKeyByKey = true
    guard tcsetattr(0, TCSANOW, &modes) == 0 else {
      isKeyByKey = false
      return false
    }
    write(marksPastes)
    return true
  }

  /// Restores the original modes. Async-signal-safe.
  package static func restore() {
    guard isKeyByKey else { return }
    isKeyByKey = false
    write(marksNoPastes)
    tcsetattr(0, TCSANOW, found)
  }

  /// Marks the terminal as not switched, because another process has changed its modes.
  package static func reset() { isKeyByKey = false }

  private static func write(_ text: StaticString) {
    _ = RPCurlPlatform.write(1, text.utf8Start, text.utf8CodeUnitCount)
  }

  private static func prepare() {
    if !isPrepared {
      atexit { TerminalModes.restore() }
      Interrupt.beforeEnd = { TerminalModes.restore() }
    }
    isPrepared = true
    for number in endings { prepare(number) }
  }

  /// Installs our handler in front of the current one; again, if another was installed since.
  private static func prepare(_ number: Int32) {
    var current = sigaction()
    guard sigaction(number, nil, &current) == 0 else { return }
    let isCrash = ![SIGTERM, SIGHUP, SIGINT, SIGQUIT].contains(number)
    let isDefault = current.__sigaction_handler.sa_handler == nil
    // A handler of a termination signal ends the process in an orderly way, so leave it; a handler of a crash does
    // not.
    guard isDefault || isCrash, current.sa_flags & ownMark != ownMark else { return }
    before[Int(number)] = current
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = { number, information, _ in
      let saved = errno
      TerminalModes.restore()
      var next = TerminalModes.hasEnded ? sigaction() : TerminalModes.before[Int(number)]
      TerminalModes.hasEnded = true
      sigaction(number, &next, nil)
      // A fault recurs when the handler returns; a signal that was sent must be raised again.
      if let information, information.pointee.si_code <= 0 { raise(number) }
      errno = saved
    }
    action.sa_flags = ownMark
    sigaction(number, &action, nil)
  }

  /// The columns and rows of the window; 80 by 24 if unknown.
  package static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Whether this process is in the foreground of its terminal.
  package static var isForeground: Bool {
    let group = tcgetpgrp(0)
    return group < 0 || group == getpgrp()
  }
}
