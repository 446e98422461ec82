import ArgumentParser
import Glibc
import Protobuf

/// `rpcurl export`: the schema as a descriptor set.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a schema, or the part of it that a name needs, as a descriptor set.",
    usage: """
      rpcurl export [OPTIONS] TARGET [SYMBOL] -o FILE
      rpcurl export --descriptor-set FILE [OPTIONS] [SYMBOL] -o FILE
      """,
    discussion: """
      With a service, method, message, enum or extension, the set holds the file that declares it and all that this \
      imports; without, everything. Each file stands behind what it imports. The same schema gives the same bytes.

      Examples:
        rpcurl export --plaintext localhost:50051 demo.v1.Demo -o demo.binpb
        rpcurl export -I protos --proto demo.proto | protoc --descriptor_set_in=/dev/stdin --python_out=. demo.proto
      """)

  @OptionGroup var options: SchemaCommandOptions

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp("Write to this file (default, and for -: standard output).", valueName: "file"))
  var output: String?

  @Argument(
    help: ArgumentHelp(
      "The server, unless another source is named, and what to export.", valueName: "target|symbol"))
  var words: [String] = []

  func run() throws {
    try run { try SchemaQuery(options, words: words, clients: options.clients()) }
  }

  /// Exports what `makeQuery` leads to, which is asked for when it is sure that there is a place to write to.
  func run(_ makeQuery: () throws -> SchemaQuery) throws {
    let path = output == "-" ? nil : output
    guard path != nil || !StandardOutput.isTerminal else {
      throw Failure(
        .usage, "standard output", "a descriptor set is not for a terminal",
        hint: "write it to a file with -o FILE")
    }
    let query = try makeQuery()
    let (pool, files) = try files(query)
    let set = try SchemaOutput.schema { () throws(SchemaError) in try pool.descriptorSet(ofFiles: files) }
    if !set.missingImports.isEmpty {
      let names = set.missingImports.joined(separator: ", ")
      StandardError.remark("rpcurl: \(TerminalText.escape("imported, but in no source: \(names)"))\n")
    }
    guard let path else {
      StandardOutput.write(set.serialized)
      return StandardOutput.flush()
    }
    try write(set.serialized, to: path)
  }

  private func files(_ query: SchemaQuery) throws -> (DescriptorPool, [String]) {
    guard let symbol = query.symbol else {
      let pool = try query.pool()
      let files = pool.fileNames(exceptOf: WellKnownSchemas.sourceName)
      guard !files.isEmpty else { throw Failure(.schema, "schema", "there is nothing to export") }
      return (pool, files)
    }
    let kinds: Set<SymbolKind> = [.service, .method, .message, .enumeration, .extensionField]
    let (pool, found) = try query.find(symbol, among: kinds)
    return (pool, [found.file])
  }

  private func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Failure(.internalError, path, FileContents.lastError()) }
    let problem = FileContents.write(bytes, to: descriptor)
    guard close(descriptor) == 0, problem == nil else {
      throw Failure(.internalError, path, problem?.why ?? FileContents.lastError())
    }
  }
}
