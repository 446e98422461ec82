/// An output descriptor that is written without blocking, or a capture.
///
/// O_NONBLOCK belongs to the open file description, which other processes share (the shell's terminal, for example),
/// so it is not changed. A pipe or a terminal is reopened instead, for a file description of its own. Where reopening
/// fails, output is written in pieces of `PIPE_BUF` bytes when `poll` reports room.
package struct OutputStream: Sendable {
  /// The result of a write.
  package enum Outcome: Sendable {
    /// The stream accepted this many bytes.
    case wrote(Int)
    /// The stream accepts nothing now.
    case full
    /// The write failed with this `errno`.
    case failed(Int32)
  }

  private enum Way: Sendable {
    /// A regular file, or a device that always accepts output.
    case plain
    case socket
    /// A reopened, non-blocking file description.
    case own
    /// A pipe or terminal that could not be reopened: written in pieces that fit when `poll` reports room.
    case pieces
    case memory(OutputCapture)
  }

  /// The descriptor to poll; -1 for a capture.
  package let descriptor: Int32
  /// Whether the stream is a terminal.
  package let isTerminal: Bool
  private let way: Way

  /// Chooses how to write to `descriptor` by its file type.
  package init(_ descriptor: Int32) {
    isTerminal = isatty(descriptor) == 1
    switch FileFacts(descriptor)?.kind {
    case .socket: (self.descriptor, way) = (descriptor, .socket)
    case .pipe: (self.descriptor, way) = Self.reopened(descriptor)
    case .characterDevice where isTerminal: (self.descriptor, way) = Self.reopened(descriptor)
    default: (self.descriptor, way) = (descriptor, .plain)
    }
  }

  /// Writes to `capture`.
  package init(_ capture: OutputCapture) {
    (descriptor, isTerminal, way) = (-1, false, .memory(capture))
  }

  private static func reopened(_ descriptor: Int32) -> (Int32, Way) {
    let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    return own >= 0 ? (own, .own) : (descriptor, .pieces)
  }

  /// Writes as much of `bytes` as the stream accepts without blocking.
  ///
  /// - Parameter bytes: At least one byte.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    while true {
      let count: Int
      switch way {
      case .plain, .own: count = RPCurlPlatform.write(descriptor, bytes.baseAddress, bytes.count)
      case .socket: count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
      case .pieces:
        guard isWritable(within: 0) else { return .full }
        count = RPCurlPlatform.write(descriptor, bytes.baseAddress, min(bytes.count, Int(PIPE_BUF)))
      case .memory(let capture):
        capture.append(bytes)
        count = bytes.count
      }
      if count >= 0 { return .wrote(count) }
      // The parent process may have set O_NONBLOCK.
      if errno == EAGAIN { return .full }
      if errno != EINTR { return .failed(errno) }
    }
  }

  /// Waits until a write would accept bytes or fail; returns false after `milliseconds` (-1: no limit).
  package func isWritable(within milliseconds: Int32) -> Bool {
    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&wait, 1, milliseconds) > 0
  }
}
