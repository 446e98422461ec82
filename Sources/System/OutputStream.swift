import Glibc

/// A descriptor that others read, written without ever waiting for them.
///
/// Whether a write waits is a property of the open file, which other processes have as well: the shell's terminal
/// may be the same one. So that is left as it is. A pipe or a terminal is opened once more instead, which gives an
/// open file of our own; where that is not allowed, pieces are written that fit when `poll` says so.
package struct OutputStream {
  /// What became of a write.
  package enum Outcome {
    /// This many bytes were taken.
    case wrote(Int)
    /// Nothing can be taken now.
    case full
    /// It failed with this `errno`.
    case failed(Int32)
  }

  private enum Way {
    /// A file, or a device that takes everything.
    case plain
    case socket
    /// An open file of our own, which does not wait.
    case own
    /// Whatever is left: written in pieces that a pipe takes whole when it takes anything.
    case pieces
  }

  /// What `poll` is to watch.
  package let descriptor: Int32
  /// Whether a person sees it.
  package let isTerminal: Bool
  private let way: Way

  /// Looks at what `descriptor` is.
  package init(_ descriptor: Int32) {
    isTerminal = isatty(descriptor) == 1
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      (self.descriptor, way) = (descriptor, .plain)
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFSOCK: (self.descriptor, way) = (descriptor, .socket)
    case S_IFIFO: (self.descriptor, way) = Self.reopened(descriptor)
    case S_IFCHR where isTerminal: (self.descriptor, way) = Self.reopened(descriptor)
    default: (self.descriptor, way) = (descriptor, .plain)
    }
  }

  private static func reopened(_ descriptor: Int32) -> (Int32, Way) {
    let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    return own >= 0 ? (own, .own) : (descriptor, .pieces)
  }

  /// Writes what is taken at once of `bytes`, of which there are some.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    while true {
      let count: Int
      switch way {
      case .plain, .own: count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      case .socket: count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
      case .pieces:
        guard isWritable(within: 0) else { return .full }
        count = Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, Int(PIPE_BUF)))
      }
      if count >= 0 { return .wrote(count) }
      // Whoever gave us the stream may have made it one that does not wait.
      if errno == EAGAIN { return .full }
      if errno != EINTR { return .failed(errno) }
    }
  }

  /// Whether something can be written, or a write would fail at once.
  package func isWritable(within milliseconds: Int32) -> Bool {
    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&wait, 1, milliseconds) > 0
  }
}
