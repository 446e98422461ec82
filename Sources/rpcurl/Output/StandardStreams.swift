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

  static func write(_ text: String) {
    var text = text
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
