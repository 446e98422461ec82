import RPCurlBase
import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

extension ComparisonRules {
  /// The rules that options select, and the part `breaking` of a `buf.yaml`: that of `--rules-from`, or else the one of the sources of
  /// the new schema.
  ///
  /// - Parameters:
  ///   - options: The options of the command.
  ///   - old: The schema in use.
  ///   - new: The schema that replaces it; nil if it is not read yet.
  /// - Throws: `Failure` for an invalid file, or a name that is not a rule.
  package init(
    _ options: Invocation, old: SchemaOperand.Contents, new: SchemaOperand.Contents?
  ) throws(Failure) {
    let category: RuleCategory? = options.choice(.rules)
    let sources = [old, new].compactMap(\.self)
    let names = Set(sources.flatMap(\.files))
    let shown = sources.flatMap { $0.paths.map { (path: $0.value, name: $0.key) } }
    let given = try Self.given(options, shown + names.map { (path: $0, name: $0) })
    var selections: [Selection] = []
    var selectionsOfFiles: [String: Int] = [:]
    var uses: [String] = []
    var used: Set<String> = []
    let workspace = try Self.workspace(options, new)
    let modules = workspace?.rules ?? []
    // Which module of another place a file belongs to is not known.
    let places = options.last(.rulesFrom) == nil ? new : nil
    for module in modules {
      let (selection, use) = try Self.selection(module, category, names)
      for name in places?.files ?? []
      where places?.tree.isFile(DirectoryPath.join(module.root, name)) == true {
        selectionsOfFiles[name] = selections.count
      }
      selections.append(selection)
      for name in use where used.insert(name).inserted { uses.append(name) }
    }
    if places != nil, let workspace {
      let roots = modules.map { DirectoryPath.shown($0.root, in: workspace.directory) }
      for (name, path) in old.paths where selectionsOfFiles[name] == nil {
        // A file that only the old schema has, in the same directory of another copy.
        let matches = roots.indices.filter { path.hasSuffix("\(roots[$0])/\(name)") }
        selectionsOfFiles[name] = matches.max { roots[$0].utf8.count < roots[$1].utf8.count }
      }
    }
    let standard = category ?? .package
    let others = places?.files.filter { selectionsOfFiles[$0] == nil } ?? []
    if modules.isEmpty || !others.isEmpty {
      for name in others { selectionsOfFiles[name] = selections.count }
      selections.append(Selection(rules: standard.rules))
    }
    for index in selections.indices {
      selections[index].rules.subtract(given.rules)
      selections[index].exceptions += given.exceptions
      if options.has(.ignoreUnstable) { selections[index].ignoresUnstable = true }
    }
    let name = category == nil && !uses.isEmpty ? Self.name(uses) : standard.rawValue
    self.init(named: name, selections, ofFiles: selectionsOfFiles)
  }

  /// The names of categories and rules as the summary shows them.
  private static func name(_ uses: [String]) -> String {
    // The summary is one line, and a heading of Markdown.
    let limit = 8
    let rest = uses.count - limit
    return uses.prefix(limit).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// The rules and other values of `--ignore`.
  private static func given(
    _ options: Invocation, _ files: [(path: String, name: String)]
  ) throws(Failure) -> (rules: Set<Rule>, exceptions: [RuleException]) {
    var (rules, exceptions): (Set<Rule>, [RuleException]) = ([], [])
    let directory = DirectoryPath.current
    let files = files.map { (path: DirectoryPath.absolute($0.path, in: directory), name: $0.name) }
    func exception(of rules: Set<Rule>?, in scope: String, at origin: String) -> RuleException {
      let path = DirectoryPath.absolute(scope, in: directory)
      return RuleException(of: rules, in: scope, path: path, at: origin, among: files)
    }
    for argument in options.all(.ignored) {
      let text = argument.string ?? ""
      guard !text.isEmpty else {
        throw Failure(.usage, "--ignore", "the value is empty", hint: "\"--ignore .\" ignores everything")
          .at(argument.origin)
      }
      let parts = text.split(separator: Character(":"), maxSplits: 1, omittingEmptySubsequences: false)
        .map(String.init)
      let name = parts[0]
      let isRule = !name.isEmpty && name.utf8.allSatisfy { Self.isOfRules($0) }
      guard isRule else {
        exceptions.append(exception(of: nil, in: text, at: "--ignore \(text)"))
        continue
      }
      guard let named = Rule.named(name) else {
        throw Failure(.usage, "--ignore \(text)", "not a rule", hint: hint(name)).at(argument.origin)
      }
      if parts.count == 2 {
        guard !parts[1].isEmpty else {
          throw Failure(
            .usage, "--ignore \(text)", "a name or a path must follow the colon",
            hint: "\"--ignore \(name)\" ignores it everywhere"
          ).at(argument.origin)
        }
        exceptions.append(exception(of: named, in: parts[1], at: "--ignore \(text)"))
      } else {
        rules.formUnion(named)
      }
    }
    return (rules, exceptions)
  }

  private static func isOfRules(_ byte: UInt8) -> Bool {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      || byte == UInt8(ascii: "_")
  }

  private static func hint(_ name: String) -> String {
    let nearest = DescriptorPool.nearestNames(to: name.uppercased(), among: Rule.allCases.map(\.rawValue))
    return nearest.first.map { "did you mean \($0)?" } ?? "rpcurl-diff(1) lists the rules"
  }

  /// The `buf.yaml` that is used; nil if there is none.
  private static func workspace(
    _ options: Invocation, _ new: SchemaOperand.Contents?
  ) throws(Failure) -> BufWorkspace? {
    if let path = options.last(.rulesFrom)?.text {
      return try BufWorkspace.reading(DirectoryPath.absolute(path, in: DirectoryPath.current), .system())
    }
    guard let new, let directory = new.directory else { return nil }
    return try BufWorkspace.find(from: directory, cache: nil, new.tree)
  }

  /// The selection of a module, with the names of its rules.
  private static func selection(
    _ module: BufWorkspace.Rules, _ category: RuleCategory?, _ names: Set<String>
  ) throws(Failure) -> (Selection, [String]) {
    let breaking = module.breaking
    let path = DirectoryPath.shown(module.file, in: DirectoryPath.current)
    let files = names.map { (path: DirectoryPath.join(module.root, $0), name: $0) }
    // Paths are relative to the root of the module, or to the directory of the file.
    let directory = module.prefix.isEmpty ? module.root : DirectoryPath.parent(module.file) ?? "/"
    func exception(of rules: Set<Rule>?, _ item: BufFile.Item) -> RuleException {
      let path = DirectoryPath.absolute(item.text, in: directory)
      return RuleException(of: rules, in: item.text, path: path, at: origin(item), among: files)
    }
    func origin(_ item: BufFile.Item) -> String { "\(path):\(item.line):\(item.column)" }
    func rules(_ name: String, _ origin: String) throws(Failure) -> Set<Rule> {
      if let rules = Rule.named(name) { return rules }
      throw Failure(.schema, origin, "\(name) is not a rule", hint: hint(name))
    }
    func rules(_ items: [BufFile.Item]) throws(Failure) -> Set<Rule> {
      var all: Set<Rule> = []
      for item in items { all.formUnion(try rules(item.text, origin(item))) }
      return all
    }
    let used = try rules(breaking.use)
    var selection = Selection(
      rules: try (category?.rules ?? (breaking.use.isEmpty ? RuleCategory.package.rules : used))
        .subtracting(rules(breaking.except)),
      ignoresUnstable: breaking.ignoresUnstable)
    for item in breaking.ignore { selection.exceptions.append(exception(of: nil, item)) }
    for (name, items) in breaking.ignoreOnly.sorted(by: { $0.key < $1.key }) {
      for item in items {
        let rules = try rules(name, origin(item))
        selection.exceptions.append(exception(of: rules, item))
      }
    }
    return (selection, breaking.use.map(\.text))
  }
}
