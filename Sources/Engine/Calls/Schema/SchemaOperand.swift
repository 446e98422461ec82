import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// A schema that one argument names: a descriptor set, `.proto` files, or a server.
package enum SchemaOperand {
  /// The largest number of files of a directory.
  private static let fileLimit = 10_000

  /// Reads a schema.
  ///
  /// - Parameters:
  ///   - argument: A path that exists, `-` for a descriptor set on standard input, or a server.
  ///   - options: The options of the command. Sources that they name are not part of the schema.
  ///   - clients: The source of the client, for a server.
  /// - Returns: The schema with the built-in schemas.
  /// - Throws: `Failure` if the schema cannot be read, or declares nothing.
  package static func pool(
    _ argument: Positional, _ options: Invocation, _ clients: ClientSource
  ) throws -> DescriptorPool {
    let text = argument.text
    let path = DirectoryPath.absolute(text, in: DirectoryPath.current)
    let pool: DescriptorPool
    let isFile = DirectoryPath.exists(path) && !DirectoryPath.isDirectory(path)
    if text == "-" || isFile && !text.hasSuffix(".proto") {
      pool = try SchemaSource.pool([descriptorSet(text, options.duration(.maxTime))], withOptions: true)
    } else if DirectoryPath.isDirectory(path) {
      let files: [String]
      do throws(Directory.ListingError) {
        files = try Directory.files(below: path, suffix: ".proto", limit: fileLimit).sorted()
      } catch {
        throw Failure(.schema, error.path, error.why)
      }
      guard !files.isEmpty else {
        throw Failure(.schema, text, "a directory without .proto files")
      }
      guard files.count <= fileLimit else {
        throw Failure(
          .schema, text, "more than \(fileLimit) .proto files",
          hint: "name a descriptor set, or a directory in it")
      }
      pool = try SchemaSource.pool(
        [compile(files, in: path, namedAt: argument.origin, options, clients)], withOptions: true)
    } else if isFile {
      let directory = DirectoryPath.parent(path) ?? "/"
      pool = try SchemaSource.pool(
        [compile([path], in: directory, namedAt: argument.origin, options, clients)], withOptions: true)
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
    guard !pool.fileNames(exceptOf: WellKnownSchemas.sourceName).isEmpty else {
      throw Failure(.schema, text, "contains no schema")
    }
    return pool
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
      return SchemaSource.Source(set: try FileContents.map(path, waitLimit: waitLimit), name: path)
    } catch let problem {
      throw Interrupt.failure ?? Failure(.schema, path, problem.why)
    }
  }

  /// Compiles files, which are named after the directory or after their packages: wherever a copy of the directory is, the
  /// names are the same.
  private static func compile(
    _ files: [String], in directory: String, namedAt origin: Origin, _ options: Invocation,
    _ clients: ClientSource
  ) throws(Failure) -> SchemaSource.Source {
    // protoc compares paths as text, and the files have absolute ones.
    let given = options.texts(.importPath).map { DirectoryPath.absolute($0, in: DirectoryPath.current) }
    return try ProtoCompiler.compile(
      files, importPaths: given.isEmpty ? [] : ImportRoots.innerFirst([directory] + given), in: directory,
      namedAt: [origin], waitLimit: options.duration(.maxTime), clients.console.error)
  }

  /// Whether an argument that does not exist was meant as a path.
  private static func isPath(_ text: String) -> Bool {
    if ["/", "./", "../", "~"].contains(where: text.hasPrefix) { return true }
    return ["/", ".proto", ".binpb", ".pb", ".bin", ".desc", ".protoset"].contains(where: text.hasSuffix)
      && !text.contains(":")
  }
}
