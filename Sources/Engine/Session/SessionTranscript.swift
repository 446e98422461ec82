import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

/// A file that receives the input and output of a session, without colours.
package final class SessionTranscript {
  private let file: AppendedFile
  private let console: Console
  private let secrets: SessionSecrets
  /// The output of the line that is not complete: a secret must not be in two parts.
  private var held: [UInt8] = []
  /// The most bytes of a line that are held.
  private static let maxHeld = 65_536
  private var isInEscape = false
  /// Called once with the reason if writing fails.
  private var whenFailed: ((String) -> Void)?

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - console: Where the session prints.
  ///   - secrets: The credentials, which the file does not contain.
  ///   - waitLimit: How long to wait for the reader of a pipe; nil for no limit.
  ///   - whenFailed: Called once with the reason if writing fails later.
  package init(
    _ path: String, of console: Console, _ secrets: SessionSecrets, waitLimit: Duration?,
    whenFailed: @escaping (String) -> Void
  ) throws(Failure) {
    do throws(SystemError) {
      file = try AppendedFile(path, isAppending: false, waitLimit: waitLimit)
      try file.write([])
    } catch {
      throw Interrupt.failure ?? Failure(.internalError, path, error)
    }
    self.secrets = secrets
    self.console = console
    self.whenFailed = whenFailed
    console.terminal.transcript = { [weak self] bytes in self?.write(bytes) }
  }

  deinit {
    console.terminal.transcript = nil
    write(masked: held)
  }

  /// Writes a typed line without its secrets.
  ///
  /// - Parameters:
  ///   - prompt: The prompt of the line.
  ///   - line: The line.
  ///   - begun: The lines of its statement before it. If the first one begins a secret, the line is a part of it.
  package func typed(_ prompt: String, _ line: String, within begun: String) {
    _ = console.output.flushWhatFits()
    var written = WrittenSecrets(secrets.names, separates: false)
    let isSecret = written.occur(inLine: String(begun.prefixOfScalars { $0 != "\n" }))
    write(Array("\(prompt)\(isSecret ? "…" : written.line(line))\n".utf8))
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
    held += plain
    let end = held.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let complete = held.count - end > Self.maxHeld ? held.count : end
    let written = Array(held[..<complete])
    // Before the write: a report of its failure is written here, too.
    held.removeFirst(complete)
    write(masked: written)
  }

  private func write(masked bytes: [UInt8]) {
    do throws(SystemError) {
      try file.write(secrets.known.mask.apply(bytes))
    } catch {
      let report = whenFailed
      whenFailed = nil
      report?(error.reason)
    }
  }
}
