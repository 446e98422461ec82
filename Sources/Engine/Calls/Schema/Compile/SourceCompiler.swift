import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtoCompiler
import RPCurlProtobuf

/// Compiles what `--proto` names. Only if it needs modules that are nowhere on this machine, `buf` compiles it.
package struct SourceCompiler {
  /// The values of `-I`; empty if a `buf.yaml` and the files themselves imply the directories.
  let importPaths: [String]
  /// The directory after which files are named that nothing else gives a name; nil for the working directory.
  var base: String?
  /// Whether `buf` may run: it connects to any host that a `buf.yaml` names.
  let fetchesModules: Bool
  /// How long to wait for data from a pipe, and for buf; nil for no limit.
  var waitLimit: Duration?
  /// Whether the cache of compiled files is used.
  var usesCache = true
  /// Whether warnings are printed.
  var isVerbose = false
  /// Where warnings are printed.
  let error: StandardError
  /// The files that are read; nil for those of this machine.
  var tree: FileTree?
  /// The revision of a repository that they are from, `git:REVISION:`, and the top of the repository.
  var revision: (name: String, top: String)?

  /// The largest number of errors that are printed.
  private static let errorLimit = 20
  /// The size of all compiled files in the cache, in bytes.
  private static let cacheBytes = 256 << 20

  private let working = DirectoryPath.current

  /// The compiler of what the options of a call name.
  ///
  /// - Parameter waitLimit: How long to wait for data from a pipe, and for buf; nil for no limit.
  package init(_ options: Invocation, _ error: StandardError, waitLimit: Duration? = nil) {
    self.init(
      importPaths: options.texts(.importPath), namedAt: options.all(.proto).map(\.origin), options: options,
      error,
      waitLimit: waitLimit)
  }

  package init(
    importPaths: [String], base: String? = nil, namedAt origins: [Origin], options: Invocation,
    _ error: StandardError,
    waitLimit: Duration? = nil
  ) {
    self.importPaths = importPaths
    self.base = base
    self.error = error
    self.waitLimit = waitLimit
    fetchesModules = !origins.contains(where: \.isUntrusted)
    usesCache = !options.has(.noCache)
    isVerbose = options.verbosity > 0
  }

  /// The descriptor set of files and their imports, with comments.
  ///
  /// - Parameter arguments: Files, directories and patterns.
  /// - Throws: `Failure` with the errors of the sources.
  package func compile(_ arguments: [String]) throws(Failure) -> SchemaSource.Source {
    let name = arguments.joined(separator: ", ")
    let cache = usesCache && !isVerbose ? Self.cache : nil
    let stamp = tree == nil ? cache.map { SourceStamp($0, key: facts(arguments)) } : nil
    if let (set, paths) = stamp?.load() { return SchemaSource.Source(set: set, name: name, paths: paths) }
    let tree = tree ?? FileTree.system(waitLimit: waitLimit, stamp)
    let (unit, workspace, files) = try locate(arguments, tree) { place, problem in
      stamp?.isComplete = false
      error.remark("rpcurl: \(TerminalText.escape(place)): warning: \(problem)\n")
    }
    let locator = unit.locator
    if !locator.missing.isEmpty, let workspace, !workspace.absent.isEmpty {
      if let set = try fetched(workspace, files) { return SchemaSource.Source(set: set, name: name) }
      // It may be installed for the next run.
      stamp?.isComplete = false
    }
    var paths: [String: String] = [:]
    for case (let name, .file(let path)) in locator.places { paths[name] = shown(path) }
    let key = try cache == nil ? [] : unit.key()
    guard let cache, !key.isEmpty else {
      return SchemaSource.Source(set: try compile(unit, workspace), name: name, paths: paths)
    }
    let known = cache.load(key)
    let set = if let known { SchemaBytes(known) } else { try compile(unit, workspace) }
    do {
      if known == nil { try cache.store(set.bytes, for: key) }
      try stamp?.store(key, paths)
    } catch {
      // Without the cache, the next run compiles again.
    }
    return SchemaSource.Source(set: set, name: name, paths: paths)
  }

  /// The set of what was located.
  private func compile(_ unit: CompilationUnit, _ workspace: BufWorkspace?) throws(Failure) -> SchemaBytes {
    let result = unit.compile()
    guard !result.hasErrors else {
      throw notSource(result.diagnostics, unit) ?? failure(result.diagnostics, unit, workspace)
    }
    if isVerbose {
      for warning in result.diagnostics where warning.severity == .warning {
        error.remark(message(warning, unit.locator).rendered(error.colors))
      }
    }
    return result.set
  }

  /// All on which the result depends besides the files.
  private func facts(_ arguments: [String]) -> [UInt8] {
    let modules = BufWorkspace.cache(EnvironmentVariables.value) ?? ""
    let facts = [Version.current, working, base ?? "", "\(fetchesModules)", modules, "\(importPaths.count)"]
    return Array((facts + importPaths + arguments).joined(separator: "\0").utf8)
  }

  /// The cache of compiled files; nil if the environment names no directory.
  private static var cache: CacheDirectory? {
    UserDirectory.cache.path(EnvironmentVariables.value).map {
      CacheDirectory("\($0)/rpcurl/sources", limitBytes: cacheBytes)
    }
  }

  // MARK: Files

  /// What arguments and imports name.
  ///
  /// - Parameter warn: Receives each value of `-I` that is no directory and each link that leads nowhere, with the reason.
  private func locate(
    _ arguments: [String], _ tree: FileTree,
    warn: @escaping (_ place: String, _ why: String) -> Void = { _, _ in }
  ) throws(Failure) -> (CompilationUnit, BufWorkspace?, [SourceFiles.File]) {
    let given = importPaths.flatMap { ImportRoot.parse($0, in: working, isDirectory: tree.isDirectory) }
    for root in given where !tree.isDirectory(root.directory) {
      warn("-I \(shown(root.directory))", "not a directory")
    }
    let workspace = given.isEmpty ? try workspace(of: arguments, tree) : nil
    let roots = workspace.map { ($0.roots + $0.cached).map { ImportRoot($0) } } ?? given
    let sources = SourceCache(tree)
    let builtIn = BuiltInFiles()
    let search = SourceFiles(
      tree: tree, working: working, base: base, roots: roots, excluded: workspace?.excluded ?? [],
      isDangling: { path in
        let isOfRevision = revision.map { DirectoryPath.isInside(path, $0.top) } ?? false
        warn(
          shown(path),
          isOfRevision
            ? "not read: a submodule, or a symbolic link to nothing in the revision"
            : "not read: a symbolic link to nothing")
      })
    let (files, builtInNames) = try find(arguments, search, builtIn)
    let locator = try SourceLocator(files, roots: roots, in: base ?? working, sources, builtIn)
    let unit = CompilationUnit(
      names: locator.names + builtInNames, locator: locator, sources: sources, builtIn: builtIn)
    return (unit, workspace, files)
  }

  /// The directories and the names by which programs that search no imports compile the same files; nil if there are none, since
  /// names have folders that the directories lack, or since files are built in here only.
  func plainNames(_ arguments: [String]) throws(Failure) -> (directories: [String], files: [String])? {
    let unit = try locate(arguments, tree ?? FileTree.system(waitLimit: waitLimit)).0
    let locator = unit.locator
    guard locator.missing.isEmpty, unit.names == locator.names else { return nil }
    var used: Set<String> = []
    for (name, place) in locator.places where !name.hasPrefix("google/protobuf/") {
      guard case .file(let path) = place,
        let root = locator.roots.first(where: { $0.path(of: name) == path }), root.prefix.isEmpty
      else { return nil }
      used.insert(root.directory)
    }
    return (locator.roots.map(\.directory).filter(used.contains).map(shown), locator.names)
  }

  /// The workspace of buf that the first argument belongs to.
  private func workspace(of arguments: [String], _ tree: FileTree) throws(Failure) -> BufWorkspace? {
    guard let first = arguments.first else { return nil }
    let path = DirectoryPath.absolute(first, in: working)
    let start =
      tree.isDirectory(path) ? path : DirectoryPath.ancestors(path).dropFirst().first(where: tree.isDirectory)
    let place = base ?? start ?? working
    return try BufWorkspace.find(from: place, cache: BufWorkspace.cache(EnvironmentVariables.value), tree)
  }

  /// The files of the arguments, and the names of those that only the program has.
  private func find(
    _ arguments: [String], _ search: SourceFiles, _ builtIn: BuiltInFiles
  ) throws(Failure) -> (files: [SourceFiles.File], builtIn: [String]) {
    var (files, names) = ([SourceFiles.File](), [String]())
    for argument in arguments {
      if let found = try search.find(argument) {
        files += found
      } else if builtIn.descriptor(argument) != nil {
        names.append(argument)
      } else {
        throw missing(argument)
      }
    }
    return (files, names)
  }

  private func shown(_ path: String) -> String {
    if let revision, DirectoryPath.isInside(path, revision.top) {
      return revision.name + DirectoryPath.shown(path, in: revision.top)
    }
    return DirectoryPath.shown(path, in: working)
  }

  // MARK: buf

  /// The set that buf makes, which fetches the modules that a workspace depends on; nil if buf is not installed, or must not run.
  private func fetched(_ workspace: BufWorkspace, _ files: [SourceFiles.File]) throws(Failure) -> SchemaBytes?
  {
    guard fetchesModules else { return nil }
    let output: TemporaryFile
    let outcome: ChildProcess.Outcome
    do { output = try TemporaryFile() } catch { throw Failure(.schema, "temporary file", error) }
    defer { output.close() }
    do throws(SystemError) {
      outcome = try ChildProcess.run(
        ["buf", "build", workspace.directory, "--as-file-descriptor-set", "-o", "-"]
          + files.flatMap { ["--path", $0.path] }, output: output.descriptor, waitLimit: waitLimit)
    } catch {
      guard !error.isMissing else { return nil }
      throw Interrupt.failure ?? Failure(.schema, "buf", error)
    }
    guard outcome.hasSucceeded else {
      let first = outcome.errors.split(separator: "\n").first { !$0.hasPrefix("WARN") }
      throw Failure(
        .schema, "buf build", first.map(String.init) ?? "no output",
        hint: "with -I DIR, buf is not used")
    }
    let modules = "\(workspace.absent.joined(separator: ", ")), which \(shown(workspace.file)) needs"
    error.remark("* buf build has read \(TerminalText.escape(modules))\n")
    do { return SchemaBytes(try output.contents()) } catch { throw Failure(.schema, "buf build", error) }
  }

  // MARK: Errors

  /// The failure of a file that is a descriptor set; nil for text.
  private func notSource(_ diagnostics: [ProtoDiagnostic], _ unit: CompilationUnit) -> Failure? {
    guard let first = diagnostics.first(where: { $0.severity == .error }),
      case .file(let path) = unit.locator.place(first.file), let contents = try? unit.sources.contents(path)
    else { return nil }
    switch contents.withUnsafeBytes({ DescriptorSetForm($0) }) {
    case .binary, .compressed, .json, .zip:
      return Failure(
        .schema, "\(shown(path)):1:1", "not a .proto source file: this is a descriptor set",
        hint: "use --descriptor-set \(shown(path))")
    case .text, .python, .embedded, nil: return nil
    }
  }

  /// The failure with all errors of the sources. Missing imports come first, and what follows from them is omitted.
  private func failure(
    _ diagnostics: [ProtoDiagnostic], _ unit: CompilationUnit, _ workspace: BufWorkspace?
  ) -> Failure {
    let locator = unit.locator
    var errors = diagnostics.filter { $0.severity == .error && $0.cause != .missingImport }
    var messages: [Failure.Message] = []
    if let missing = diagnostics.first(where: { $0.cause == .missingImport }), !locator.missing.isEmpty {
      errors.removeAll { $0.cause == .undefinedName }
      let names = locator.missing.map(\.name)
      let shown = names.prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
      let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
      var first = message(missing, locator)
      first.why = "import\(names.count == 1 ? "" : "s") \(shown)\(rest) not found"
      first.hint = hint(for: names, unit, workspace)
      messages.append(first)
    }
    messages += errors.prefix(Self.errorLimit).map { message($0, locator) }
    var first = messages.removeFirst()
    first.others = messages
    return Failure(.schema, first)
  }

  private func message(_ diagnostic: ProtoDiagnostic, _ locator: SourceLocator) -> Failure.Message {
    var file = diagnostic.file
    if case .file(let path) = locator.place(file) { file = shown(path) }
    let place = diagnostic.line.map { "\(file):\($0):\(diagnostic.column ?? 1)" } ?? file
    let warning = diagnostic.severity == .warning ? "warning: " : ""
    var message = Failure.Message(what: place, why: warning + diagnostic.text, hint: diagnostic.hint)
    if let column = diagnostic.column, let line = diagnostic.sourceLine {
      message.excerpt = InputExcerpt(Array(line.utf8), at: column - 1)
    }
    return message
  }

  /// The name of a file near that of an import.
  private func similar(to name: String, _ unit: CompilationUnit) -> String? {
    let parts = name.split(separator: Character("/")).map(String.init)
    // Any two short names are similar.
    guard let stem = parts.last?.prefix(while: { $0 != "." }), stem.utf8.count > 3, !parts.contains("..")
    else {
      return nil
    }
    let folder = parts.dropLast().joined(separator: "/")
    for directory in unit.locator.roots.map(\.directory) + [working] {
      let entries = try? unit.sources.tree.entries(
        folder.isEmpty ? directory : DirectoryPath.join(directory, folder))
      let stems = (entries ?? []).filter { $0.name.hasSuffix(".proto") }.map { String($0.name.dropLast(6)) }
      if let near = EditDistance.nearest(to: String(stem), among: stems, limit: 1).first {
        return (parts.dropLast() + ["\(near).proto"]).joined(separator: "/")
      }
    }
    return nil
  }

  /// The name of a near file, or the `-I` that finds imports, with the directories that were searched.
  private func hint(
    for names: [String], _ unit: CompilationUnit, _ workspace: BufWorkspace?
  ) -> String {
    let locator = unit.locator
    let places = [working] + locator.missing.compactMap { DirectoryPath.parent($0.importer) }
    let found = ImportSearch(for: names, from: places).found
    var directories: [String] = []
    for name in names {
      guard let directory = found[name] else { continue }
      // A copy of a dependency may be in the workspace; elsewhere it belongs to another project.
      if let workspace, !DirectoryPath.isInside(directory, workspace.directory) { continue }
      if !directories.contains(shown(directory)) { directories.append(shown(directory)) }
    }
    guard directories.isEmpty else {
      // With -I, a buf.yaml is not used any more.
      let others =
        importPaths.isEmpty ? (workspace?.roots ?? []).map(shown).filter { !directories.contains($0) } : []
      return (importPaths.isEmpty ? "use " : "add ")
        + (others + directories).map { "-I \($0)" }.joined(separator: " ")
    }
    if let name = names.first, let near = similar(to: name, unit) {
      return "did you mean import \"\(near)\"?"
    }
    var searched: [String] = []
    for directory in locator.roots.map(\.directory) + places where !searched.contains(shown(directory)) {
      searched.append(shown(directory))
    }
    let more = searched.count > 3 ? " and \(searched.count - 3) more" : ""
    let use =
      "use -I DIR, the directory that contains \(names.first ?? ""); searched: "
      + searched.prefix(3).joined(separator: ", ") + more
    guard let workspace, !workspace.absent.isEmpty else { return use }
    let file = shown(workspace.file)
    return fetchesModules
      ? "install buf, which fetches the dependencies of \(file), or \(use)"
      : "read the project file, then run \"rpcurl trust\": buf fetches the dependencies of \(file) only with trust; or \(use)"
  }

  /// The failure for an argument that names nothing.
  private func missing(_ argument: String) -> Failure {
    let name =
      argument.hasPrefix("/")
      ? argument.split(separator: Character("/")).last.map(String.init) ?? argument : argument
    let found = ImportSearch(for: [name], from: [working]).found[name]
    return Failure(
      .schema, argument, "No such file or directory",
      hint: found.map { directory in
        importPaths.isEmpty
          ? "did you mean --proto \(shown(DirectoryPath.join(directory, name)))?"
          : "add -I \(shown(directory))"
      })
  }
}

/// What one run of the compiler reads.
private struct CompilationUnit {
  let names: [String]
  let locator: SourceLocator
  let sources: SourceCache
  let builtIn: BuiltInFiles

  /// The size from which compiling costs more than the cache, in bytes.
  private static let cachedBytes = 64 << 10

  /// Everything that the result depends on; empty if it is not worth a file in the cache.
  func key() throws(Failure) -> [UInt8] {
    var size = 0
    for case .file(let path) in locator.places.values { size += try sources.contents(path).count }
    guard size >= Self.cachedBytes else { return [] }
    var key = Array("\(Version.current)\n\(names.joined(separator: "\n"))\n".utf8)
    for (name, place) in locator.places.sorted(by: { $0.key < $1.key }) {
      switch place {
      case .file(let path):
        key += Array("\n\(name)\n\(SHA256.digest(of: try sources.contents(path)))".utf8)
      case .builtIn: key += Array("\n\(name)\nbuilt in".utf8)
      case .alias(let other): key += Array("\n\(name)\n=\(other)".utf8)
      }
    }
    return key
  }

  func compile() -> ProtoCompilation {
    ProtoCompiler(options: ProtoCompilerOptions(sourceInfo: true, isTolerant: true), resolve: source).compile(
      names)
  }

  private func source(_ name: String) -> ProtoSource {
    switch locator.place(name) {
    case .file(let path): (try? sources.take(path)).map { .found($0) } ?? .missing(tried: [path])
    case .builtIn: .descriptor(builtIn.descriptor(name) ?? [])
    case .alias(let other): .descriptor(Self.alias(name, of: other))
    case nil: .missing(tried: locator.roots.map(\.directory))
    }
  }

  /// The descriptor of a file that only imports another one, which is seen through it.
  private static func alias(_ name: String, of other: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for (tag, text) in [(0x0A, name), (0x1A, other)] as [(UInt8, String)] {
      bytes.append(tag)
      bytes.append(delimited: Array(text.utf8))
    }
    // public_dependency: the first import. The syntax is proto3.
    return bytes + [0x50, 0, 0x62, 6] + Array("proto3".utf8)
  }
}
