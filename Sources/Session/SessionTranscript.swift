import Glibc
import Output
import System

/// What is typed and shown, written to a file as it comes, without colours.
package final class SessionTranscript {
  private let descriptor: Int32
  private var secrets = SessionSecrets(showsSecrets: false)
  private var isInEscape = false
  /// Called once, when no more can be written.
  private var whenFailed: ((String) -> Void)?

  /// Begins a transcript.
  package init(_ path: String, whenFailed: @escaping (String) -> Void) throws(Failure) {
    // What is written there may be confidential.
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(.internalError, path, FileContents.lastError()) }
    self.whenFailed = whenFailed
    TerminalMultiplexer.transcript = { [weak self] bytes in self?.write(bytes) }
  }

  deinit {
    TerminalMultiplexer.transcript = nil
    close(descriptor)
  }

  /// Notes a line that was typed; secrets in it are not written.
  package func typed(_ prompt: String, _ line: String) {
    _ = StandardOutput.flushWhatFits()
    write(Array("\(prompt)\(secrets.line(line))\n".utf8))
  }

  private func write(_ bytes: [UInt8]) {
    let plain = bytes.filter { byte in
      // Our own escape sequences are ESC [ … and a letter.
      if byte == 0x1B {
        isInEscape = true
        return false
      }
      guard isInEscape else { return true }
      if byte >= 0x40, byte != UInt8(ascii: "[") { isInEscape = false }
      return false
    }
    guard let problem = FileContents.write(plain, to: descriptor), let tell = whenFailed else { return }
    whenFailed = nil
    tell(problem.why)
  }
}
