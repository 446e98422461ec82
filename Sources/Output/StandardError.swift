import CommandLine
import Glibc
import Synchronization
import System

/// Standard error. It is not buffered, and its own errors are ignored.
package enum StandardError {
  private static let stream = OutputStream(2)
  /// Whether a progress line is shown. Interceptors write from any thread.
  private static let showsProgress = Mutex(false)
  private static let diagnostics = Mutex(Diagnostics(Invocation(.call)))

  /// Sets what is printed.
  package static func configure(_ chosen: Diagnostics) {
    diagnostics.withLock { $0 = chosen }
  }

  /// Whether warnings and progress are printed.
  package static var showsRemarks: Bool { diagnostics.withLock { $0.showsRemarks } }
  /// Whether errors are printed.
  package static var showsErrors: Bool { diagnostics.withLock { $0.showsErrors } }
  /// The format of errors.
  package static var errorFormat: Diagnostics.Format { diagnostics.withLock { $0.format } }

  /// Prints a warning or a notice, unless `--silent` is given.
  package static func remark(_ text: String) {
    if showsRemarks { write(text) }
  }

  /// Whether standard error is a terminal.
  package static var isTerminal: Bool { isatty(2) == 1 }

  /// The width of the terminal in columns; 80 if unknown.
  package static var columns: Int {
    var size = winsize()
    return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// Replaces the progress line; nil removes it. Any other output removes it too.
  package static func show(progress line: String?) {
    showsProgress.withLock { isShown in
      guard isShown || line != nil else { return }
      put((isShown ? erase : "") + (line ?? ""))
      isShown = line != nil
    }
  }

  private static let erase = "\r\u{1b}[K"

  /// Writes as much of `text` as the stream accepts without blocking.
  private static func put(_ text: String) {
    var text = text
    text.withUTF8 { if !$0.isEmpty { _ = stream.write(UnsafeRawBufferPointer($0)) } }
  }

  /// Prints an error.
  package static func report(_ report: ErrorReport) {
    write(report.rendered)
  }

  /// Writes `text`, also with `--silent`.
  package static func write(_ text: String) {
    var text = text
    guard !text.isEmpty else { return }
    guard !TerminalMultiplexer.isLent else { return StandardOutput.remark(text) }
    show(progress: nil)
    TerminalMultiplexer.record(text.utf8)
    TerminalMultiplexer.write { text.withUTF8 { FlushDeadline.write($0, to: stream) } }
  }
}
