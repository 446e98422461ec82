import Glibc
import Interceptors
import System

/// Standard output, and what standard error says between its lines.
///
/// What is added waits until a flush. `flush` waits for the reader; `flushWhatFits` does not, so that a call goes on
/// while its reader takes its time.
package enum StandardOutput {
  /// Text for standard error that stands behind `offset` bytes of the buffer.
  private struct Remark {
    let offset: Int
    let text: String
  }

  nonisolated(unsafe) private static var stream = OutputStream(1)
  /// What it is called in errors.
  nonisolated(unsafe) private static var name = "standard output"
  /// Called before the process ends because of an error.
  nonisolated(unsafe) private static var whenFailed: (() -> Void)?
  nonisolated(unsafe) private static var buffer: [UInt8] = []
  /// How much of the buffer has been written.
  nonisolated(unsafe) private static var written = 0
  nonisolated(unsafe) private static var remarks: [Remark] = []
  /// Called when much waits; without it, `write` waits for the reader.
  package nonisolated(unsafe) static var whenFull: (() -> Void)?

  /// Whether a person sees it.
  package static var isTerminal: Bool { stream.isTerminal }

  /// Whether what is written is text, of which nothing may steer a terminal.
  package nonisolated(unsafe) static var holdsText = true

  /// Writes to another descriptor from now on, before anything was written.
  ///
  /// - Parameters:
  ///   - name: What it is called in errors.
  ///   - whenFailed: Called before the process ends because it cannot be written.
  package static func redirect(to descriptor: Int32, name: String, whenFailed: @escaping () -> Void) {
    stream = OutputStream(descriptor)
    self.name = name
    self.whenFailed = whenFailed
  }

  /// The descriptor that tells when more can be written.
  package static var descriptor: Int32 { stream.descriptor }

  /// What is kept until it is written, without asking for a flush.
  private static let limitBytes = 1 << 16
  /// What is kept at most: one piece of the network may hold messages that are large when they are printed.
  private static let mostBytes = 8 << 20

  /// What waits to be written.
  package static var waitingBytes: Int { buffer.count - written }

  /// Adds `bytes` to what the next flush writes.
  package static func write(_ bytes: [UInt8]) {
    write { $0.append(contentsOf: bytes) }
  }

  /// Adds what `body` appends to what the next flush writes; nothing when it throws.
  package static func write<E: Error>(_ body: (inout [UInt8]) throws(E) -> Void) throws(E) {
    let count = buffer.count
    do throws(E) {
      try body(&buffer)
    } catch {
      buffer.removeLast(buffer.count - count)
      throw error
    }
    makeSafe(from: count)
    guard waitingBytes >= limitBytes else { return }
    if waitingBytes < mostBytes, let whenFull { whenFull() } else { flush() }
  }

  /// Adds `bytes` to what the next flush writes.
  package static func write(_ bytes: UnsafeRawBufferPointer) {
    let count = buffer.count
    buffer.append(contentsOf: bytes)
    makeSafe(from: count)
  }

  /// Sees to it that what was added does not steer a terminal. In a pipe it is data, and stays as it is.
  private static func makeSafe(from start: Int) {
    guard isTerminal, holdsText, let safe = TerminalText.escaped(printed: buffer[start...]) else { return }
    buffer.replaceSubrange(start..., with: safe)
  }

  /// Says `text` on standard error, after what was written before.
  package static func remark(_ text: String) {
    guard waitingBytes > 0 || !remarks.isEmpty || TerminalMultiplexer.isLent else {
      return StandardError.write(text)
    }
    remarks.append(Remark(offset: buffer.count, text: text))
  }

  /// Writes what was added, waiting for the reader while the command goes on. When the command is to end, a reader
  /// that takes nothing loses the rest, which is told.
  package static func flush() {
    guard !TerminalMultiplexer.isLent else { return }
    while !flushWhatFits() {
      guard FlushDeadline.wait(for: stream) else { return giveUp() }
    }
  }

  /// Writes what the reader takes at once; `false` when some is left.
  ///
  /// A reader that went away ends the process as it ends any other; any other error (a full disk) is told.
  package static func flushWhatFits() -> Bool {
    guard waitingBytes > 0 || !remarks.isEmpty else { return true }
    guard !TerminalMultiplexer.isLent else {
      return waitingBytes + remarks.reduce(0) { $0 + $1.text.utf8.count } < limitBytes
    }
    var isAll = false
    TerminalMultiplexer.write { isAll = writeWhatFits() }
    return isAll
  }

  private static func writeWhatFits() -> Bool {
    while true {
      while let next = remarks.first, next.offset <= written {
        remarks.removeFirst()
        StandardError.write(next.text)
      }
      let end = remarks.first?.offset ?? buffer.count
      guard end > written else { break }
      let outcome = buffer.withUnsafeBytes {
        stream.write(UnsafeRawBufferPointer(rebasing: $0[written..<end]))
      }
      switch outcome {
      case .wrote(let count):
        if TerminalMultiplexer.transcript != nil {
          TerminalMultiplexer.note(buffer[written..<(written + count)])
        }
        written += count
      case .full:
        dropWritten()
        return false
      case .failed(let error): fail(error)
      }
    }
    buffer.removeAll(keepingCapacity: true)
    written = 0
    return true
  }

  /// What was written must not pile up in front of what was not.
  private static func dropWritten() {
    guard written > buffer.count / 2 else { return }
    buffer.removeFirst(written)
    remarks = remarks.map { Remark(offset: $0.offset - written, text: $0.text) }
    written = 0
  }

  private static func giveUp() {
    let lost = waitingBytes
    for remark in remarks { StandardError.write(remark.text) }
    remarks = []
    buffer = []
    written = 0
    let words = Failure.Words(what: name, why: "its reader did not take the last \(lost) bytes")
    StandardError.tell(ErrorReport(words, nil))
  }

  private static func fail(_ error: Int32) -> Never {
    whenFailed?()
    StandardError.show(progress: nil)
    if error == EPIPE {
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    let words = Failure.Words(what: name, why: String(cString: strerror(error)))
    StandardError.tell(ErrorReport(words, .internalError))
    exit(ExitStatus.internalError.rawValue)
  }
}
