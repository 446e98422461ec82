import Calls
import Glibc
import Output
import System

/// A file that receives the input and output of a session, without colours.
package final class SessionTranscript {
  private let descriptor: Int32
  private let waitLimit: Duration?
  private let console: Console
  private var secrets: WrittenSecrets
  private var isInEscape = false
  /// Called once with the reason if writing fails.
  private var whenFailed: ((String) -> Void)?

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - console: Where the session prints.
  ///   - secrets: Replaces the credentials in lines.
  ///   - waitLimit: How long to wait for the reader of a pipe; nil for no limit.
  ///   - whenFailed: Called once with the reason if writing fails later.
  package init(
    _ path: String, of console: Console, _ secrets: WrittenSecrets, waitLimit: Duration?,
    whenFailed: @escaping (String) -> Void
  ) throws(Failure) {
    // Mode 0600: the file may contain confidential data.
    do throws(FileContents.Problem) {
      descriptor = try FileContents.openForWriting(path, mode: 0o600, waitLimit: waitLimit)
    } catch {
      throw Interrupt.failure ?? Failure(.internalError, path, error.why)
    }
    self.secrets = secrets
    self.waitLimit = waitLimit
    self.console = console
    self.whenFailed = whenFailed
    console.terminal.transcript = { [weak self] bytes in self?.write(bytes) }
  }

  deinit {
    console.terminal.transcript = nil
    close(descriptor)
  }

  /// Writes a typed line without its secrets.
  ///
  /// - Parameters:
  ///   - prompt: The prompt of the line.
  ///   - line: The line.
  ///   - begun: The lines of its statement before it. If the first one begins a secret, the line is a part of it.
  package func typed(_ prompt: String, _ line: String, within begun: String) {
    _ = console.output.flushWhatFits()
    let isSecret = secrets.occur(inLine: String(begun.prefixOfScalars { $0 != "\n" }))
    write(Array("\(prompt)\(isSecret ? "…" : secrets.line(line))\n".utf8))
  }

  private func write(_ bytes: [UInt8]) {
    let plain = bytes.filter { byte in
      // The escape sequences that rpcurl writes are ESC [ … and a letter.
      if byte == 0x1B {
        isInEscape = true
        return false
      }
      guard isInEscape else { return true }
      if byte >= 0x40, byte != UInt8(ascii: "[") { isInEscape = false }
      return false
    }
    guard let problem = FileContents.write(plain, to: descriptor, waitLimit: waitLimit),
      let report = whenFailed
    else { return }
    whenFailed = nil
    report(problem.why)
  }
}
