import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// A schema that one argument names: a descriptor set, `.proto` files, or a server.
package enum SchemaOperand {
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
    } else if DirectoryPath.exists(path) || SourceFiles.isPattern(text) && text.hasSuffix(".proto") {
      // Wherever a copy of a directory is, the names of its files are the same.
      let base = DirectoryPath.isDirectory(path) ? path : isFile ? DirectoryPath.parent(path) : nil
      let compiler = SourceCompiler(
        importPaths: options.texts(.importPath), base: base, namedAt: [argument.origin], options: options,
        clients.console.error, waitLimit: options.duration(.maxTime))
      pool = try SchemaSource.pool([compiler.compile([text])], withOptions: true)
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
