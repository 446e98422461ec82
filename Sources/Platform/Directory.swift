import RPCurlBase

/// Directories of the user's own files.
package enum Directory {
  /// The largest number of directories within each other that are searched for files.
  private static let depthLimit = 64

  /// Creates a directory and its parents, which only the user can read. An error shows when a file is created in it.
  package static func make(_ path: String) {
    for end in path.indices where path[end] == "/" && end != path.startIndex {
      mkdir(String(path[..<end]), 0o700)
    }
    mkdir(path, 0o700)
  }

  /// The regular files of a directory and of those in it whose names have a suffix, in the order of their names. Hidden
  /// entries and symbolic links to directories are ignored.
  ///
  /// - Parameters:
  ///   - directory: The directory.
  ///   - suffix: The end of the names.
  ///   - limit: The number of files after which no more are searched.
  ///   - depth: The number of directories above.
  /// - Throws: `SystemError` if files may be missing, with the path of the directory or the entry.
  package static func files(
    below directory: String, suffix: String, limit: Int, depth: Int = 0
  ) throws(SystemError) -> [String] {
    var found: [String] = []
    let entries = try list(directory).sorted { $0.name < $1.name }
    for entry in entries where !entry.name.hasPrefix(".") && found.count <= limit {
      let name = entry.name
      let path = directory.hasSuffix("/") ? "\(directory)\(name)" : "\(directory)/\(name)"
      guard entry.mayBeDirectory || name.hasSuffix(suffix) else { continue }
      guard entry.isUTF8 else { throw SystemError("the name is not UTF-8", path: path) }
      guard let file = FileFacts(link: path) else {
        // It may have been removed meanwhile.
        if errno == ENOENT { continue }
        throw SystemError.last.at(path)
      }
      if file.isDirectory {
        guard depth < depthLimit else {
          throw SystemError("more than \(depthLimit) directories within each other", path: path)
        }
        found += try files(below: path, suffix: suffix, limit: limit - found.count, depth: depth + 1)
      } else if name.hasSuffix(suffix), FileContents.isRegularFile(path) {
        found.append(path)
      }
    }
    return found
  }

  /// The path of a file that another file names: relative to the directory of that.
  package static func path(of name: String, besides file: String) -> String {
    guard !name.hasPrefix("/"), let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return name }
    return "\(file[...slash])\(name)"
  }

  /// An entry of a directory.
  package struct Entry {
    /// U+FFFD replaces what is not UTF-8.
    package let name: String
    package let isUTF8: Bool
    /// Whether it is a directory, or a symbolic link. True also where only lstat(2) shows the type.
    package let mayBeDirectory: Bool
    /// Whether it is a symbolic link. False where only lstat(2) shows the type.
    package let isLink: Bool

    package init(name: String, isUTF8: Bool = true, mayBeDirectory: Bool, isLink: Bool = false) {
      self.name = name
      self.isUTF8 = isUTF8
      self.mayBeDirectory = mayBeDirectory
      self.isLink = isLink
    }
  }

  /// The entries of a directory besides `.` and `..`; none if it cannot be read.
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - limit: The number of entries after which no more are read.
  package static func entries(in path: String, limit: Int = .max) -> [Entry] {
    limit > 0 ? (try? list(path, limit: limit)) ?? [] : []
  }

  /// The entries of a directory besides `.` and `..`.
  package static func list(_ path: String, limit: Int = .max) throws(SystemError) -> [Entry] {
    guard let place = MemoryLayout<dirent>.offset(of: \.d_name), let stream = opendir(path) else {
      throw SystemError.last.at(path)
    }
    defer { closedir(stream) }
    var entries: [Entry] = []
    while entries.count < limit, let entry = readdir(stream) {
      // The name where it is: an entry ends with its name, before the end of the type's array.
      let bytes = (UnsafeRawPointer(entry) + place).assumingMemoryBound(to: CChar.self)
      let valid = String(validatingCString: bytes)
      let name = valid ?? String(cString: bytes)
      guard name != ".", name != ".." else { continue }
      let type = Int(entry.pointee.d_type)
      let isLink = type == Int(DT_LNK)
      let mayBeDirectory = isLink || type == Int(DT_DIR) || type == Int(DT_UNKNOWN)
      entries.append(Entry(name: name, isUTF8: valid != nil, mayBeDirectory: mayBeDirectory, isLink: isLink))
    }
    return entries
  }
}
