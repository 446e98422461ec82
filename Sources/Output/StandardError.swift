import CommandLine
import Glibc
import Protobuf
import System

/// Standard error. It is not buffered, and its own errors are ignored.
package final class StandardError: Sendable {
  private let stream: OutputStream
  /// The terminal on which a session edits lines. Used on the main thread only: a session writes nothing from other
  /// threads.
  nonisolated(unsafe) package let terminal = TerminalMultiplexer()
  /// How long output waits for its reader.
  package let deadline = FlushDeadline()
  /// Whether a progress line is shown. Interceptors write from any thread.
  private let showsProgress = Locked(false)
  private let shown = Locked(Diagnostics(Invocation(.call)))

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
    var text = text
    guard !text.isEmpty else { return }
    if let output = terminal.waitingOutput { return output.remark(text) }
    show(progress: nil)
    terminal.record(text.utf8)
    terminal.write { text.withUTF8 { deadline.write($0, to: stream) } }
  }
}
