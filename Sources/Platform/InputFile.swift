import RPCurlBase
/// A file or standard input, read in pieces. It stops waiting for a pipe at SIGINT and SIGTERM.
package struct InputFile {
  private let descriptor: Int32
  private let isRegular: Bool
  /// When to stop waiting for data from a pipe; nil for no limit.
  private let deadline: MonotonicClock.Instant?

  /// Opens the file at `path`, or standard input for `-`.
  ///
  /// - Parameter waitLimit: How long to wait for data from a pipe (`--max-time`); nil for no limit.
  package init(_ path: String, waitLimit: Duration? = nil) throws(SystemError) {
    descriptor = try FileContents.open(path)
    isRegular = Self.isRegular(descriptor)
    deadline = waitLimit.map { .now + $0 }
  }

  /// Reads a descriptor.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - deadline: When to stop waiting for data from a pipe; nil for no limit.
  package init(reading descriptor: Int32, until deadline: MonotonicClock.Instant?) {
    self.descriptor = descriptor
    isRegular = Self.isRegular(descriptor)
    self.deadline = deadline
  }

  private static func isRegular(_ descriptor: Int32) -> Bool { FileFacts(descriptor)?.isRegular == true }

  package func close() { FileContents.close(descriptor) }

  /// Waits until no other process writes a regular file. None can until it is closed, which standard input is not.
  func lock() {
    if isRegular, descriptor != 0 {
      FileLock.lockForReading(descriptor, waitLimit: deadline.map { $0 - .now })
    }
  }

  /// Reads the next piece, at most `limitBytes`, and waits for it; returns nil at the end of the file.
  package func next(limitBytes: Int = 1 << 16) throws(SystemError) -> [UInt8]? {
    while true {
      if !isRegular { try wait() }
      guard let piece = try FileContents.readAvailable(descriptor, limitBytes: limitBytes) else { continue }
      return piece.isEmpty ? nil : piece
    }
  }

  /// Waits until a pipe has data or all its writers have closed it.
  private func wait() throws(SystemError) {
    while true {
      if let deadline, deadline <= .now {
        throw SystemError("no data came within --max-time")
      }
      // A signal before the call ends the process.
      var waits = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&waits, 2, deadline?.pollMilliseconds ?? -1)
      if waits[1].revents != 0 { throw SystemError(Interrupt.reason) }
      if count > 0 || count < 0 && errno != EINTR { return }
    }
  }
}

extension MonotonicClock.Instant {
  /// How long `poll` may wait until this time, in milliseconds.
  var pollMilliseconds: Int32 { Int32(clamping: max(0, (self - .now).milliseconds) + 1) }
}
