import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

/// The modules of buf that a file belongs to.
struct BufWorkspace: Equatable {
  /// The rules about changes of a module.
  struct Rules: Equatable {
    /// The file that declares them.
    let file: String
    /// The directory of the module.
    let root: String
    /// The path before the names of the module's files in paths of the rules; empty for none.
    let prefix: String
    let breaking: BufFile.Breaking
  }

  /// The directory of the workspace, which `buf build` accepts.
  let directory: String
  /// The file that declares it: `buf.yaml` or `buf.work.yaml`.
  let file: String
  /// The directories of the modules.
  private(set) var roots: [String] = []
  /// Directories whose files are not part of the modules.
  private(set) var excluded: [String] = []
  /// The directories of the modules of other repositories that buf has in its cache.
  private(set) var cached: [String] = []
  /// The names of the modules that are needed and are not in the cache: only buf can fetch them.
  private(set) var absent: [String] = []
  /// The rules about changes, of the modules that have any.
  private(set) var rules: [Rules] = []

  /// Finds the workspace of `directory`, an absolute path: a `buf.work.yaml`, or else the nearest `buf.yaml`, in it or
  /// above. Returns nil if absent.
  ///
  /// - Parameters:
  ///   - directory: The directory.
  ///   - cache: The directory of buf's cache; nil for none.
  ///   - tree: The file system.
  /// - Throws: `Failure` if one of the files is invalid.
  static func find(
    from directory: String, cache: String?, _ tree: FileTree
  ) throws(Failure) -> BufWorkspace? {
    let reader = Reader(tree: tree, cache: cache)
    var module: BufWorkspace?
    for place in DirectoryPath.ancestors(directory) {
      if let work = try reader.file("buf.work.yaml", in: place) {
        var workspace = try BufWorkspace(work, "buf.work.yaml", in: place, tree)
        // The workspace must contain the module.
        if let module, !workspace.roots.contains(module.directory) { return module }
        try workspace.addModules(reader)
        return workspace
      }
      if module == nil, let found = try reader.file("buf.yaml", in: place) {
        var workspace = try BufWorkspace(found, "buf.yaml", in: place, tree)
        try workspace.addDependencies(found, lockedIn: place, reader)
        if found.version == "v2" { return workspace }
        module = workspace
      }
    }
    return module
  }

  /// The workspace that a `buf.yaml` of any name declares.
  static func reading(_ path: String, _ tree: FileTree) throws(Failure) -> BufWorkspace {
    let (directory, reader) = (DirectoryPath.parent(path) ?? "/", Reader(tree: tree, cache: nil))
    return try BufWorkspace(try reader.file(path), path, in: directory, tree)
  }

  private init(
    _ content: BufFile, _ name: String, in directory: String, _ tree: FileTree
  ) throws(Failure) {
    self.directory = directory
    file = DirectoryPath.absolute(name, in: directory)
    try add(content, of: file, in: directory, tree)
  }

  /// Adds the directories and rules of a file's modules, without which the module is the directory of the file.
  private mutating func add(
    _ content: BufFile, of path: String, in place: String, _ tree: FileTree
  ) throws(Failure) {
    for module in content.modules.isEmpty ? [BufFile.Module(path: ".")] : content.modules {
      let root = DirectoryPath.absolute(module.path, in: place)
      guard !module.path.hasPrefix("/"), DirectoryPath.isInside(root, directory) else {
        throw Failure(.schema, file, "the module \(module.path) is outside of the directory of the file")
      }
      if tree.isDirectory(root), !roots.contains(root) { roots.append(root) }
      // Of v1beta1 and v1 they are relative to the module's root, of v2 to the file.
      excluded += module.excludes.map {
        DirectoryPath.absolute($0, in: content.version == "v2" ? place : root)
      }
      if let breaking = module.breaking ?? content.breaking {
        // Paths are relative as those of excludes are.
        let prefix = content.version == "v2" && root != place ? DirectoryPath.shown(root, in: place) : ""
        rules.append(Rules(file: path, root: root, prefix: prefix, breaking: breaking))
      }
    }
  }

  /// Adds what the modules of a `buf.work.yaml` declare.
  private mutating func addModules(_ reader: Reader) throws(Failure) {
    for root in roots {
      guard let module = try reader.file("buf.yaml", in: root) else { continue }
      if !module.modules.isEmpty { roots.removeAll { $0 == root } }
      try add(module, of: DirectoryPath.join(root, "buf.yaml"), in: root, reader.tree)
      try addDependencies(module, lockedIn: root, reader)
    }
  }

  /// Adds the dependencies of a file: the commits are in the `buf.lock` beside it, with those of the dependencies.
  private mutating func addDependencies(
    _ content: BufFile, lockedIn place: String, _ reader: Reader
  ) throws(Failure) {
    let locked = try reader.file("buf.lock", in: place)?.dependencies ?? []
    let names = Set(locked.map(\.name))
    for dependency in locked + content.dependencies.filter({ !names.contains($0.name) }) {
      if let directory = reader.cached(dependency) {
        if !cached.contains(directory) { cached.append(directory) }
      } else if !absent.contains(dependency.name) {
        absent.append(dependency.name)
      }
    }
  }
}

extension BufWorkspace {
  /// Reads files of buf.
  fileprivate struct Reader {
    let tree: FileTree
    /// The directory of buf's cache.
    let cache: String?

    /// The file in a directory; nil if absent.
    func file(_ name: String, in directory: String) throws(Failure) -> BufFile? {
      let path = DirectoryPath.join(directory, name)
      return tree.isFile(path) ? try file(path) : nil
    }

    /// The file of a path.
    func file(_ path: String) throws(Failure) -> BufFile {
      let text: [UInt8]
      do throws(SystemError) {
        text = try tree.read(path)
      } catch {
        throw Failure(.schema, path, error)
      }
      do throws(YAMLValue.Problem) {
        return try BufFile(text)
      } catch {
        throw Failure(.schema, "\(path):\(error.line):\(error.column)", error.why)
      }
    }

    /// The directory of a module in the cache: `modules/DIGEST/REGISTRY/OWNER/NAME/COMMIT/files`. Without a commit, the only one
    /// that the cache has. The file module.yaml is there once the module is complete.
    func cached(_ module: BufFile.Dependency) -> String? {
      let commit = module.commit.split(separator: Character("-")).joined()
      // The names are part of a path.
      guard let cache, !module.name.split(separator: Character("/")).contains(".."),
        commit.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") })
      else { return nil }
      for digest in ["b5", "shake256"] {
        let place = "\(cache)/v3/modules/\(digest)/\(module.name)"
        let commits = commit.isEmpty ? ((try? tree.entries(place)) ?? []).map(\.name) : [commit]
        let complete = commits.map { "\(place)/\($0)" }.filter { tree.isFile("\($0)/module.yaml") }
        if let only = complete.first, complete.count == 1 { return "\(only)/files" }
      }
      return nil
    }
  }

  /// The directory of buf's cache; nil if the environment names none.
  static func cache(_ environment: (String) -> String?) -> String? {
    if let directory = environment("BUF_CACHE_DIR"), directory.hasPrefix("/") { return directory }
    return UserDirectory.cache.path(environment).map { "\($0)/buf" }
  }
}
