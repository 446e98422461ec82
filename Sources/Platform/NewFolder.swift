import RPCurlBase

/// Writes new files below a folder, by names that may be hostile: none is written anywhere else, through a symbolic
/// link, or over another file.
package struct NewFolder {
  private let path: String
  private let descriptor: Int32
  /// The files and folders that were created, each as a path below the folder.
  private var created: [(path: String, isFolder: Bool)] = []

  /// Opens the folder, which is created with its parents if it does not exist.
  private init(_ path: String) throws(SystemError) {
    self.path = path
    for end in path.utf8.indices where path.utf8[end] == UInt8(ascii: "/") && end > path.startIndex {
      // What cannot be made is reported for the folder itself.
      mkdir(String(path[..<end]), 0o777)
    }
    if mkdir(path, 0o777) != 0, errno != EEXIST { throw .last }
    descriptor = RPCurlPlatform.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
  }

  /// Writes all files, or none.
  ///
  /// - Parameters:
  ///   - files: The names, which are relative paths, and the contents. A file that exists already must have the same
  ///     content.
  ///   - path: The folder. It is created if it does not exist.
  /// - Throws: `SystemError` for the first file that cannot be written, with its name; without one for the folder.
  package static func write(_ files: [(name: String, contents: [UInt8])], below path: String)
    throws(SystemError)
  {
    let folders = Set(files.flatMap { ancestors(of: $0.name) })
    for file in files {
      if let why = whyInvalid(file.name) { throw SystemError(why, path: file.name) }
      if folders.contains(file.name) { throw SystemError("is also the name of a folder", path: file.name) }
    }
    var folder = try NewFolder(path)
    defer { close(folder.descriptor) }
    var missing: [(name: String, contents: [UInt8])] = []
    for file in files where try !folder.has(file.name, file.contents) { missing.append(file) }
    do throws(SystemError) {
      for file in missing { try folder.create(file.name, file.contents) }
    } catch {
      folder.removeCreated()
      throw error
    }
  }

  /// Why a name cannot be that of a file below the folder; nil if it can.
  package static func whyInvalid(_ name: String) -> String? {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.first?.isEmpty != true else { return "is not a relative path" }
    for part in parts {
      if part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
        return "is not a path of names"
      }
      if part.count > Int(NAME_MAX) { return "is too long" }
    }
    let isSafe = name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    return isSafe ? nil : "has a control character"
  }

  private static func ancestors(of name: String) -> [String] {
    name.utf8.indices.filter { name.utf8[$0] == UInt8(ascii: "/") }.map { String(name[..<$0]) }
  }

  // MARK: Files

  /// Whether a file exists with these contents.
  ///
  /// - Throws: `SystemError` if something else has its name.
  private func has(_ name: String, _ contents: [UInt8]) throws(SystemError) -> Bool {
    guard let parent = try open(parentOf: name, creates: nil) else { return false }
    defer { close(parent.descriptor) }
    guard let found = FileFacts(parent.last, in: parent.descriptor) else {
      guard errno == ENOENT else { throw SystemError.last.at(name) }
      return false
    }
    guard found.isRegular else {
      throw SystemError("exists, and is not a regular file", path: name)
    }
    let file = openat(parent.descriptor, parent.last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw SystemError.last.at(name) }
    defer { close(file) }
    // One byte more shows a longer file.
    let existing = try? FileContents.readPiece(file, limitBytes: contents.count + 1)
    guard existing == contents else { throw SystemError("exists with other content", path: name) }
    return true
  }

  private mutating func create(_ name: String, _ contents: [UInt8]) throws(SystemError) {
    var folders: [String] = []
    let opened = try open(parentOf: name, creates: { folders.append($0) })
    created += folders.map { ($0, true) }
    guard let parent = opened else { throw SystemError.last.at(name) }
    defer { close(parent.descriptor) }
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = openat(parent.descriptor, parent.last, flags, 0o666)
    guard file >= 0 else { throw SystemError.last.at(name) }
    created.append((name, false))
    let problem = FileContents.write(contents, to: file)
    guard close(file) == 0, problem == nil else {
      throw (problem ?? .last).at(name)
    }
  }

  /// Opens the folder of a file without following symbolic links.
  ///
  /// - Parameter creates: Receives the path of each folder that is created; nil to create none.
  /// - Returns: The folder and the last part of the name; nil if the folder does not exist.
  private func open(
    parentOf name: String, creates: ((String) -> Void)?
  ) throws(SystemError) -> (descriptor: Int32, last: String)? {
    var current = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    var rest = name[...]
    while let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) {
      let part = String(rest[..<slash])
      if let creates, mkdirat(current, part, 0o777) == 0 { creates(String(name[..<slash])) }
      let next = openat(current, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      let reason = errno
      close(current)
      guard next >= 0 else {
        if reason == ENOENT, creates == nil { return nil }
        throw SystemError(number: reason).at(name)
      }
      current = next
      rest = rest[rest.utf8.index(after: slash)...]
    }
    return (current, String(rest))
  }

  private func removeCreated() {
    for entry in created.reversed() {
      guard let parent = (try? open(parentOf: entry.path, creates: nil)) ?? nil else { continue }
      unlinkat(parent.descriptor, parent.last, entry.isFolder ? AT_REMOVEDIR : 0)
      close(parent.descriptor)
    }
  }
}
