import RPCurlBase

/// A new file that atomically replaces another when it is complete.
///
/// Until then it has no name, where the file system allows that (O_TMPFILE): the kernel removes it however the
/// process ends, and other users cannot create a file of its name in advance.
///
/// It is not forced to the disk: a reader finds the old or the new content however a process ends, and after a failure of the
/// machine what its file system has kept.
package final class ReplacementFile {
  /// `O_TMPFILE`, a macro that Swift does not import.
  private static let unnamed = 0o20000000 | O_DIRECTORY

  /// The descriptor to write to.
  package let descriptor: Int32
  private let path: String
  /// Its name beside the file that it replaces; nil while it has none.
  private var name: String?

  /// Creates a file; returns nil and sets `errno` on failure.
  ///
  /// - Parameters:
  ///   - path: The file to replace.
  ///   - mode: The permissions; nil for those of a new file.
  package init?(for path: String, mode: mode_t?) {
    self.path = path
    let slash = path.lastIndex(of: "/").map { path[...$0] } ?? "./"
    var opened = open(String(slash), Self.unnamed | O_WRONLY | O_CLOEXEC, 0o666)
    if opened >= 0, access("/proc/self/fd/\(opened)", F_OK) != 0 {
      close(opened)
      opened = -1
    }
    for _ in 0..<8 where opened < 0 {
      let beside = Self.name(beside: path)
      opened = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if opened >= 0 { name = beside } else if errno != EEXIST { break }
    }
    descriptor = opened
    guard opened >= 0 else { return nil }
    FileContents.reportSizeLimit()
    if let mode { _ = fchmod(opened, mode) }
  }

  /// Creates the file that replaces a regular file, also one that does not exist yet, and the target of a symbolic link.
  ///
  /// - Parameters:
  ///   - path: The file to replace.
  ///   - newMode: The permissions of a file that does not exist; nil for those of a new file.
  ///   - isPrivate: Whether only the user may read the file; the mode of the replaced file does not apply then.
  /// - Returns: nil if the path must be opened and written instead: it is no regular file, that of a stream for output, or it
  ///   exists in a directory that cannot be written.
  /// - Throws: `SystemError` if neither is possible.
  package static func make(
    replacing path: String, newMode: mode_t? = nil, isPrivate: Bool = false
  ) throws(SystemError) -> ReplacementFile? {
    let known = FileFacts(path)
    guard known != nil || errno == ENOENT else { throw .last }
    if let known, !known.isRegular || StandardStreams.contain(known) { return nil }
    let mode = isPrivate ? 0o600 : known?.permissions ?? newMode
    if let file = ReplacementFile(for: FileContents.targetPath(path), mode: mode) { return file }
    guard known != nil, [EACCES, EPERM].contains(errno) else { throw .last }
    return nil
  }

  /// Writes everything and replaces the file, or removes the new one. Returns nil, or why that failed.
  ///
  /// - Parameter write: Writes everything. Returns nil, or why that failed.
  package func complete(_ write: (_ descriptor: Int32) -> SystemError?) -> SystemError? {
    if let problem = write(descriptor) {
      discard()
      return problem
    }
    return replace() ? nil : .last
  }

  /// Moves the file to its final path and closes it. Returns false and sets `errno` on failure.
  ///
  /// - Parameter ifAbsent: Whether a file of this path is not replaced: that is a failure, with `EEXIST`.
  package func replace(ifAbsent: Bool = false) -> Bool {
    for _ in 0..<8 where name == nil {
      let beside = Self.name(beside: path)
      let linked = linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, beside, AT_SYMLINK_FOLLOW)
      if linked == 0 { name = beside } else if errno != EEXIST { break }
    }
    guard let name else { return failed(closing: true) }
    // Some file systems report a full disk only on close.
    guard close(descriptor) == 0 else { return failed(closing: false) }
    guard move(name, ifAbsent: ifAbsent) else { return failed(closing: false) }
    self.name = nil
    return true
  }

  private func move(_ name: String, ifAbsent: Bool) -> Bool {
    guard ifAbsent else { return rename(name, path) == 0 }
    if link(name, path) == 0 {
      unlink(name)
      return true
    }
    // Not every file system has hard links, and those of FUSE report that in other ways.
    return [EPERM, EOPNOTSUPP, ENOSYS, EINVAL].contains(errno) && rename(name, path) == 0
  }

  /// Removes and closes the file.
  package func discard() {
    _ = failed(closing: true)
  }

  private func failed(closing: Bool) -> Bool {
    let reason = errno
    if closing { close(descriptor) }
    if let name { unlink(name) }
    name = nil
    errno = reason
    return false
  }

  private static func name(beside path: String) -> String {
    let end = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    let random = ".\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
    var name = path[end...]
    // The limit of file systems.
    while name.utf8.count + random.utf8.count > 254 { name.unicodeScalars.removeLast() }
    return "\(path[..<end]).\(name)\(random)"
  }
}
