import RPCurlPlatform

/// The directories of imports, which the files themselves imply: no `-I` is needed if the folders have the names of the
/// package, or if an import is found from a directory above the file that contains it.
struct ImportRoots {
  /// An import that no directory has.
  struct Missing: Equatable {
    let name: String
    /// The absolute path of the file with the import.
    let importer: String
  }

  /// The largest number of files that are read, and the size of each.
  private static let fileLimit = 2_000
  private static let limitBytes = 4 << 20

  private let working: String
  /// The directories that only the packages of files imply, not an import.
  private var implied: Set<String> = []
  /// The directories, in order of precedence: inner ones before those that contain them.
  private(set) var directories: [String]
  /// The imports that no directory has, except `google/protobuf`, which protoc brings.
  private(set) var missing: [Missing] = []

  /// Derives the directories from the files and from all files that they import.
  ///
  /// - Parameters:
  ///   - files: The files, as absolute paths.
  ///   - working: The working directory, which is searched last.
  ///   - known: The directories of a workspace, which are searched first.
  init(of files: [String], in working: String, after known: [String] = []) {
    directories = known
    self.working = working
    var pending: [String] = []
    for file in files {
      pending.append(file)
      guard let outline = Self.outline(file), let directory = DirectoryPath.parent(file) else { continue }
      // A workspace decides about its files.
      if known.contains(where: { DirectoryPath.isInside(file, $0) }) { continue }
      if let root = Self.root(of: directory, package: outline.package) {
        add(root)
        implied.insert(root)
      }
    }
    let given = Set(files)
    var seen: Set<String> = []
    var imported: [(root: String, path: String)] = []
    while let file = pending.popLast(), seen.count < Self.fileLimit {
      guard seen.insert(file).inserted, let outline = Self.outline(file) else { continue }
      for name in outline.imports where !name.hasPrefix("google/protobuf/") {
        if let (root, path) = find(name, from: file) {
          pending.append(path)
          implied.remove(root)
          if given.contains(path) { imported.append((root, path)) }
        } else if !missing.contains(where: { $0.name == name }) {
          missing.append(Missing(name: name, importer: file))
        }
      }
    }
    // If imports name the files from a directory above, as with Bazel, protoc must name them all so.
    directories.removeAll { directory in
      implied.contains(directory)
        && imported.contains {
          DirectoryPath.isInside(directory, $0.root) && DirectoryPath.isInside($0.path, directory)
        }
    }
    // Each file must be below a directory.
    for file in files where !directories.contains(where: { DirectoryPath.isInside(file, $0) }) {
      if let directory = DirectoryPath.isInside(file, working) ? working : DirectoryPath.parent(file) {
        add(directory)
      }
    }
    directories = Self.innerFirst(directories)
  }

  private static func outline(_ file: String) -> ProtoOutline? {
    (try? FileContents.read(file, limitBytes: limitBytes)).map { ProtoOutline($0) }
  }

  private mutating func add(_ directory: String) {
    if !directories.contains(directory) { directories.append(directory) }
  }

  /// The directory that contains the folders of the package: `/x` for `/x/demo/v1` and `demo.v1`.
  private static func root(of directory: String, package: String) -> String? {
    guard !package.isEmpty else { return nil }
    let end = "/" + String(package.map { $0 == "." ? "/" : $0 })
    guard directory.hasSuffix(end) else { return nil }
    return directory.count == end.count ? "/" : String(directory.dropLast(end.count))
  }

  /// The directory and the path of an import: in a known directory, in one above the file that has the import, or in
  /// the working directory.
  private mutating func find(_ name: String, from file: String) -> (root: String, path: String)? {
    for directory in directories {
      let path = DirectoryPath.join(directory, name)
      if DirectoryPath.isFile(path) { return (directory, path) }
    }
    for directory in DirectoryPath.ancestors(file).dropFirst() + [working] {
      let path = DirectoryPath.join(directory, name)
      guard DirectoryPath.isFile(path) else { continue }
      add(directory)
      return (directory, path)
    }
    return nil
  }

  /// protoc names a file after the first directory that contains it, which must be the innermost.
  static func innerFirst(_ directories: [String]) -> [String] {
    var sorted: [String] = []
    for directory in directories {
      let outer = sorted.firstIndex { DirectoryPath.isInside(directory, $0) }
      sorted.insert(directory, at: outer ?? sorted.endIndex)
    }
    return sorted
  }
}
