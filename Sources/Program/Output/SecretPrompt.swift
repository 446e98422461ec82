import RPCurlBase
import RPCurlPlatform

/// Prompts for a secret on the controlling terminal, whether or not standard input is redirected.
package final class SecretPrompt {
  /// The secrets that were typed, by prompt: a session needs the same secret for each call.
  private var secrets: [String: String] = [:]

  package init() {}

  /// Prompts for a line without echo. Returns nil if there is no terminal or the line is empty.
  ///
  /// - Throws: `Failure` if a signal arrives meanwhile, or if the line is not UTF-8.
  package func ask(_ prompt: String) throws(Failure) -> String? {
    if let secret = secrets[prompt] { return secret }
    let secret = try Self.read(prompt)
    secrets[prompt] = secret
    return secret
  }

  private static func read(_ prompt: String) throws(Failure) -> String? {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    // A signal must not end the process without echo.
    _ = Interrupt.install()
    var shown = termios()
    guard tcgetattr(terminal, &shown) == 0 else { return nil }
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    withUnsafeMutableBytes(of: &hidden.c_cc) { $0[Int(VQUIT)] = 0 }
    guard tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 else { return nil }
    defer {
      tcsetattr(terminal, TCSAFLUSH, &shown)
      _ = write(terminal, "\n", 1)
    }
    let text = Array(TerminalText.escape(prompt).utf8)
    _ = write(terminal, text, text.count)
    var line: [UInt8] = []
    while line.count < 4096, let byte = try nextByte(terminal), byte != UInt8(ascii: "\n") {
      line.append(byte)
    }
    guard let secret = String(validating: line, as: UTF8.self) else {
      throw Failure(.usage, String(prompt.dropLast(2)), "is not UTF-8 text")
    }
    return secret.isEmpty ? nil : secret
  }

  /// Waits for a byte; returns nil at the end of the input.
  private static func nextByte(_ terminal: Int32) throws(Failure) -> UInt8? {
    while true {
      var waits = [terminal, Interrupt.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let count = poll(&waits, nfds_t(waits.count), -1)
      if let failure = Interrupt.failure { throw failure }
      var byte: UInt8 = 0
      let length = count > 0 ? RPCurlPlatform.read(terminal, &byte, 1) : -1
      if length == 1 { return byte }
      guard length < 0, errno == EINTR else { return nil }
    }
  }
}
