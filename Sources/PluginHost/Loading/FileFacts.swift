import RPCurlPlatform

/// A file's metadata from the file system.
struct FileFacts: Hashable {
  let device: UInt64
  let inode: UInt64
  let owner: UInt32
  let mode: UInt32
  let sizeBytes: Int64
  /// The time of its last change, in nanoseconds.
  let changed: Int64

  /// Reads the metadata of a path, following links; `nil` on failure, with the reason in `errno`.
  init?(path: String) { self.init { stat(path, &$0) } }

  /// Reads the metadata of a path, without following a link at its end; `nil` on failure, with the reason in
  /// `errno`.
  init?(link path: String) { self.init { lstat(path, &$0) } }

  /// Reads the metadata of an open file.
  init?(descriptor: Int32) { self.init { fstat(descriptor, &$0) } }

  private init?(_ read: (inout stat) -> Int32) {
    var status = stat()
    guard read(&status) == 0 else { return nil }
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

  /// Whether both are the same file; its content may have changed.
  func isSameFile(as other: FileFacts) -> Bool { device == other.device && inode == other.inode }

  /// Why users other than root and this one could change it; `nil` if they could not.
  ///
  /// In a sticky directory such as /tmp, others can create files but not replace this user's.
  var distrust: Distrust? {
    if owner != 0 && owner != geteuid() { return .owner(owner) }
    // A link's permissions have no effect: only its owner and its directory decide where it leads.
    if isLink || isDirectory && mode & UInt32(S_ISVTX) != 0 { return nil }
    if mode & UInt32(S_IWOTH) != 0 { return .everybody }
    if mode & UInt32(S_IWGRP) != 0 { return .group }
    return nil
  }
}

/// Why other users may control a file, a directory or a link.
package enum Distrust: Sendable, Equatable {
  /// Its owner is a user other than root and this one.
  case owner(UInt32)
  /// It is writable by everyone.
  case everybody
  /// It is writable by its group.
  case group

  /// The reason, as a phrase after the file's name.
  var words: String {
    switch self {
    case .owner(let owner): "belongs to another user (\(owner))"
    case .everybody: "is writable by everyone"
    case .group: "is writable by its group"
    }
  }
}

/// The message for `errno`, such as `no such file or directory`.
func currentError() -> String {
  let text = String(cString: strerror(errno))
  return text.prefix(1).lowercased() + text.dropFirst()
}
