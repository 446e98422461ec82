import Glibc

/// What the file system reports of a file.
struct FileFacts: Hashable {
  let device: UInt64
  let inode: UInt64
  let owner: UInt32
  let mode: UInt32
  let sizeBytes: Int64
  /// When it was last changed, in nanoseconds.
  let changed: Int64

  /// Asks for a path, following links; `nil` on failure, with the reason in `errno`.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Asks for a path, and not for what a link at its end leads to; `nil` on failure, with the reason in `errno`.
  init?(link path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Asks for an open file.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    owner = status.st_uid
    mode = status.st_mode
    sizeBytes = Int64(status.st_size)
    changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
  }

  var isDirectory: Bool { hasType(S_IFDIR) }
  var isRegular: Bool { hasType(S_IFREG) }
  var isLink: Bool { hasType(S_IFLNK) }

  private func hasType(_ type: mode_t) -> Bool { mode & UInt32(S_IFMT) == UInt32(type) }

  /// Whether both are the same file, which may have changed.
  func isSameFile(as other: FileFacts) -> Bool { device == other.device && inode == other.inode }

  /// Why others than root and the user could write it; `nil` when they could not.
  ///
  /// In a sticky directory, such as /tmp, others can make files but not replace those of the user.
  var distrust: Distrust? {
    if owner != 0 && owner != geteuid() { return .owner(owner) }
    // The permissions of a link have no meaning: only its owner, and the directory, decide where it leads.
    if isLink || isDirectory && mode & UInt32(S_ISVTX) != 0 { return nil }
    if mode & UInt32(S_IWOTH) != 0 { return .everybody }
    if mode & UInt32(S_IWGRP) != 0 { return .group }
    return nil
  }
}

/// Why a file, a directory or a link may be under the control of others.
public enum Distrust: Sendable, Equatable {
  /// It belongs to a user other than root and this one.
  case owner(UInt32)
  /// Everybody can write it.
  case everybody
  /// Its group can write it.
  case group

  /// The reason, after the name of the file.
  var words: String {
    switch self {
    case .owner(let owner): "belongs to another user (\(owner))"
    case .everybody: "can be written by everybody"
    case .group: "can be written by its group"
    }
  }
}

/// The words for `errno`, as `no such file or directory`.
func currentError() -> String {
  let text = String(cString: strerror(errno))
  return text.prefix(1).lowercased() + text.dropFirst()
}
