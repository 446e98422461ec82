import RPCurlBase

/// Checks that only the user and root can have written a file or replaced it, as ssh does for its configuration.
///
/// Checks every directory and link of the path, in the order in which the system resolves them.
package struct FileTrust {
  /// How often a file is opened that other processes replace.
  private static let attempts = 100

  /// Opens the file at `path` for reading, and checks it. Opens it again if another process replaces it meanwhile.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - flags: Flags of open(2) in addition to those for reading without waiting.
  /// - Returns: The descriptor; nil, and `errno` is set, if the file cannot be opened.
  /// - Throws: `SystemError` if another user can write the file or a part of its path.
  package static func open(_ path: String, flags: Int32 = 0) throws(SystemError) -> Int32? {
    var attempt = 1
    while true {
      let descriptor = RPCurlPlatform.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
      guard descriptor >= 0 else { return nil }
      do throws(SystemError) {
        try check(path, opened: descriptor)
        return descriptor
      } catch {
        close(descriptor)
        guard error.cause == .replaced, attempt < attempts else { throw error }
        attempt += 1
      }
    }
  }

  /// The number of links that the kernel follows (`MAXSYMLINKS`).
  private static let maxLinks = 40

  /// The path components that are not resolved yet, in reverse order.
  private var pending: [Substring] = []
  private var directory = "/"
  private var links = 0

  /// Checks the file at `path`, which was opened as `descriptor`.
  ///
  /// - Throws: `SystemError` if another user can write the file or a part of its path, or replaced it after it was
  ///   opened.
  package static func check(_ path: String, opened descriptor: Int32) throws(SystemError) {
    guard let file = FileFacts(descriptor) else { throw .replaced }
    try requireOwn(file, path)
    var trust = FileTrust()
    try trust.follow(path, to: file)
  }

  private mutating func follow(_ path: String, to file: FileFacts) throws(SystemError) {
    try Self.requireOwn(FileFacts(link: "/"), "/")
    try enter(path.hasPrefix("/") ? path : "\(FileContents.workingDirectory ?? "")/\(path)")
    while let name = pending.popLast() {
      if name == ".." {
        // All links of `directory` are resolved.
        directory = directory.lastIndex(of: "/").map { String(directory[..<$0]) } ?? ""
        if directory.isEmpty { directory = "/" }
        continue
      }
      let entry = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
      guard let found = FileFacts(link: entry) else { throw .replaced }
      switch found.kind {
      case .link:
        guard Self.isOwn(found.owner) else { throw .foreign(entry, owner: found.owner) }
        links += 1
        guard links <= Self.maxLinks, let target = FileContents.target(ofLink: entry) else {
          throw .replaced
        }
        // A pipe has no path to check: `fstat` has reported its owner and mode.
        if target.hasPrefix("pipe:["), file.kind == .pipe { return }
        try enter(target)
      case .directory:
        try Self.requireOwn(found, entry)
        directory = entry
      default:
        // The path must still name the file that was opened.
        guard pending.isEmpty, found.identity == file.identity else { throw .replaced }
        return
      }
    }
    throw .replaced
  }

  private mutating func enter(_ path: String) throws(SystemError) {
    if path.hasPrefix("/") { directory = "/" }
    pending += path.split(separator: "/").filter { $0 != "." }.reversed()
  }

  // MARK: One file or directory

  private static func requireOwn(_ file: FileFacts?, _ path: String) throws(SystemError) {
    guard let file else { throw .replaced }
    guard isOwn(file.owner) else { throw .foreign(path, owner: file.owner) }
    // In a sticky directory such as /tmp, other users can create files but not replace the user's. Writing to a
    // terminal does not change what is read from it.
    if file.isDirectory && file.isSticky || file.kind == .characterDevice { return }
    if file.permissions & 0o022 != 0 { throw .writable(path, isDirectory: file.isDirectory) }
  }

  private static func isOwn(_ owner: uid_t) -> Bool { owner == 0 || owner == geteuid() }
}

extension SystemError {
  /// Others can write a file or directory.
  static func writable(_ path: String, isDirectory: Bool) -> SystemError {
    let kind = isDirectory ? "directory" : "file"
    return SystemError("others can write the \(kind) \(path)", hint: "chmod go-w \(path)")
  }

  /// A file, directory or link belongs to another user.
  static func foreign(_ path: String, owner: uid_t) -> SystemError {
    SystemError("\(path) belongs to another user (\(owner))")
  }

  /// Another process has replaced a file, so that a second attempt may succeed.
  static let replaced = SystemError("the file was replaced while it was read", .replaced, hint: "try again")
}
