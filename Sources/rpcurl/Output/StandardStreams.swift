import Glibc

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

  /// Makes a remark that nobody asked for, such as a warning.
  static func remark(_ text: String) {
    if Diagnostics.current.showsRemarks { write(text) }
  }

  /// Tells an error.
  static func tell(_ report: ErrorReport) {
    write(report.rendered)
  }

  /// Writes what was asked for.
  static func write(_ text: String) {
    var text = text
    guard !text.isEmpty else { return }
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)[...]
      while !rest.isEmpty {
        switch stream.write(UnsafeRawBufferPointer(rebasing: rest)) {
        case .wrote(let count): rest = rest.dropFirst(count)
        case .full: guard OutputPatience.wait(for: stream) else { return }
        case .failed: return
        }
      }
    }
  }
}
