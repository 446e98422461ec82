import Glibc
import RPCProtocols

/// Locks of a file that several processes write ("open file description locks", fcntl(2)). The kernel releases them with the
/// descriptor, however the process ends. Another object of this process counts as another process.
package enum FileLock {
  /// The byte that stands for what the file contains. The file need not have it.
  private static let contents: off_t = 0
  /// The bytes of which each process that writes the file from time to time locks one.
  private static let writers: Range<off_t> = 1..<1 << 60

  /// How long to wait for a process that holds the contents, and was stopped perhaps.
  private static let patience = Duration.seconds(2)

  /// Runs `body` while no other process reads or writes the contents.
  package static func withContents<Result, E: Error>(
    of descriptor: Int32, _ body: () throws(E) -> Result
  ) throws(E) -> Result {
    wait(for: descriptor, F_WRLCK)
    defer { _ = set(descriptor, contents, F_UNLCK) }
    return try body()
  }

  /// Waits until no other process writes the contents. None can until the descriptor is closed.
  static func read(_ descriptor: Int32) {
    wait(for: descriptor, F_RDLCK)
  }

  /// Notes until the descriptor is closed that this process writes the file. To be called within `withContents`.
  ///
  /// - Returns: Whether no other process does.
  package static func enter(_ descriptor: Int32) -> Bool {
    var others = lock(writers.lowerBound, count: off_t(writers.count), F_WRLCK)
    // F_OFD_GETLK: the first lock that would prevent this one. glibc declares the constants only for _GNU_SOURCE.
    let isAlone = fcntl(descriptor, 36, &others) != 0 || others.l_type == Int16(F_UNLCK)
    _ = set(descriptor, off_t.random(in: writers), F_WRLCK)
    return isAlone
  }

  private static func wait(for descriptor: Int32, _ kind: Int32) {
    guard !set(descriptor, contents, kind) else { return }
    // Nothing but a lock without a limit waits for another.
    let end = MonotonicClock.now + patience
    while !set(descriptor, contents, kind), .now < end, !Interrupt.isPending { usleep(500) }
  }

  /// Changes a lock without waiting. Returns whether that was possible. Where the file system has no locks, it is.
  private static func set(_ descriptor: Int32, _ byte: off_t, _ kind: Int32) -> Bool {
    var lock = lock(byte, count: 1, kind)
    // F_OFD_SETLK
    return fcntl(descriptor, 37, &lock) == 0 || ![EAGAIN, EACCES].contains(errno)
  }

  private static func lock(_ start: off_t, count: off_t, _ kind: Int32) -> flock {
    var lock = flock()
    lock.l_type = Int16(kind)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = start
    lock.l_len = count
    return lock
  }
}
