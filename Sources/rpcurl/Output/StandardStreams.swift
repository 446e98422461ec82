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
  static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = writeAll(2, UnsafeRawBufferPointer($0)) }
  }
}

/// Standard output, written in whole pieces.
enum StandardOutput {
  nonisolated(unsafe) private static var buffer: [UInt8] = []

  /// Whether a person sees it.
  static var isTerminal: Bool { isatty(1) == 1 }

  /// What is kept at most until it is written.
  private static let limitBytes = 1 << 16

  /// Adds `bytes` to what the next flush writes.
  static func write(_ bytes: [UInt8]) {
    write { $0.append(contentsOf: bytes) }
  }

  /// Adds what `body` appends to what the next flush writes; nothing when it throws.
  static func write<E: Error>(_ body: (inout [UInt8]) throws(E) -> Void) throws(E) {
    let count = buffer.count
    do throws(E) {
      try body(&buffer)
    } catch {
      buffer.removeLast(buffer.count - count)
      throw error
    }
    if buffer.count >= limitBytes { flush() }
  }

  /// Adds `bytes` to what the next flush writes.
  static func write(_ bytes: UnsafeRawBufferPointer) {
    buffer.append(contentsOf: bytes)
  }

  /// Writes what was added. A reader that went away ends the process as it ends any other; any other error
  /// (a full disk) is told.
  static func flush() {
    guard !buffer.isEmpty else { return }
    let error = buffer.withUnsafeBytes { writeAll(1, $0) }
    buffer.removeAll(keepingCapacity: true)
    guard error != 0 else { return }
    if error == EPIPE {
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    let words = Failure.Words(what: "standard output", why: String(cString: strerror(error)))
    StandardError.write(words.rendered)
    exit(ExitStatus.internalError.rawValue)
  }
}

/// Writes all of `bytes`; gives `errno` when that fails, else 0.
private func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      // Whoever gave us the stream made it non-blocking.
      var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&wait, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return 0
}
