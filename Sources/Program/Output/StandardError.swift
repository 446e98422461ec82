import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf

/// Standard error. It is not buffered, and its own errors are ignored.
package final class StandardError: Sendable {
  private let stream: OutputStream
  /// The terminal on which a session edits lines. Used on the thread that has reserved it only; see `reserve`.
  nonisolated(unsafe) package let terminal = TerminalMultiplexer()
  /// How long output waits for its reader.
  package let deadline = FlushDeadline()
  /// Whether a progress line is shown. Interceptors write from any thread.
  private let showsProgress = Locked(false)
  private let shown = Locked(Diagnostics(Invocation(.call)))
  private let owner = Locked<Owner?>(nil)
  private let isLogged = Locked(false)

  /// Prints errors as text, and all remarks, until `configure`.
  package init(_ stream: OutputStream) {
    self.stream = stream
  }

  /// Sets what is printed.
  package func configure(_ diagnostics: Diagnostics) {
    shown.withLock { $0 = diagnostics }
  }

  /// What is printed, and in which form.
  package var diagnostics: Diagnostics { shown.withLock { $0 } }

  /// Prints a warning or a notice, unless `--silent` is given.
  package func remark(_ text: String) {
    if diagnostics.showsRemarks { write(text) }
  }

  /// Whether standard error is a terminal.
  package var isTerminal: Bool { stream.isTerminal }

  /// The width of the terminal in columns; 80 if unknown.
  package var columns: Int {
    var size = winsize()
    let isKnown = ioctl(stream.descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isKnown ? Int(size.ws_col) : 80
  }

  /// Replaces the progress line; nil removes it. Any other output removes it too. Returns whether there was one.
  @discardableResult
  package func show(progress line: String?) -> Bool {
    showsProgress.withLock { isShown in
      guard isShown || line != nil else { return false }
      put((isShown ? Self.erase : "") + (line ?? ""))
      defer { isShown = line != nil }
      return isShown
    }
  }

  private static let erase = "\r\u{1b}[K"

  /// Writes as much of `text` as the stream accepts without blocking.
  private func put(_ text: String) {
    var text = text
    text.withUTF8 { if !$0.isEmpty { _ = stream.write(UnsafeRawBufferPointer($0)) } }
  }

  /// The colours of the text.
  package var colors: TextColors { diagnostics.colors(isTerminal: isTerminal) }

  /// The text of an error; empty if errors are not shown.
  package func text(of report: ErrorReport) -> String {
    let diagnostics = diagnostics
    return report.rendered(diagnostics, diagnostics.colors(isTerminal: isTerminal))
  }

  /// Prints an error.
  package func report(_ report: ErrorReport) { write(text(of: report)) }

  /// Writes `text`, also with `--silent`.
  package func write(_ text: String) {
    var text = text
    guard !text.isEmpty, !writeBesides(text) else { return }
    if let output = terminal.waitingOutput { return output.remark(text) }
    show(progress: nil)
    terminal.record(text.utf8)
    // An error of standard error cannot be reported.
    terminal.write { _ = text.withUTF8 { deadline.write($0, to: stream) } }
  }

  /// Whether an interceptor has written to `-`, or standard error is a file that is not empty.
  package var hasLog: Bool { isLogged.withLock { $0 } || FileContents.size(stream.descriptor) > 0 }

  /// Writes what an interceptor writes to `-`. Returns the `errno` of a write that failed.
  package func write(log bytes: [UInt8]) -> Int32? {
    if !bytes.isEmpty { isLogged.withLock { $0 = true } }
    var failure: Int32?
    terminal.record(bytes)
    terminal.write { failure = bytes.withUnsafeBufferPointer { deadline.write($0, to: stream) } }
    return failure
  }
}

/// A session edits lines on one thread, while others write.
extension StandardError {
  /// The thread that has reserved the terminal.
  private struct Owner {
    let thread: UInt
    let wake: @Sendable () -> Void
    /// What other threads have written since the thread looked after it, in their order.
    var others: [Other] = []
  }

  /// What another thread has written; or left to be written, because another program uses the terminal.
  private struct Other {
    let text: String
    let isWritten: Bool
  }

  /// Reserves the terminal for this thread. What other threads write is written at once, also while this one is blocked: below the
  /// line that it edits, which is shown again when it calls `lookAfterOthers`.
  ///
  /// - Parameter wake: Lets this thread call `lookAfterOthers` soon. Called on any thread.
  package func reserve(wake: @escaping @Sendable () -> Void) {
    owner.withLock { $0 = Owner(thread: currentThreadIdentity(), wake: wake) }
  }

  /// Lets all threads use the terminal.
  package func release() {
    lookAfterOthers()
    owner.withLock { $0 = nil }
  }

  /// Records what other threads have written, writes what they have left, and shows the line again that is being edited. Called on
  /// the thread that has reserved the terminal, or on any if none has.
  package func lookAfterOthers() {
    let others = owner.withLock { owner in
      defer { owner?.others = [] }
      return owner?.others ?? []
    }
    for other in others {
      if !other.isWritten {
        write(other.text)
      } else {
        terminal.record(other.text.utf8)
        terminal.write {}
      }
    }
  }

  /// Writes for a thread other than the one that has reserved the terminal; false, with nothing done, for that, or if none has.
  private func writeBesides(_ text: String) -> Bool {
    guard owner.withLock({ $0.map { $0.thread != currentThreadIdentity() } ?? false }) else { return false }
    let isLent = terminal.isLent
    if !isLent {
      show(progress: nil)
      var line = (isTerminal ? terminal.startOfLineBesides() : "") + text
      _ = line.withUTF8 { deadline.write($0, to: stream) }
    }
    let wake = owner.withLock { owner -> (@Sendable () -> Void)? in
      let isFirst = owner?.others.isEmpty == true
      owner?.others.append(Other(text: text, isWritten: !isLent))
      return isFirst ? owner?.wake : nil
    }
    wake?()
    return true
  }
}
