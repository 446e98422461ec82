import Glibc

/// Whether only the user and root can have written a file, or put it where it is: the rule of ssh for its
/// configuration.
///
/// Every directory and link on the way is checked, in the order in which the system follows them.
package struct FileTrust {
  /// Why a file is not trusted.
  package struct Problem: Error, Equatable {
    /// The file, directory or link that others control.
    package let culprit: String
    package let why: String
    package let hint: String

    package static func writable(_ culprit: String, isDirectory: Bool) -> Problem {
      Problem(
        culprit: culprit, why: "others can write the \(isDirectory ? "directory" : "file") \(culprit)",
        hint: "chmod go-w \(culprit)")
    }

    package static func foreign(_ culprit: String, owner: uid_t) -> Problem {
      Problem(
        culprit: culprit, why: "\(culprit) belongs to another user (\(owner))",
        hint: "use a file that belongs to you: --config FILE")
    }

    package static func replaced(_ path: String) -> Problem {
      Problem(culprit: path, why: "the file was replaced while it was read", hint: "try again")
    }
  }

  /// As many links as the system follows.
  private static let maxLinks = 40

  /// Names that are still to be looked up, the next one last.
  private var pending: [Substring] = []
  private var directory = "/"
  private var links = 0

  /// Checks the file at `path`, which was opened as `descriptor`.
  package static func check(_ path: String, opened descriptor: Int32) throws(Problem) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .replaced(path) }
    try requireOwn(status, path)
    var trust = FileTrust()
    try trust.follow(path, to: status)
  }

  private mutating func follow(_ path: String, to file: stat) throws(Problem) {
    try Self.requireOwn(Self.status("/"), "/")
    try enter(path.hasPrefix("/") ? path : "\(Self.workingDirectory)/\(path)")
    while let name = pending.popLast() {
      if name == ".." {
        // No link is left in the path so far.
        directory = directory.lastIndex(of: "/").map { String(directory[..<$0]) } ?? ""
        if directory.isEmpty { directory = "/" }
        continue
      }
      let entry = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
      let status = Self.status(entry)
      switch status?.st_mode.format {
      case S_IFLNK:
        guard let owner = status?.st_uid, Self.isOwn(owner) else {
          throw .foreign(entry, owner: status?.st_uid ?? 0)
        }
        links += 1
        guard links <= Self.maxLinks, let target = FileContents.target(ofLink: entry) else {
          throw .replaced(path)
        }
        // A descriptor without a name, such as a pipe: `fstat` has reported everything about it.
        if target.hasPrefix("pipe:["), file.st_mode.format == S_IFIFO { return }
        try enter(target)
      case S_IFDIR:
        try Self.requireOwn(status, entry)
        directory = entry
      default:
        // It was opened before, so what is there now must be the same.
        guard let status, pending.isEmpty, status.st_ino == file.st_ino, status.st_dev == file.st_dev else {
          throw .replaced(path)
        }
        return
      }
    }
    throw .replaced(path)
  }

  private mutating func enter(_ path: String) throws(Problem) {
    if path.hasPrefix("/") { directory = "/" }
    pending += path.split(separator: "/").filter { $0 != "." }.reversed()
  }

  // MARK: One file or directory

  private static func requireOwn(_ status: stat?, _ path: String) throws(Problem) {
    guard let status else { throw .replaced(path) }
    guard isOwn(status.st_uid) else { throw .foreign(path, owner: status.st_uid) }
    let isDirectory = status.st_mode.format == S_IFDIR
    // In a sticky directory, such as /tmp, others can make files but not replace those of the user. What others may
    // write to a terminal is not read from it.
    if isDirectory && status.st_mode & S_ISVTX != 0 || status.st_mode.format == S_IFCHR { return }
    if status.st_mode & 0o022 != 0 { throw .writable(path, isDirectory: isDirectory) }
  }

  private static func isOwn(_ owner: uid_t) -> Bool { owner == 0 || owner == geteuid() }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  private static var workingDirectory: String {
    guard let path = getcwd(nil, 0) else { return "" }
    defer { free(path) }
    return String(cString: path)
  }
}

extension mode_t {
  /// What kind of file it is.
  fileprivate var format: mode_t { self & S_IFMT }
}
