import RPCurlProtobuf

/// The parts of a `buf.yaml`, a `buf.work.yaml` or a `buf.lock` that say where `.proto` files are.
struct BufFile: Equatable {
  /// A directory of `.proto` files.
  struct Module: Equatable {
    /// The directory, relative to the file.
    let path: String
    /// The directories whose files are not part of it, relative to the file.
    var excludes: [String] = []
  }

  /// A module of another repository.
  struct Dependency: Hashable {
    /// `buf.build/acme/types`.
    let name: String
    /// The commit of a `buf.lock`; empty in other files.
    var commit = ""
  }

  /// The version, such as `v2`.
  let version: String
  /// The modules: `modules` of version 2, `build.roots` of v1beta1, and `directories` of `buf.work.yaml`.
  private(set) var modules: [Module] = []
  /// The modules of other repositories that are needed (`deps`).
  private(set) var dependencies: [Dependency] = []

  /// Reads a file.
  ///
  /// - Throws: `YAMLValue.Problem` if it is not YAML, or if a part has another form than buf's.
  init(_ text: [UInt8]) throws(YAMLValue.Problem) {
    guard let root = try YAMLValue.read(text) else {
      version = ""
      return
    }
    version = try root["version"]?.text ?? ""
    guard ["", "v1beta1", "v1", "v2"].contains(version) else {
      throw try root["version"]?.problem("version \(version) is not supported; v1beta1, v1 and v2 are")
        ?? root.problem("a version that is not supported")
    }
    modules = try Self.modules(root)
    for item in try root["deps"]?.items ?? [] { dependencies.append(try Self.dependency(item)) }
  }

  private static func modules(_ root: YAMLValue) throws(YAMLValue.Problem) -> [Module] {
    var modules: [Module] = []
    for item in try root["modules"]?.items ?? [] {
      let path = try item["path"]?.text ?? "."
      modules.append(Module(path: path, excludes: try item["excludes"]?.texts ?? []))
    }
    for path in try root["directories"]?.texts ?? [] { modules.append(Module(path: path)) }
    guard let build = try root["build"] else { return modules }
    let excludes = try build["excludes"]?.texts ?? []
    let roots = try build["roots"]?.texts ?? ["."]
    return modules + roots.map { Module(path: $0, excludes: excludes) }
  }

  /// A module as a name, with `:` and a label or a commit, or as the map of a `buf.lock`.
  private static func dependency(_ item: YAMLValue) throws(YAMLValue.Problem) -> Dependency {
    if case .text(let text) = item.content {
      return Dependency(name: text.split(separator: Character(":")).first.map(String.init) ?? text)
    }
    let commit = try item["commit"]?.text ?? ""
    if let name = try item["name"]?.text { return Dependency(name: name, commit: commit) }
    var parts: [String] = []
    for key in ["remote", "owner", "repository"] {
      guard let part = try item[key]?.text else { throw item.problem("a module without \(key)") }
      parts.append(part)
    }
    return Dependency(name: parts.joined(separator: "/"), commit: commit)
  }
}
