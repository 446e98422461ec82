import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// The type of the messages that `rpcurl convert` reads, and the file with them.
package struct ConvertedType {
  package let type: MessageType
  /// The path of the input; `-` is standard input.
  package let path: String

  /// Finds the type of `--type`, and resolves the positional arguments `[TARGET] [FILE]`. A target is expected if the server is
  /// to be asked.
  package init(_ options: Invocation, _ console: Console) throws {
    var arguments = options.positionals
    if let name = options.last(.type), options.asksServer {
      type = try Self.type(name, ofServer: &arguments, options, console)
    } else if let name = options.last(.type) {
      let pool = try SchemaSource.pool(options, console.error)
      do throws(Failure) {
        type = try Self.type(name.text ?? "", in: pool)
      } catch {
        throw error.listing(options.schemaWords)
      }
    } else {
      // Each field of a message is unknown to a type that has none.
      type = try Self.type("google.protobuf.Empty", in: SchemaSource.pool([]))
    }
    guard arguments.count < 2 else {
      throw Failure(.usage, arguments[1].text, "unexpected argument", hint: "one file is converted")
        .at(arguments[1].origin)
    }
    path = arguments.first?.text ?? "-"
  }

  /// The type of the schema of a server, which is removed from the arguments if they name it.
  private static func type(
    _ name: Argument, ofServer arguments: inout [Positional], _ options: Invocation, _ console: Console
  ) throws -> MessageType {
    let text = name.text ?? ""
    var server = ConfiguredTarget.isUsed(by: options) ? options.configuredTarget : nil
    if server == nil, let first = arguments.first, arguments.count > 1 || !isFile(first.text) {
      server = first
      arguments.removeFirst()
    }
    guard server != nil || WellKnownSchemas.mayDeclare(text) else {
      throw Failure(
        .schema, "no schema", "neither a server nor another source is given",
        hint: "name a server before the file, or use --descriptor-set FILE or --proto FILE")
    }
    let words = (server.map { [$0] } ?? []) + [Positional(text, name.origin)]
    let query = try SchemaQuery(options, words, configured: nil, ClientSource(console, options))
    // The content of an Any can have any type of the schema.
    let complete = try query.complete().pool
    if let type = try? Self.type(text, in: complete) { return type }
    let (pool, found) = try query.find(text, among: [.message])
    return try type(found.name, in: pool)
  }

  /// Whether an argument is the input, although no source of a schema is named.
  private static func isFile(_ text: String) -> Bool {
    text == "-"
      || !text.contains(":") && DirectoryPath.exists(DirectoryPath.absolute(text, in: DirectoryPath.current))
  }

  private static func type(_ name: String, in pool: DescriptorPool) throws(Failure) -> MessageType {
    do {
      if let type = try pool.messageType(named: name) { return type }
      let symbol = try SymbolLookup(pool).find(name, among: [.message])
      if let type = try pool.messageType(named: symbol.name) { return type }
      throw SymbolLookup(pool).unknown(name, among: [.message])
    } catch let failure as Failure {
      throw failure
    } catch {
      throw SchemaSource.failure(error)
    }
  }
}
