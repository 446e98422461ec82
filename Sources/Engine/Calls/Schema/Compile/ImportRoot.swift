/// A directory of imports, and what their names begin with: `github.com/acme/shop` for a Go module.
struct ImportRoot: Equatable {
  /// The folders that the names have, and the directory does not; empty for none.
  let prefix: String
  /// An absolute path.
  let directory: String

  init(_ directory: String, prefix: String = "") {
    self.directory = directory
    self.prefix = prefix
  }

  /// The path of the file with a name; nil if the name does not begin as those of the directory.
  func path(of name: String) -> String? {
    guard !prefix.isEmpty else { return DirectoryPath.join(directory, name) }
    guard name.utf8.count > prefix.utf8.count, name.hasPrefix("\(prefix)/") else { return nil }
    return DirectoryPath.join(directory, String(name.dropFirst(prefix.count + 1)))
  }

  /// The name of the file at an absolute path; nil if it is not in the directory.
  func name(of path: String) -> String? {
    guard path != directory, DirectoryPath.isInside(path, directory) else { return nil }
    let name = directory == "/" ? path.dropFirst() : path.dropFirst(directory.count + 1)
    return prefix.isEmpty ? String(name) : "\(prefix)/\(name)"
  }

  /// The directories of a value of `-I`: `DIR`, `VIRTUAL=DIR`, or several with colons.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - working: The directory of relative paths.
  ///   - isDirectory: Whether a directory exists: its name may have `=` and `:`.
  static func parse(_ value: String, in working: String, isDirectory: (String) -> Bool) -> [ImportRoot] {
    let whole = DirectoryPath.absolute(value, in: working)
    if isDirectory(whole) { return [ImportRoot(whole)] }
    return value.split(separator: Character(":")).map { part in
      let path = DirectoryPath.absolute(String(part), in: working)
      guard !isDirectory(path), let equals = part.firstIndex(of: "=") else { return ImportRoot(path) }
      let directory = DirectoryPath.absolute(String(part[part.index(after: equals)...]), in: working)
      let folders = part[..<equals].split(separator: Character("/")).filter { $0 != "." }
      return ImportRoot(directory, prefix: folders.joined(separator: "/"))
    }
  }
}
