import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// A schema that one argument names: a descriptor set, `.proto` files, also of a revision of a git repository, or a server.
package enum SchemaOperand {
  /// The schema of an argument.
  package struct Contents {
    /// The schema with the built-in schemas.
    package let pool: DescriptorPool
    /// The paths of its sources by the names of files; empty if there are none.
    package let paths: [String: String]
    /// The directory of its sources, an absolute path; nil if there are none.
    let directory: String?
    /// The file system of the directory.
    let tree: FileTree
    /// The names of its files, without those of the built-in schemas.
    package var files: [String] { pool.fileNames(exceptOf: WellKnownSchemas.sourceName) }
  }

  /// Reads a schema.
  ///
  /// - Parameters:
  ///   - argument: A path that exists, `-` for a descriptor set on standard input, a revision, or a server.
  ///   - other: The argument with which it is compared, whose path a revision without one has.
  ///   - options: The options of the command. Sources that they name are not part of the schema.
  ///   - clients: The source of the client, for a server.
  /// - Throws: `Failure` if the schema cannot be read, or declares nothing.
  package static func read(
    _ argument: Positional, besides other: String? = nil, _ options: Invocation, _ clients: ClientSource
  ) throws -> Contents {
    let text = argument.text
    let path = DirectoryPath.absolute(text, in: DirectoryPath.current)
    let pool: DescriptorPool
    var paths: [String: String] = [:]
    var directory: String?
    var tree = FileTree.system(waitLimit: options.duration(.maxTime))
    let isFile = DirectoryPath.exists(path) && !DirectoryPath.isDirectory(path)
    if let revision = try GitRevision(text) {
      let (compiler, place) = try compiler(
        revision, besides: other, namedAt: argument.origin, options, clients)
      if let found = compiler.tree { tree = found }
      let source = try compiler.compile([place])
      directory = tree.isDirectory(place) ? place : DirectoryPath.parent(place)
      (pool, paths) = (try SchemaSource.pool([source], withOptions: true), source.paths)
    } else if text == "-" || isFile && !text.hasSuffix(".proto") {
      pool = try SchemaSource.pool([descriptorSet(text, options.duration(.maxTime))], withOptions: true)
      SchemaOutput.remark(
        onImportsOf: pool.fileNames(exceptOf: WellKnownSchemas.sourceName), in: pool, isSet: true,
        clients.console.error)
    } else if DirectoryPath.exists(path) || SourceFiles.isPattern(text) && text.hasSuffix(".proto") {
      // Wherever a copy of a directory is, the names of its files are the same.
      let base = DirectoryPath.isDirectory(path) ? path : isFile ? DirectoryPath.parent(path) : nil
      let source = try compiler(base, argument.origin, options, clients).compile([text])
      directory = base ?? DirectoryPath.current
      (pool, paths) = (try SchemaSource.pool([source], withOptions: true), source.paths)
    } else if isPath(text) {
      throw Failure(
        .schema, text, "No such file or directory",
        hint: "a schema is a descriptor set, a .proto file, a directory of them, or a server")
    } else {
      do {
        pool = try reflected(argument, options, clients)
      } catch let failure as Failure where failure.status == .connection && !text.contains(":") {
        // Maybe a misspelt path.
        throw failure.changed { $0.append(hint: "there is no file or directory \(text)") }
      }
    }
    let contents = Contents(pool: pool, paths: paths, directory: directory, tree: tree)
    guard !contents.files.isEmpty else { throw Failure(.schema, text, "contains no schema") }
    return contents
  }

  /// The compiler of the sources of a revision, and their path.
  private static func compiler(
    _ revision: GitRevision, besides other: String?, namedAt origin: Origin, _ options: Invocation,
    _ clients: ClientSource
  ) throws(Failure) -> (SourceCompiler, String) {
    // A revision without a path has that of the other one.
    let otherRevision: GitRevision? = if let other { try GitRevision(other) } else { nil }
    let named = revision.path ?? otherRevision?.path
    let place = otherRevision == nil && named == nil ? other : nil
    let (repository, path) = try location(revision, of: named, or: place ?? ".")
    let top = repository.top
    let waitLimit = options.duration(.maxTime)
    let tree = try revision.files(of: repository, waitLimit: waitLimit).tree(.system(waitLimit: waitLimit))
    guard let kind = tree.status(path)?.kind else {
      throw Failure(
        .schema, revision.argument, "has no .proto files in \(DirectoryPath.shown(path, in: top))",
        hint: "git:REVISION:PATH names another path of the repository")
    }
    let base = kind == .directory ? path : DirectoryPath.parent(path)
    var compiler = compiler(base, origin, options, clients)
    (compiler.tree, compiler.revision) = (tree, ("\(revision.name):", top))
    return (compiler, path)
  }

  /// The repository of a revision, and the path of its sources in the working tree.
  ///
  /// - Parameters:
  ///   - named: The path from the top of the repository of the working directory; nil for `place`.
  ///   - place: A path of the working tree, which may belong to another repository.
  private static func location(
    _ revision: GitRevision, of named: String?, or place: String
  ) throws(Failure) -> (GitRepository, path: String) {
    let working = DirectoryPath.current
    let repository = GitRepository(around: working)
    if let named, let repository {
      let path = DirectoryPath.absolute(named, in: repository.top)
      guard DirectoryPath.isInside(path, repository.top) else {
        throw Failure(.schema, revision.argument, "\(path) is outside of the repository \(repository.top)")
      }
      return (repository, path)
    }
    let path = DirectoryPath.absolute(place, in: working)
    if let repository, let inner = repository.path(path) { return (repository, inner) }
    guard named == nil, let other = GitRepository(around: path) else {
      throw Failure(
        .schema, revision.argument, "\(repository == nil ? working : path) is in no git repository")
    }
    return (other, path)
  }

  /// The compiler of sources that are named after a directory; nil for the working directory.
  private static func compiler(
    _ base: String?, _ origin: Origin, _ options: Invocation, _ clients: ClientSource
  ) -> SourceCompiler {
    SourceCompiler(
      importPaths: importPaths(options, base), base: base, namedAt: [origin], options: options,
      clients.console.error, waitLimit: options.duration(.maxTime))
  }

  /// The values of `-I`, with the directory of the schema before those outside of it: a copy elsewhere does not replace
  /// its files.
  private static func importPaths(_ options: Invocation, _ base: String?) -> [String] {
    let given = options.texts(.importPath)
    guard let base, !given.isEmpty else { return given }
    let isInner = { (path: String) in
      DirectoryPath.isInside(DirectoryPath.absolute(path, in: DirectoryPath.current), base)
    }
    return given.filter(isInner) + [base] + given.filter { !isInner($0) }
  }

  /// The schema of a server, which must describe all its services.
  private static func reflected(
    _ argument: Positional, _ options: Invocation, _ clients: ClientSource
  ) throws -> DescriptorPool {
    let query = try SchemaQuery(options, [argument], configured: nil, clients)
    let (pool, undescribed) = try query.complete()
    guard undescribed.isEmpty else {
      throw Failure(
        .schema, argument.text, SchemaQuery.remark(undescribed),
        hint: "name a descriptor set or .proto files instead of the server")
    }
    return pool
  }

  private static func descriptorSet(
    _ path: String, _ waitLimit: Duration?
  ) throws(Failure) -> SchemaSource.Source {
    do {
      return SchemaSource.Source(set: try FileContents.descriptorSet(path, waitLimit: waitLimit), name: path)
    } catch let problem {
      throw Interrupt.failure ?? Failure(.schema, path, problem)
    }
  }

  /// Whether an argument that does not exist was meant as a path.
  private static func isPath(_ text: String) -> Bool {
    if ["/", "./", "../", "~"].contains(where: text.hasPrefix) { return true }
    return ["/", ".proto", ".binpb", ".pb", ".bin", ".desc", ".protoset"].contains(where: text.hasSuffix)
      && !text.contains(":")
  }
}
