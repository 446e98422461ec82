import RPCurlPlatform

extension StandardError {
  /// Begins a new line if the terminal has echoed Ctrl-C as `^C`.
  package func endEchoedLine() {
    var modes = termios()
    let echo = tcflag_t(ECHO | ECHOCTL)
    guard Interrupt.isPending, !Interrupt.isTermination, isTerminal, !terminal.isLent,
      tcgetpgrp(2) == getpgrp(), tcgetattr(2, &modes) == 0, modes.c_lflag & echo == echo
    else { return }
    // It is removed with the progress line.
    if !show(progress: nil) { write("\n") }
  }
}
