import RPCurlBase

/// A file whose content several processes replace, each by content that depends on the former one: a history, a report.
///
/// A process locks the file before it reads and replaces the content, and then checks that the path still names the locked file.
/// Readers need no lock: they read the content before or after a change. If a process is killed during a change, the old content stays.
package final class SharedFile: Sendable {
  /// What is there before a change.
  package struct Content {
    fileprivate let descriptor: Int32?
    /// Whether another process has replaced what this object wrote.
    package let isForeign: Bool

    /// Reads the content; empty if there is no file.
    ///
    /// - Parameter limitBytes: The largest accepted file.
    package func bytes(limitBytes: Int) throws(SystemError) -> [UInt8] {
      guard let descriptor else { return [] }
      return try FileContents.read(InputFile(reading: descriptor, until: nil), limitBytes: limitBytes)
    }
  }

  private let path: String
  private let isPrivate: Bool
  /// What this object wrote last. The file stays open: no other one can have its number.
  private let last = Locked<Int32?>(nil)

  /// Describes a file.
  ///
  /// - Parameters:
  ///   - path: The file, or a link to it.
  ///   - isPrivate: Whether only the user may read the file; otherwise, a file that exists keeps its mode.
  package init(_ path: String, isPrivate: Bool) {
    self.path = path
    self.isPrivate = isPrivate
  }

  deinit { last.withLock { if let last = $0 { close(last) } } }

  /// Replaces the content while no other process does.
  ///
  /// - Parameters:
  ///   - patience: How long to wait for other processes.
  ///   - waitLimit: How long to wait for the reader of a pipe (`--max-time`); nil for no limit.
  ///   - change: Returns the new content; nil to keep the file as it is.
  /// - Throws: The error of `change`, or why the file cannot be replaced; it is then as before.
  package func update(
    patience: Duration = FileLock.patience, waitLimit: Duration? = nil,
    _ change: (Content) throws(SystemError) -> [UInt8]?
  ) throws(SystemError) {
    if let known = FileFacts(path), !known.isRegular || StandardStreams.contain(known) {
      guard let bytes = try change(Content(descriptor: nil, isForeign: false)) else { return }
      return try write(bytes, waitLimit: waitLimit)
    }
    let end = MonotonicClock.now + patience
    try last.withLock { last throws(SystemError) in
      while try !replace(&last, until: end, change) {
        guard .now < end else { throw Self.held }
      }
    }
  }

  private static let held = SystemError("another process holds the file")

  private func write(_ bytes: [UInt8], waitLimit: Duration?) throws(SystemError) {
    if let problem = FileContents.replace(path, with: bytes, isPrivate: isPrivate, waitLimit: waitLimit) {
      throw problem
    }
  }

  /// Returns false if another process has created or replaced the file before this one had the lock.
  private func replace(
    _ last: inout Int32?, until end: MonotonicClock.Instant,
    _ change: (Content) throws(SystemError) -> [UInt8]?
  ) throws(SystemError) -> Bool {
    let current = try open()
    defer {
      if let current {
        FileLock.release(current)
        close(current)
      }
    }
    if let current {
      guard FileLock.lockForWriting(current, patience: end - .now) else {
        throw Self.held
      }
      guard isNamed(current) else { return false }
    }
    let isForeign = current != nil && last.map { !isNamed($0) } ?? false
    guard let bytes = try change(Content(descriptor: current, isForeign: isForeign)) else { return true }
    guard let file = try ReplacementFile.make(replacing: path, newMode: 0o600, isPrivate: isPrivate) else {
      try write(bytes, waitLimit: nil)
      return true
    }
    let written = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
    defer { if written >= 0, written != last { close(written) } }
    if let problem = FileContents.write(bytes, to: file.descriptor) {
      file.discard()
      throw problem
    }
    guard file.replace(ifAbsent: current == nil) else {
      guard current == nil, errno == EEXIST else { throw .last }
      return false
    }
    if let last { close(last) }
    last = written >= 0 ? written : nil
    return true
  }

  /// Opens the file; nil if there is none. A lock needs a descriptor for writing: a file that can be replaced, but not written, is not
  /// locked.
  private func open() throws(SystemError) -> Int32? {
    let flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    var descriptor = RPCurlPlatform.open(path, O_RDWR | flags)
    if descriptor < 0, errno == EACCES || errno == EROFS {
      descriptor = RPCurlPlatform.open(path, O_RDONLY | flags)
    }
    guard descriptor < 0 else { return descriptor }
    guard errno == ENOENT else { throw .last }
    return nil
  }

  /// Whether an open file is the one that the path names.
  private func isNamed(_ descriptor: Int32) -> Bool {
    var (named, opened) = (stat(), stat())
    return stat(path, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_dev == opened.st_dev
      && named.st_ino == opened.st_ino
  }
}
