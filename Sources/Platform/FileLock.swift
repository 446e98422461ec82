import RPCurlBase
import RPCurlCSystem

/// Locks of a file that several processes write ("open file description locks", fcntl(2)). The kernel releases them with the
/// descriptor, however the process ends. Another object of this process counts as another process.
package enum FileLock {
  /// The byte whose lock is that of all of the file's contents. The file need not have it.
  private static let contents: off_t = 0
  /// The bytes of which each process that writes the file from time to time locks one.
  private static let writers: Range<off_t> = 1..<1 << 60

  /// How long to wait for a process that holds the contents, and was stopped perhaps.
  package static let patience = Duration.seconds(2)
  /// The same after a signal: others that write the file hold it for less.
  private static let patienceAfterSignal = Duration.milliseconds(200)

  /// Runs `body` while no other process reads or writes the contents, or after another one has held them for too long.
  ///
  /// - Parameters:
  ///   - patience: How long to wait.
  ///   - isHeld: Whether the last wait was in vain, so that of many writes only the first one waits.
  ///   - body: Receives whether no other process reads or writes the contents.
  package static func withContents<Result, E: Error>(
    of descriptor: Int32, patience: Duration = patience, isHeld: inout Bool,
    _ body: (_ isLocked: Bool) throws(E) -> Result
  ) throws(E) -> Result {
    let isLocked = wait(for: descriptor, F_WRLCK, isHeld ? .zero : patience)
    isHeld = !isLocked
    defer { if isLocked { _ = set(descriptor, contents, F_UNLCK) } }
    return try body(isLocked)
  }

  /// Waits until no other process reads or writes the contents. None can until the lock is released. Returns false if another one
  /// holds them for longer.
  static func lockForWriting(_ descriptor: Int32, patience: Duration) -> Bool {
    wait(for: descriptor, F_WRLCK, patience)
  }

  /// Waits until no other process writes the contents. None can until the descriptor is closed.
  ///
  /// - Parameter waitLimit: How long to wait at most, if less than `patience`.
  package static func lockForReading(_ descriptor: Int32, waitLimit: Duration? = nil) {
    _ = wait(for: descriptor, F_RDLCK, min(waitLimit ?? patience, patience))
  }

  /// Registers this process as one that writes the file, until the descriptor is closed.
  ///
  /// - Returns: Whether there is no other such process.
  package static func registerWriter(_ descriptor: Int32) -> Bool {
    // First, so that of two that register together at least one finds the other.
    _ = set(descriptor, off_t.random(in: writers), F_WRLCK)
    var others = lock(writers.lowerBound, count: off_t(writers.count), F_WRLCK)
    // Finds the first lock that would prevent this one.
    return fcntl(descriptor, csystem_get_lock, &others) != 0 || others.l_type == Int16(F_UNLCK)
  }

  /// Releases all locks of a descriptor that is closed next. A child process that is about to start another program has a copy of
  /// the descriptor, which keeps them for a moment longer.
  package static func release(_ descriptor: Int32) {
    // No length means all bytes.
    var all = lock(contents, count: 0, F_UNLCK)
    _ = fcntl(descriptor, csystem_set_lock, &all)
  }

  /// Returns whether the lock was obtained. The kernel itself would wait without a limit.
  private static func wait(for descriptor: Int32, _ kind: Int32, _ patience: Duration) -> Bool {
    if set(descriptor, contents, kind) { return true }
    let begin = MonotonicClock.now
    while .now < begin + (Interrupt.isPending ? min(patience, patienceAfterSignal) : patience) {
      usleep(500)
      if set(descriptor, contents, kind) { return true }
    }
    return false
  }

  /// Changes a lock without waiting. Returns whether that was possible. Where the file system has no locks, it is.
  private static func set(_ descriptor: Int32, _ byte: off_t, _ kind: Int32) -> Bool {
    var lock = lock(byte, count: 1, kind)
    return fcntl(descriptor, csystem_set_lock, &lock) == 0 || ![EAGAIN, EACCES].contains(errno)
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
