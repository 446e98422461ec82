import CommandLine
import Glibc
import Synchronization
import System

/// Standard error: unbuffered, and nothing can be done when it is gone.
package enum StandardError {
  private static let stream = OutputStream(2)
  /// Whether a line of progress is shown; interceptors write from any thread.
  private static let showsProgress = Mutex(false)
  private static let diagnostics = Mutex(Diagnostics(Invocation(.call)))

  /// Chooses what is printed, from now on.
  package static func configure(_ chosen: Diagnostics) {
    diagnostics.withLock { $0 = chosen }
  }

  /// Whether warnings and progress are printed.
  package static var showsRemarks: Bool { diagnostics.withLock { $0.showsRemarks } }
  /// Whether errors are printed.
  package static var showsErrors: Bool { diagnostics.withLock { $0.showsErrors } }
  /// How errors are printed.
  package static var errorFormat: Diagnostics.Format { diagnostics.withLock { $0.format } }

  /// Makes a remark that nobody asked for, such as a warning.
  package static func remark(_ text: String) {
    if showsRemarks { write(text) }
  }

  /// Whether a person sees it.
  package static var isTerminal: Bool { isatty(2) == 1 }

  /// How many columns its terminal has.
  package static var columns: Int {
    var size = winsize()
    return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// Shows a line of progress instead of the one before, or none. Whatever is written next takes its place.
  package static func show(progress line: String?) {
    showsProgress.withLock { isShown in
      guard isShown || line != nil else { return }
      put((isShown ? erase : "") + (line ?? ""))
      isShown = line != nil
    }
  }

  private static let erase = "\r\u{1b}[K"

  /// Writes what is taken at once.
  private static func put(_ text: String) {
    var text = text
    text.withUTF8 { if !$0.isEmpty { _ = stream.write(UnsafeRawBufferPointer($0)) } }
  }

  /// Tells an error.
  package static func tell(_ report: ErrorReport) {
    write(report.rendered)
  }

  /// Writes what was asked for.
  package static func write(_ text: String) {
    var text = text
    guard !text.isEmpty else { return }
    guard !TerminalMultiplexer.isLent else { return StandardOutput.remark(text) }
    show(progress: nil)
    TerminalMultiplexer.note(text.utf8)
    TerminalMultiplexer.write { text.withUTF8 { FlushDeadline.write($0, to: stream) } }
  }
}
