import Glibc
import Interceptors
import System

/// Buffered standard output, and text for standard error in the order of the output.
///
/// `flush` waits for the reader. `flushWhatFits` does not, so that a call continues while the reader is slow.
package enum StandardOutput {
  /// Text for standard error that follows `offset` bytes of the buffer.
  private struct Remark {
    let offset: Int
    let text: String
  }

  nonisolated(unsafe) private static var stream = OutputStream(1)
  /// The name of the output in errors.
  nonisolated(unsafe) private static var name = "standard output"
  /// Called before a write error ends the process.
  nonisolated(unsafe) private static var whenFailed: (() -> Void)?
  nonisolated(unsafe) private static var buffer: [UInt8] = []
  /// The number of bytes of the buffer that have been written.
  nonisolated(unsafe) private static var written = 0
  nonisolated(unsafe) private static var remarks: [Remark] = []
  /// Called when the buffer is large; if nil, `write` waits for the reader instead.
  package nonisolated(unsafe) static var whenFull: (() -> Void)?

  /// Whether the output is a terminal.
  package static var isTerminal: Bool { stream.isTerminal }

  /// Whether the output is text, in which control characters are escaped on a terminal.
  package nonisolated(unsafe) static var holdsText = true

  /// Sets another descriptor as the output, before anything is written.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor to write to.
  ///   - name: The name of the output in errors.
  ///   - whenFailed: Called before a write error ends the process.
  package static func redirect(to descriptor: Int32, name: String, whenFailed: @escaping () -> Void) {
    stream = OutputStream(descriptor)
    self.name = name
    self.whenFailed = whenFailed
  }

  /// The descriptor to poll for room to write.
  package static var descriptor: Int32 { stream.descriptor }

  /// The size at which a write calls `whenFull`, in bytes.
  private static let limitBytes = 1 << 16
  /// The size at which a write flushes, in bytes: one read from the network may hold messages that are large when
  /// printed.
  private static let mostBytes = 8 << 20

  /// The number of bytes that are not written yet.
  package static var waitingBytes: Int { buffer.count - written }

  /// Appends `bytes` to the buffer.
  package static func write(_ bytes: [UInt8]) {
    write { $0.append(contentsOf: bytes) }
  }

  /// Appends what `body` appends; nothing if it throws.
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

  /// Appends `bytes` to the buffer, without a flush.
  package static func write(_ bytes: UnsafeRawBufferPointer) {
    let count = buffer.count
    buffer.append(contentsOf: bytes)
    makeSafe(from: count)
  }

  /// Escapes control characters in the new text for a terminal. Output to a pipe or a file is data, and is not
  /// changed.
  private static func makeSafe(from start: Int) {
    guard isTerminal, holdsText, let safe = TerminalText.escaped(printed: buffer[start...]) else { return }
    buffer.replaceSubrange(start..., with: safe)
  }

  /// Writes `text` to standard error, after the output so far.
  package static func remark(_ text: String) {
    guard waitingBytes > 0 || !remarks.isEmpty || TerminalMultiplexer.isLent else {
      return StandardError.write(text)
    }
    remarks.append(Remark(offset: buffer.count, text: text))
  }

  /// Writes the whole buffer. Waits for the reader within `FlushDeadline`; then discards the rest and reports that.
  package static func flush() {
    guard !TerminalMultiplexer.isLent else { return }
    while !flushWhatFits() {
      guard FlushDeadline.wait(for: stream) else { return giveUp() }
    }
  }

  /// Writes as much of the buffer as the reader accepts without blocking. Returns false if some is left.
  ///
  /// A closed pipe ends the process with SIGPIPE; any other write error (a full disk) is reported and ends it.
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
          TerminalMultiplexer.record(buffer[written..<(written + count)])
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

  /// Frees the written part of the buffer once it is the larger part.
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
    let message = Failure.Message(what: name, why: "\(lost) bytes were discarded: the reader stopped reading")
    StandardError.report(ErrorReport(message, nil))
  }

  private static func fail(_ error: Int32) -> Never {
    whenFailed?()
    StandardError.show(progress: nil)
    if error == EPIPE {
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    let message = Failure.Message(what: name, why: String(cString: strerror(error)))
    StandardError.report(ErrorReport(message, .internalError))
    exit(ExitStatus.internalError.rawValue)
  }
}
