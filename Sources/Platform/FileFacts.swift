/// What the file system reports about a file. Two are equal if nothing of it has changed but when it was read.
package struct FileFacts: Hashable, Sendable {
  package enum Kind: Sendable {
    case regular, directory, link, pipe, socket, characterDevice, other
  }

  /// What all paths of a file have in common.
  package struct Identity: Hashable, Sendable {
    package let device: UInt64
    package let number: UInt64

    package init(device: UInt64, number: UInt64) { (self.device, self.number) = (device, number) }
  }

  package let identity: Identity
  /// The user that owns it.
  package let owner: uid_t
  private let mode: mode_t
  package let sizeBytes: Int
  /// The number of names; zero if it was removed.
  package let links: Int
  /// The time of the last change of its content, in nanoseconds since 1970.
  package let modified: Int
  /// The time of the last change of its content, owner or permissions, in nanoseconds since 1970.
  package let changed: Int
  /// The time at which it was last read, in nanoseconds since 1970.
  package let used: Int

  /// Asks about a path, and follows links; nil on failure, with the reason in `errno`.
  package init?(_ path: UnsafePointer<CChar>) { self.init { stat(path, &$0) } }

  /// Asks about a path, and follows no link at its end; nil on failure, with the reason in `errno`.
  package init?(link path: UnsafePointer<CChar>) { self.init { lstat(path, &$0) } }

  /// Asks about a name in a directory, and does not follow a link; nil on failure, with the reason in `errno`.
  package init?(_ name: String, in directory: Int32) {
    self.init { fstatat(directory, name, &$0, AT_SYMLINK_NOFOLLOW) }
  }

  /// Asks about an open file; nil on failure, with the reason in `errno`.
  package init?(_ descriptor: Int32) { self.init { fstat(descriptor, &$0) } }

  private init?(_ ask: (inout stat) -> Int32) {
    var status = stat()
    guard ask(&status) == 0 else { return nil }
    identity = Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
    (owner, mode) = (status.st_uid, status.st_mode)
    (sizeBytes, links) = (Int(status.st_size), Int(status.st_nlink))
    modified = Self.nanoseconds(status.st_mtim)
    changed = Self.nanoseconds(status.st_ctim)
    used = Self.nanoseconds(status.st_atim)
  }

  /// A time, in nanoseconds since 1970.
  package static func nanoseconds(_ time: timespec) -> Int {
    Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
  }

  package var kind: Kind {
    switch mode & S_IFMT {
    case S_IFREG: .regular
    case S_IFDIR: .directory
    case S_IFLNK: .link
    case S_IFIFO: .pipe
    case S_IFSOCK: .socket
    case S_IFCHR: .characterDevice
    default: .other
    }
  }

  package var isRegular: Bool { kind == .regular }
  package var isDirectory: Bool { kind == .directory }

  /// What its owner, its group and others may do.
  package var permissions: mode_t { mode & 0o777 }

  /// Whether each user may remove only files of his own from the directory, as from /tmp.
  package var isSticky: Bool { mode & S_ISVTX != 0 }

  package static func == (one: FileFacts, other: FileFacts) -> Bool {
    one.identity == other.identity && one.owner == other.owner && one.mode == other.mode
      && one.sizeBytes == other.sizeBytes && one.changed == other.changed
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(identity)
    hasher.combine(changed)
  }
}
