import Calls
import CommandLine
import Glibc
import Interceptors
import Output
import Protobuf
import SchemaTools
import System

/// `rpcurl export`: writes the schema as a descriptor set.
struct ExportCommand {
  private let options: SchemaCommandOptions
  let output: String?

  init(_ invocation: Invocation) {
    options = SchemaCommandOptions(invocation)
    output = invocation.text(.output)
  }

  func run(on console: Console) throws {
    try run(on: console) { try SchemaQuery(options, clients: options.clients(console)) }
  }

  /// Exports what the query names. The query is made only after the output is checked.
  func run(on console: Console, _ makeQuery: () throws -> SchemaQuery) throws {
    let path = output == "-" ? nil : output
    guard path != nil || !console.output.isTerminal else {
      throw Failure(
        .usage, "standard output", "a descriptor set is binary, and standard output is a terminal",
        hint: "use -o FILE")
    }
    let query = try makeQuery()
    let (pool, files) = try files(query)
    let set = try SchemaOutput.schema { () throws(SchemaError) in try pool.descriptorSet(ofFiles: files) }
    if !set.missingImports.isEmpty {
      let names = set.missingImports.joined(separator: ", ")
      console.error.remark(
        "rpcurl: \(TerminalText.escape("imported files not found in any source: \(names)"))\n")
    }
    guard let path else {
      console.output.write(set.serialized)
      return console.output.flush()
    }
    try write(set.serialized, to: path)
  }

  private func files(_ query: SchemaQuery) throws -> (DescriptorPool, [String]) {
    guard let symbol = query.symbol else {
      let pool = try query.pool()
      let files = pool.fileNames(exceptOf: WellKnownSchemas.sourceName)
      guard !files.isEmpty else { throw Failure(.schema, "no schema", "nothing to export") }
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
