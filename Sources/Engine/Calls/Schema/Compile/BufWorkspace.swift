import RPCurlPlatform

/// The modules of buf that a file belongs to.
struct BufWorkspace: Equatable {
  /// The directory of the workspace, which `buf build` accepts.
  let directory: String
  /// The file that declares it: `buf.yaml` or `buf.work.yaml`.
  let file: String
  /// The directories of the modules.
  private(set) var roots: [String]
  /// Whether the modules need others, which only buf can fetch.
  private(set) var hasDependencies: Bool

  private static let limitBytes = 1 << 20

  /// Finds the workspace of `directory`, an absolute path: a `buf.work.yaml`, or else the nearest `buf.yaml`, in it or
  /// above. Returns nil if absent.
  static func find(from directory: String) -> BufWorkspace? {
    var module: BufWorkspace?
    for place in DirectoryPath.ancestors(directory) {
      if let work = read("buf.work.yaml", in: place) {
        // The workspace must contain the module.
        guard let module else { return BufWorkspace(work, "buf.work.yaml", in: place).withModules() }
        let workspace = BufWorkspace(work, "buf.work.yaml", in: place)
        return workspace.roots.contains(module.directory) ? workspace.withModules() : module
      }
      if module == nil, let found = read("buf.yaml", in: place) {
        let workspace = BufWorkspace(found, "buf.yaml", in: place)
        if found.version == "v2" { return workspace }
        module = workspace
      }
    }
    return module
  }

  private static func read(_ name: String, in directory: String) -> BufFile? {
    let path = DirectoryPath.join(directory, name)
    guard DirectoryPath.isFile(path), let text = try? FileContents.read(path, limitBytes: limitBytes) else {
      return nil
    }
    return BufFile(String(decoding: text, as: UTF8.self))
  }

  private init(_ content: BufFile, _ name: String, in directory: String) {
    self.directory = directory
    file = DirectoryPath.join(directory, name)
    // A module without directories is the directory of its file.
    let directories = content.directories.isEmpty ? ["."] : content.directories
    roots = directories.map { DirectoryPath.absolute($0, in: directory) }.filter(DirectoryPath.isDirectory)
    hasDependencies = content.hasDependencies
  }

  /// Adds what the modules of a `buf.work.yaml` declare.
  private func withModules() -> BufWorkspace {
    var workspace = self
    for root in roots {
      guard let module = Self.read("buf.yaml", in: root) else { continue }
      workspace.hasDependencies = workspace.hasDependencies || module.hasDependencies
      if !module.directories.isEmpty {
        workspace.roots.removeAll { $0 == root }
        workspace.roots += module.directories.map { DirectoryPath.absolute($0, in: root) }
      }
    }
    return workspace
  }
}
