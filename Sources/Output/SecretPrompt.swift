import Glibc
import Interceptors

/// Prompts for a secret on the controlling terminal, whether or not standard input is redirected.
package final class SecretPrompt {
  /// The secrets that were typed, by prompt: a session needs the same secret for each call.
  private var secrets: [String: String] = [:]

  package init() {}

  /// Prompts for a line without echo. Returns nil if there is no terminal or the line is empty.
  package func ask(_ prompt: String) -> String? {
    if let secret = secrets[prompt] { return secret }
    let secret = Self.read(prompt)
    secrets[prompt] = secret
    return secret
  }

  private static func read(_ prompt: String) -> String? {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    var shown = termios()
    guard tcgetattr(terminal, &shown) == 0 else { return nil }
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    guard tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 else { return nil }
    defer {
      tcsetattr(terminal, TCSAFLUSH, &shown)
      _ = write(terminal, "\n", 1)
    }
    let text = Array(TerminalText.escape(prompt).utf8)
    _ = write(terminal, text, text.count)
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while Glibc.read(terminal, &byte, 1) == 1, byte != UInt8(ascii: "\n"), line.count < 4096 {
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }
}
