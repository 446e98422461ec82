import RPCurlBase

/// Waits for changes of files in directories (inotify of Linux).
package final class FileWatch {
  /// How long no change follows another one before a wait ends: an editor writes a file in several steps.
  private static let quietMilliseconds: Int32 = 50
  /// The most waits for more changes, so that files that always change do not delay the end.
  private static let quietLimit = 40

  private let descriptor: Int32

  /// Makes a watch without directories. Signals end its waits.
  ///
  /// - Throws: `SystemError` if the system does not offer it.
  package init() throws(SystemError) {
    #if os(Linux)
      _ = Interrupt.install()
      descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
      guard descriptor >= 0 else { throw .last }
    #else
      throw SystemError("this system does not report changes of files")
    #endif
  }

  deinit { close(descriptor) }

  /// Watches directories, also those that are watched already. One that does not exist is ignored.
  package func watch(_ directories: some Sequence<String>) {
    #if os(Linux)
      let changes = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
      for directory in directories {
        _ = inotify_add_watch(descriptor, directory.isEmpty ? "." : directory, UInt32(changes | IN_ONLYDIR))
      }
    #endif
  }

  /// Waits for a change in a directory. Returns false if a signal has arrived.
  package func wait() -> Bool {
    guard waitOnce(milliseconds: -1) else { return !Interrupt.isPending }
    for _ in 0..<Self.quietLimit {
      guard waitOnce(milliseconds: Self.quietMilliseconds) else { break }
    }
    return !Interrupt.isPending
  }

  /// Waits for a change, and reads what is reported of it. Returns false without one.
  private func waitOnce(milliseconds: Int32) -> Bool {
    var waits = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&waits, nfds_t(waits.count), milliseconds)
    guard count > 0 || count < 0 && errno == EINTR, waits[1].revents == 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while read(descriptor, &buffer, buffer.count) > 0 {}
    return true
  }
}
