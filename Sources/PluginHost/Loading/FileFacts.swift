import Glibc

/// What the file system says of a file.
struct FileFacts: Equatable {
  let device: UInt64
  let inode: UInt64
  let owner: UInt32
  let mode: UInt32
  /// When it was last changed, in nanoseconds.
  let changed: Int64

  /// Asks for a path, following links; `nil` when it cannot be had, and `errno` says why.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
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
    changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
  }

  var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
  var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }

  /// Why others than root and the user could write it; `nil` when they could not.
  ///
  /// In a sticky directory, such as /tmp, others can make files but not replace those of the user.
  var distrust: String? {
    if owner != 0 && owner != geteuid() { return "belongs to another user (\(owner))" }
    if isDirectory && mode & UInt32(S_ISVTX) != 0 { return nil }
    if mode & UInt32(S_IWOTH) != 0 { return "can be written by everybody" }
    if mode & UInt32(S_IWGRP) != 0 { return "can be written by its group" }
    return nil
  }
}

/// Refuses a file that somebody other than the user and root could have written, or put in its place.
func requireTrust(in path: String, _ facts: FileFacts) throws(PluginError) {
  if let reason = facts.distrust { throw .untrusted(path: path, culprit: path, reason: reason) }
  // The way as written, and where it leads when links are followed: whoever can write either decides what runs.
  guard let real = realPath(path) else { throw .unreadable(path: path, reason: currentError()) }
  let written = path.hasPrefix("/") ? path : "\(workingDirectory())/\(path)"
  for directory in parents(of: written) + parents(of: real) {
    guard let facts = FileFacts(path: directory) else {
      throw .unreadable(path: path, reason: currentError())
    }
    if let reason = facts.distrust { throw .untrusted(path: path, culprit: directory, reason: reason) }
  }
}

/// The directories above a path, nearest first.
private func parents(of path: String) -> [String] {
  var found: [String] = []
  var rest = path[...]
  while let slash = rest.lastIndex(of: "/") {
    rest = rest[..<slash]
    found.append(rest.isEmpty ? "/" : String(rest))
  }
  return found
}

private func realPath(_ path: String) -> String? {
  guard let real = realpath(path, nil) else { return nil }
  defer { free(real) }
  return String(cString: real)
}

private func workingDirectory() -> String {
  realPath(".") ?? "/"
}

/// The words for `errno`, as `no such file or directory`.
func currentError() -> String {
  let text = String(cString: strerror(errno))
  return text.prefix(1).lowercased() + text.dropFirst()
}
