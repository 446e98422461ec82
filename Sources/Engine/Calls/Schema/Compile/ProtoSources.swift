import RPCurlProgram

/// The files of `--proto`, and the directories of their imports.
struct ProtoSources {
  /// The files as protoc and buf receive them.
  let files: [String]
  /// The directories of imports, as protoc receives them.
  let importPaths: [String]
  /// The workspace whose dependencies have imports that no directory has; nil if all imports are found.
  let modules: BufWorkspace?
  /// The working directory.
  private let working: String
  private let isDerived: Bool
  private let fetchesModules: Bool

  /// Files with directories that were given.
  init(files: [String], importPaths: [String]) {
    self.files = files
    self.importPaths = importPaths
    modules = nil
    working = DirectoryPath.current
    isDerived = false
    fetchesModules = false
  }

  /// Files without directories, which a workspace of buf and the files imply.
  ///
  /// - Parameters:
  ///   - files: The files.
  ///   - directory: The directory that contains them, after which they are named; nil for the working directory.
  ///   - fetchesModules: Whether buf may fetch modules, for messages.
  /// - Throws: `Failure` if a file does not exist.
  init(_ files: [String], in directory: String? = nil, fetchesModules: Bool) throws(Failure) {
    let working = DirectoryPath.current
    self.working = working
    isDerived = true
    self.fetchesModules = fetchesModules
    let first = files.first.map { DirectoryPath.absolute($0, in: working) }.flatMap(DirectoryPath.parent)
    let workspace = (directory ?? first).flatMap { BufWorkspace.find(from: $0) }
    var paths: [String] = []
    for file in files {
      // A name within a module of the workspace, as in an import.
      let places = [working] + (workspace?.roots ?? [])
      let found = places.map { DirectoryPath.absolute(file, in: $0) }.first(where: DirectoryPath.isFile)
      guard let found else { throw Self.missing(file, in: working) }
      paths.append(found)
    }
    let roots = ImportRoots(of: paths, in: directory ?? working, after: workspace?.roots ?? [])
    // A path outside of the working directory is not relative, and then no other may be.
    let isInside = roots.directories.allSatisfy { DirectoryPath.isInside($0, working) }
    let shown = { (path: String) in isInside ? DirectoryPath.shown(path, in: working) : path }
    self.files = paths.map { ProtoCompiler.plain(shown($0)) }
    importPaths = roots.directories.map(shown)
    let common = roots.missing.isEmpty ? [] : CommonSchemas.fileNames
    let isComplete = roots.missing.allSatisfy { common.contains($0.name) }
    modules = isComplete || workspace?.hasDependencies != true ? nil : workspace
  }

  // MARK: Failures

  /// Throws if protoc would read a directory that the files imply as a list (`:`) or as a mapping (`=`).
  func checkImportPaths() throws(Failure) {
    guard isDerived, let path = importPaths.first(where: { $0.contains(":") || $0.contains("=") }) else {
      return
    }
    throw Failure(
      .schema, path, "protoc does not accept a directory with \":\" or \"=\" in its path",
      hint: "run rpcurl in this directory, or use a symbolic link with another name")
  }

  /// The failure that protoc reported, with a hint that leads to the solution.
  func failure(_ report: ProtocReport) -> Failure {
    switch report.cause {
    case .missingFile(let name):
      return Self.missing(name, in: working, isBelowImportPath: !isDerived)
    case .outside(let file):
      let absent = importPaths.first {
        !DirectoryPath.isDirectory(DirectoryPath.absolute($0, in: working))
      }
      return Failure(
        .schema, file, "is in no directory of -I",
        hint: (absent.map { "\($0) is not a directory; " } ?? "")
          + "add -I \(DirectoryPath.parent(file) ?? ".")")
    case .missingImports(let names, let place):
      let shown = names.prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
      let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
      return Failure(
        .schema, place, "import\(names.count == 1 ? "" : "s") \(shown)\(rest) not found", hint: hint(names))
    case .error(let why, let place):
      let rest = report.others
      let more = rest == 0 ? "" : " (and \(rest) more error\(rest == 1 ? "" : "s"))"
      let command = "protoc \((importPaths.map { "-I\($0)" } + files).joined(separator: " ")) -o /dev/null"
      return Failure(
        .schema, place.isEmpty ? "protoc" : place, why + more,
        hint: rest == 0 ? nil : "\"\(command)\" prints all errors")
    }
  }

  /// The `-I` that finds the imports.
  private func hint(_ names: [String]) -> String {
    let places =
      [working] + files.compactMap { DirectoryPath.parent(DirectoryPath.absolute($0, in: working)) }
    let found = ImportSearch(for: names, from: places).found
    var directories: [String] = []
    for name in names {
      guard let directory = found[name] else { continue }
      // A copy of a dependency may be in the workspace; elsewhere it belongs to another project.
      if let modules, !DirectoryPath.isInside(directory, modules.directory) { continue }
      let shown = DirectoryPath.shown(directory, in: working)
      if !directories.contains(shown) { directories.append(shown) }
    }
    if directories.isEmpty {
      let name = names.first ?? ""
      let use = "use -I DIR, the directory that contains \(name)"
      guard let modules else { return use }
      let file = DirectoryPath.shown(modules.file, in: working)
      return fetchesModules
        ? "install buf, which fetches the dependencies of \(file), or \(use)"
        : "read the project file, then run \"rpcurl trust\": buf fetches the dependencies of \(file) only with trust; or \(use)"
    }
    // With -I, directories are not derived any more.
    let others = isDerived ? importPaths.filter { !directories.contains($0) } : []
    return (isDerived ? "use " : "add ") + (others + directories).map { "-I \($0)" }.joined(separator: " ")
  }

  /// The failure for a file of `--proto` that does not exist.
  private static func missing(
    _ file: String, in working: String, isBelowImportPath: Bool = false
  ) -> Failure {
    if DirectoryPath.isDirectory(DirectoryPath.absolute(file, in: working)) {
      return Failure(.schema, file, "is a directory", hint: "name a .proto file")
    }
    let name =
      file.hasPrefix("/") ? file.split(separator: Character("/")).last.map(String.init) ?? file : file
    let found = ImportSearch(for: [name], from: [working]).found[name]
    return Failure(
      .schema, file, "No such file or directory",
      hint: found.map { directory in
        let shown = DirectoryPath.shown(directory, in: working)
        return isBelowImportPath
          ? "add -I \(shown)"
          : "did you mean --proto \(DirectoryPath.shown(DirectoryPath.join(directory, name), in: working))?"
      })
  }
}
