import CommandLine
import Glibc
import Protobuf
import System

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

  /// Prints an error.
  package func report(_ report: ErrorReport) {
    write(report.rendered(diagnostics))
  }

  /// Writes `text`, also with `--silent`.
  package func write(_ text: String) {
    guard !text.isEmpty, !leave(Rest(text: text, isWritten: false)) else { return }
    writeRest()
    write(Rest(text: text, isWritten: false))
  }

  private func write(_ rest: Rest) {
    var text = rest.text
    if !rest.isWritten, let output = terminal.waitingOutput { return output.remark(text) }
    show(progress: nil)
    terminal.record(text.utf8)
    // The line being edited is shown again also if another thread has written.
    terminal.write { if !rest.isWritten { text.withUTF8 { deadline.write($0, to: stream) } } }
  }
}

/// The thread of a session, which edits lines while others write.
extension StandardError {
  /// The thread that has reserved the terminal, with what other threads leave to it.
  private struct Owner {
    let thread: pthread_t
    let wake: @Sendable () -> Void
    var rest: [Rest] = []
  }

  /// What another thread has left: to be written, or to be recorded only.
  private struct Rest {
    let text: String
    let isWritten: Bool
  }

  /// Reserves the terminal for this thread: what other threads write waits until this one writes, or calls `writeRest`.
  ///
  /// - Parameter wake: Lets this thread call `writeRest` soon. Called on any thread.
  package func reserve(wake: @escaping @Sendable () -> Void) {
    owner.withLock { $0 = Owner(thread: pthread_self(), wake: wake) }
  }

  /// Writes what other threads have left, and lets all threads write again.
  package func release() {
    let rest = owner.withLock { owner in
      defer { owner = nil }
      return owner?.rest ?? []
    }
    rest.forEach(write)
  }

  /// Writes what other threads have left. Called on the thread that has reserved the terminal, or on any if none has.
  package func writeRest() {
    let rest = owner.withLock { owner in
      defer { owner?.rest = [] }
      return owner?.rest ?? []
    }
    rest.forEach(write)
  }

  /// Prints a remark at once, also while the thread that has reserved the terminal is blocked: below the line that it edits.
  package func alarm(_ text: String) {
    guard diagnostics.showsRemarks else { return }
    guard owner.withLock({ $0.map { $0.thread != pthread_self() } ?? false }) else { return write(text) }
    var line = (terminal.displaceLine() && isTerminal ? "\n" : "") + text
    line.withUTF8 { deadline.write($0, to: stream) }
    _ = leave(Rest(text: text, isWritten: true))
  }

  /// Leaves something to the thread that has reserved the terminal; false if that is this one, or none.
  private func leave(_ rest: Rest) -> Bool {
    let wake = owner.withLock { owner -> (@Sendable () -> Void)? in
      guard let thread = owner?.thread, thread != pthread_self() else { return nil }
      owner?.rest.append(rest)
      return owner?.wake
    }
    wake?()
    return wake != nil
  }
}
