import CommandLine
import Glibc
import Synchronization

/// The three streams that a process starts with.
enum StandardStreams {
  /// Opens what is closed, so that no socket of ours takes its place. Standard input is then at its end, and
  /// standard output still cannot be written.
  static func ensureOpen() {
    for descriptor in [Int32(0), 1, 2] where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
    }
  }
}

/// Standard error: unbuffered, and nothing can be done when it is gone.
enum StandardError {
  private static let stream = OutputStream(2)
  /// Whether a line of progress is shown; interceptors write from any thread.
  private static let showsProgress = Mutex(false)
  private static let diagnostics = Mutex(Diagnostics(Invocation(.call)))

  /// Chooses what is printed, from now on.
  static func configure(_ chosen: Diagnostics) {
    diagnostics.withLock { $0 = chosen }
  }

  /// Whether warnings and progress are printed.
  static var showsRemarks: Bool { diagnostics.withLock { $0.showsRemarks } }
  /// Whether errors are printed.
  static var showsErrors: Bool { diagnostics.withLock { $0.showsErrors } }
  /// How errors are printed.
  static var errorFormat: Diagnostics.Format { diagnostics.withLock { $0.format } }

  /// Makes a remark that nobody asked for, such as a warning.
  static func remark(_ text: String) {
    if showsRemarks { write(text) }
  }

  /// Whether a person sees it.
  static var isTerminal: Bool { isatty(2) == 1 }

  /// How many columns its terminal has.
  static var columns: Int {
    var size = winsize()
    return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// Shows a line of progress instead of the one before, or none. Whatever is written next takes its place.
  static func show(progress line: String?) {
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
  static func tell(_ report: ErrorReport) {
    write(report.rendered)
  }

  /// Writes what was asked for.
  static func write(_ text: String) {
    var text = text
    guard !text.isEmpty else { return }
    guard !SharedTerminal.isLent else { return StandardOutput.remark(text) }
    show(progress: nil)
    SharedTerminal.note(text.utf8)
    SharedTerminal.write { text.withUTF8 { OutputPatience.write($0, to: stream) } }
  }
}
