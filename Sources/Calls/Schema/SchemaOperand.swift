import CommandLine
import Output
import Protobuf
import System

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
    _ argument: Positional, _ options: SchemaCommandOptions, _ clients: ClientSource
  ) throws -> DescriptorPool {
    let text = argument.text
    let path = DirectoryPath.absolute(text, in: DirectoryPath.current)
    let pool: DescriptorPool
    if text == "-" || DirectoryPath.isFile(path) && !text.hasSuffix(".proto") {
      pool = try SchemaSource.pool([descriptorSet(text)], withOptions: true)
    } else if DirectoryPath.isDirectory(path) {
      let files = Directory.files(below: path, suffix: ".proto", limit: fileLimit).sorted()
      guard !files.isEmpty else {
        throw Failure(.schema, text, "a directory without .proto files")
      }
      guard files.count <= fileLimit else {
        throw Failure(
          .schema, text, "more than \(fileLimit) .proto files",
          hint: "name a descriptor set, or a directory in it")
      }
      pool = try SchemaSource.pool([compile(files, in: path, options, clients)], withOptions: true)
    } else if DirectoryPath.isFile(path) {
      let directory = DirectoryPath.parent(path) ?? "/"
      pool = try SchemaSource.pool([compile([path], in: directory, options, clients)], withOptions: true)
    } else if isPath(text) {
      throw Failure(.schema, text, "No such file or directory")
    } else {
      var query = options
      query.arguments = [argument]
      query.configuredTarget = nil
      pool = try SchemaQuery(query, clients: clients).pool()
    }
    guard !pool.fileNames(exceptOf: WellKnownSchemas.sourceName).isEmpty else {
      throw Failure(.schema, text, "contains no schema")
    }
    return pool
  }

  private static func descriptorSet(_ path: String) throws(Failure) -> SchemaSource.Source {
    do {
      return SchemaSource.Source(set: try FileContents.map(path), name: path)
    } catch let problem {
      throw Failure(.schema, path, problem.why)
    }
  }

  /// Compiles files, which are named after the directory or after their packages: wherever a copy of the directory is, the
  /// names are the same.
  private static func compile(
    _ files: [String], in directory: String, _ options: SchemaCommandOptions, _ clients: ClientSource
  ) throws(Failure) -> SchemaSource.Source {
    let given = options.schema.importPaths
    let paths = given.isEmpty ? ImportRoots(of: files, in: directory).directories : [directory] + given
    return try ProtoCompiler.compile(files, importPaths: paths, clients.console.error)
  }

  /// Whether an argument that does not exist was meant as a path.
  private static func isPath(_ text: String) -> Bool {
    if ["/", "./", "../", "~"].contains(where: text.hasPrefix) { return true }
    return [".proto", ".binpb", ".pb", ".bin", ".desc", ".protoset"].contains(where: text.hasSuffix)
      && !text.contains(":")
  }
}
