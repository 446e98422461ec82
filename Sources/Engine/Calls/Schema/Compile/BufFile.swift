import RPCurlProtobuf

/// The parts of a `buf.yaml`, a `buf.work.yaml` or a `buf.lock` that say where `.proto` files are, and which changes break.
struct BufFile: Equatable {
  /// A directory of `.proto` files.
  struct Module: Equatable {
    /// The directory, relative to the file.
    let path: String
    /// The directories whose files are not part of it, relative to the file.
    var excludes: [String] = []
    /// Its own rules about changes; nil for those of the file.
    var breaking: Breaking?
  }

  /// A text, and where it is.
  struct Item: Equatable {
    let text: String
    let line: Int
    let column: Int

    init(_ value: YAMLValue) throws(YAMLValue.Problem) {
      text = try value.text
      (line, column) = (value.line, value.column)
    }
  }

  /// The rules about changes: `breaking`.
  struct Breaking: Equatable {
    /// Categories and rules to apply.
    private(set) var use: [Item] = []
    /// Categories and rules that do not apply.
    private(set) var except: [Item] = []
    /// Files and directories that are ignored.
    private(set) var ignore: [Item] = []
    /// Files and directories for which a category or a rule is ignored.
    private(set) var ignoreOnly: [String: [Item]] = [:]
    private(set) var ignoresUnstable = false

    /// The keys of buf, of which `disable_builtin` has no effect.
    private static let keys: Set<String> = [
      "use", "except", "ignore", "ignore_only", "ignore_unstable_packages", "disable_builtin",
    ]
    /// The most texts of all lists: each exception is compared with each file.
    private static let itemLimit = 10_000

    /// The rules of a file or a module; nil if it has none.
    fileprivate init?(_ value: YAMLValue?) throws(YAMLValue.Problem) {
      guard let value else { return nil }
      guard case .map(let members) = value.content else { throw value.problem("expected keys and values") }
      for (name, member) in members where !Self.keys.contains(name) {
        throw member.problem("breaking has no key \(name)")
      }
      use = try Self.items(value["use"])
      except = try Self.items(value["except"])
      ignore = try Self.items(value["ignore"])
      if let only = try value["ignore_only"] {
        guard case .map(let members) = only.content else { throw only.problem("expected keys and values") }
        for (name, paths) in members { ignoreOnly[name] = try Self.items(paths) }
      }
      let count = ignoreOnly.values.reduce(use.count + except.count + ignore.count) { $0 + $1.count }
      guard count <= Self.itemLimit else {
        throw value.problem("more than \(Self.itemLimit) rules and paths")
      }
      let unstable = try value["ignore_unstable_packages"]
      switch try unstable?.text {
      case "true": ignoresUnstable = true
      case nil, "false": break
      default: throw unstable?.problem("expected true or false") ?? value.problem("expected true or false")
      }
      guard ignoresUnstable || !(use + except + ignore).isEmpty || !ignoreOnly.isEmpty else { return nil }
    }

    private static func items(_ value: YAMLValue?) throws(YAMLValue.Problem) -> [Item] {
      var items: [Item] = []
      if case .null? = value?.content { return [] }
      for item in try value?.items ?? [] {
        guard try !item.text.isEmpty else { throw item.problem("expected a text that is not empty") }
        items.append(try Item(item))
      }
      return items
    }
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
  /// The rules about changes of modules without rules of their own; nil if there are none.
  private(set) var breaking: Breaking?

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
    breaking = try Breaking(root["breaking"])
    for item in try root["deps"]?.items ?? [] { dependencies.append(try Self.dependency(item)) }
  }

  private static func modules(_ root: YAMLValue) throws(YAMLValue.Problem) -> [Module] {
    var modules: [Module] = []
    for item in try root["modules"]?.items ?? [] {
      let path = try item["path"]?.text ?? "."
      let excludes = try item["excludes"]?.texts ?? []
      modules.append(Module(path: path, excludes: excludes, breaking: try Breaking(item["breaking"])))
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
