import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf

/// Buffered standard output, and text for standard error in the order of the output.
///
/// `flush` waits for the reader. `flushWhatFits` does not, so that a call continues while the reader is slow.
package final class StandardOutput {
  /// Text for standard error that follows `offset` bytes of output, those that the buffer no longer holds included.
  private struct Remark {
    let offset: Int
    let text: String
  }

  /// Standard error, which remarks go to.
  package let error: StandardError
  private var stream: OutputStream
  /// The name of the output in errors.
  private var name = "standard output"
  /// Called before a write error ends the process.
  private var whenFailed: (() -> Void)?
  private var buffer = OutputBuffer()
  /// The number of bytes of the buffer that have been written.
  private var written = 0
  /// The number of bytes that were removed from the buffer since it was last empty.
  private var removed = 0
  // A slice: the first is removed without moving the others, of which a slow reader may leave many.
  private var remarks: ArraySlice<Remark> = []
  /// Called at a write error, which is kept as `failure`; if nil, the error ends the process.
  package var onFailure: (() -> Void)?
  /// The `errno` of a write error that was kept. The output after it is discarded.
  private var failure: Int32?
  /// Whether what is written is collected for `endHold`.
  private var isHeld = false
  /// The line with the names of the columns that the rows written now have; nil if something else is written.
  private var head: String?
  /// Called when the buffer is large; if nil, `write` waits for the reader instead.
  package var whenFull: (() -> Void)?

  /// Creates an output.
  ///
  /// - Parameters:
  ///   - stream: Where it is written.
  ///   - error: Standard error, which remarks go to.
  package init(_ stream: OutputStream, error: StandardError) {
    self.stream = stream
    self.error = error
  }

  /// Whether the output is a terminal.
  package var isTerminal: Bool { stream.isTerminal }

  /// Whether the output is text, in which control characters are escaped on a terminal.
  package var holdsText = true

  /// Sets another descriptor as the output, before anything is written.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor to write to.
  ///   - name: The name of the output in errors.
  ///   - whenFailed: Called before a write error ends the process.
  package func redirect(to descriptor: Int32, name: String, whenFailed: @escaping () -> Void) {
    stream = OutputStream(descriptor)
    self.name = name
    self.whenFailed = whenFailed
  }

  /// The descriptor to poll for room to write.
  package var descriptor: Int32 { stream.descriptor }

  /// The size at which a write calls `whenFull`, in bytes.
  private static let limitBytes = 1 << 16
  /// The size at which a write flushes, in bytes: one read from the network may hold messages that are large when
  /// printed.
  private static let mostBytes = 8 << 20

  /// The number of bytes that are not written yet.
  package var waitingBytes: Int { buffer.count - written }

  /// Appends `bytes` to the buffer.
  package func write(_ bytes: [UInt8]) {
    write { $0.append(bytes) }
  }

  /// Appends what `body` appends; nothing if it throws.
  package func write<E: Error>(_ body: (inout OutputBuffer) throws(E) -> Void) throws(E) {
    let count = buffer.count
    do throws(E) {
      try body(&buffer)
    } catch {
      buffer.truncate(to: count)
      throw error
    }
    makeSafe(from: count)
    guard waitingBytes >= Self.limitBytes else { return }
    if waitingBytes < Self.mostBytes, let whenFull { whenFull() } else { flush() }
  }

  /// Appends `bytes` to the buffer, without a flush.
  package func write(_ bytes: UnsafeRawBufferPointer) {
    let count = buffer.count
    buffer.append(bytes)
    makeSafe(from: count)
  }

  /// Notes what is written from now on: rows below this line, or no rows. Returns whether that is new.
  func begins(table head: String?) -> Bool {
    defer { self.head = head }
    return head != self.head
  }

  /// Escapes control characters in the new text for a terminal. Output to a pipe or a file is data, and is not
  /// changed.
  private func makeSafe(from start: Int) {
    guard isTerminal, holdsText, let safe = TerminalText.escaped(printed: buffer.copyBytes(from: start)[...])
    else { return }
    buffer.truncate(to: start)
    buffer.append(safe)
  }

  /// Writes `text` to standard error, after the output so far.
  package func remark(_ text: String) {
    // What follows a write error is its effect.
    guard failure == nil else { return }
    guard waitingBytes > 0 || !remarks.isEmpty || error.terminal.isLent else {
      return error.write(text)
    }
    remarks.append(Remark(offset: removed + buffer.count, text: text))
  }

  /// Prints an error on standard error, after the output so far.
  package func report(_ report: ErrorReport) {
    remark(error.text(of: report))
  }

  /// Writes `text` and the rest of the buffer.
  package func print(_ text: String) {
    write(Array(text.utf8))
    flush()
  }

  /// Writes the whole buffer. Waits for the reader within `FlushDeadline`; then discards the rest and reports that.
  package func flush() {
    guard !error.terminal.isLent else { return }
    while !flushWhatFits() {
      guard error.deadline.wait(for: stream) else { return giveUp() }
    }
  }

  /// Writes as much of the buffer as the reader accepts without blocking. Returns false if some is left.
  ///
  /// A closed pipe ends the process with SIGPIPE; any other write error (a full disk) is reported and ends it; unless
  /// `onFailure` is set.
  package func flushWhatFits() -> Bool {
    guard waitingBytes > 0 || !remarks.isEmpty else { return true }
    guard !error.terminal.isLent else {
      return waitingBytes + remarks.reduce(0) { $0 + $1.text.utf8.count } < Self.limitBytes
    }
    if isHeld, waitingBytes < Self.mostHeld { return true }
    isHeld = false
    var isAll = false
    error.terminal.write { isAll = writeWhatFits() }
    return isAll
  }

  /// The most output that is collected, in bytes.
  private static let mostHeld = 1 << 20

  /// Collects what is written from now on, up to a limit, in place of writing it.
  package func hold() {
    flush()
    isHeld = true
  }

  /// Ends `hold`: removes and returns what was collected, with its text for standard error, if it is wanted. Otherwise it is output
  /// as any other.
  package func endHold(ifWanted isWanted: ([UInt8]) -> Bool) -> [UInt8]? {
    guard isHeld else { return nil }
    isHeld = false
    let output = buffer.copyBytes(from: written)
    var (text, start): ([UInt8], Int) = ([], 0)
    for remark in remarks {
      let end = min(max(remark.offset - removed - written, start), output.count)
      text += output[start..<end] + Array(remark.text.utf8)
      start = end
    }
    text += output[start...]
    guard isWanted(text) else { return nil }
    empty(keepingBytes: Self.mostBytes)
    return text
  }

  private func writeWhatFits() -> Bool {
    while true {
      while let next = remarks.first, next.offset <= removed + written {
        remarks.removeFirst()
        error.write(next.text)
      }
      let end = remarks.first.map { $0.offset - removed } ?? buffer.count
      guard end > written else { break }
      // The text would follow the progress line on its row.
      if isTerminal { error.show(progress: nil) }
      let outcome =
        failure.map(OutputStream.Outcome.failed)
        ?? buffer.withBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[written..<end])) }
      switch outcome {
      case .wrote(let count):
        if error.terminal.transcript != nil {
          buffer.withBytes { error.terminal.record($0[written..<(written + count)]) }
        }
        written += count
      case .full:
        dropWritten()
        return false
      case .failed(let code):
        guard let onFailure else { fail(code) }
        written = end
        guard failure == nil else { continue }
        failure = code
        onFailure()
      }
    }
    empty(keepingBytes: Self.mostBytes)
    return true
  }

  /// Frees the written part of the buffer once it is the larger part.
  private func dropWritten() {
    guard written > buffer.count / 2 else { return }
    buffer.removeFirst(written)
    removed += written
    written = 0
  }

  private func empty(keepingBytes count: Int) {
    buffer.removeAll(keepingBytes: count)
    remarks = []
    (written, removed) = (0, 0)
  }

  private func giveUp() {
    let lost = waitingBytes
    hasDiscarded = true
    for remark in remarks { error.write(remark.text) }
    empty(keepingBytes: 0)
    let message = Failure.Message(what: name, why: "\(lost) bytes were discarded: the reader stopped reading")
    error.report(ErrorReport(message, nil))
  }

  /// Makes a write error end calls as a signal does. It is kept: `endIfFailed` ends the process.
  package func interruptAtFailure() {
    guard Interrupt.install() != nil else { return }
    onFailure = { Interrupt.noteFailedOutput() }
  }

  /// Whether output was discarded, because its reader stopped reading.
  package private(set) var hasDiscarded = false

  /// Whether a write error was kept.
  package var hasFailed: Bool { failure != nil }

  /// Ends the process if a write error was kept, as the error would have.
  package func endIfFailed() {
    if let failure { fail(failure) }
  }

  private func fail(_ code: Int32) -> Never {
    whenFailed?()
    error.show(progress: nil)
    if code == EPIPE {
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    // The terminal was closed, as SIGHUP says, which may arrive later.
    if code == EIO, isTerminal { exit(ExitStatus.terminated.rawValue) }
    let message = Failure.Message(what: name, why: String(cString: strerror(code)))
    error.report(ErrorReport(message, .internalError))
    exit(ExitStatus.internalError.rawValue)
  }
}
