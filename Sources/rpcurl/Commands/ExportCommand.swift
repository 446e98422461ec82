import RPCurlBase
import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtoCompiler
import RPCurlProtobuf
import RPCurlSchemaTools

/// `rpcurl export`: writes the schema as a descriptor set, or as `.proto` files.
struct ExportCommand {
  private let options: Invocation
  let output: String?
  /// The folder for `.proto` files; nil to write none.
  let folder: String?

  init(_ invocation: Invocation) {
    options = invocation
    output = invocation.text(.output)
    folder = invocation.text(.protoDir)
  }

  func run(on console: Console) throws {
    try run(on: console) { try SchemaQuery(options, ClientSource(console, options)) }
  }

  /// Exports what the query names. The query is made only after the output is checked.
  func run(on console: Console, _ makeQuery: () throws -> SchemaQuery) throws {
    let path = output == "-" ? nil : output
    let writesSet = folder == nil || output != nil
    guard path != nil || !writesSet || !console.output.isTerminal else {
      throw Failure(
        .usage, "standard output", "a descriptor set is binary, and standard output is a terminal",
        hint: "use -o FILE, or --proto-dir DIR for .proto files")
    }
    let query = try makeQuery()
    let (pool, files) = try files(query, console.error)
    let imported = try SchemaOutput.schema { () throws(SchemaError) in
      try pool.importedFiles(ofFiles: files)
    }
    if !imported.missingImports.isEmpty {
      SchemaOutput.remark(
        onImportsOf: files, in: pool, isSet: !options.descriptorSets.isEmpty, console.error)
    }
    if let folder { try write(imported.names, of: pool, below: folder) }
    guard writesSet else { return }
    let set = try SchemaOutput.schema { () throws(SchemaError) in try pool.descriptorSet(ofFiles: files) }
    guard let path else {
      console.output.write(set.serialized)
      return console.output.flush()
    }
    try write(set.serialized, to: path)
  }

  /// Writes `.proto` files, each at the path of its name.
  private func write(_ names: [String], of pool: DescriptorPool, below folder: String) throws(Failure) {
    var files: [(name: String, contents: [UInt8])] = []
    for name in names {
      guard name.hasSuffix(".proto") else {
        throw Failure(
          .schema, name, "is not the name of a .proto file", hint: "-o FILE writes a descriptor set")
      }
      let file = try SchemaOutput.schema { () throws(SchemaError) in try pool.file(named: name) }
      guard let file else { continue }
      files.append((name, Array(ProtoPrinter(file, in: pool).print().utf8)))
    }
    try check(files)
    do throws(SystemError) {
      try NewFolder.write(files, below: folder)
    } catch {
      let hint = error.path == nil ? nil : "nothing was written; use an empty directory, or -o FILE"
      throw Failure(.internalError, error.path ?? "--proto-dir \(folder)", error.reason, hint: hint)
    }
  }

  /// Refuses what no compiler accepts: types that are nowhere, and names that are declared twice.
  private func check(_ files: [(name: String, contents: [UInt8])]) throws(Failure) {
    let texts = Dictionary(files) { first, _ in first }
    let compiler = ProtoCompiler(options: ProtoCompilerOptions(isTolerant: true)) { name in
      texts[name].map { .found($0) } ?? .missing(tried: [])
    }
    let errors = compiler.compile(files.map(\.name)).diagnostics.filter { $0.severity == .error }
    guard let error = errors.first(where: { $0.cause != .missingImport }) else { return }
    throw Failure(
      .schema, error.file, "no compiler accepts its source: \(error.text)",
      hint: "-o FILE writes a descriptor set")
  }

  private func files(_ query: SchemaQuery, _ error: StandardError) throws -> (DescriptorPool, [String]) {
    guard let symbol = query.symbol else {
      let pool = try query.pool(error)
      let files = pool.fileNames(exceptOf: WellKnownSchemas.sourceName)
      guard !files.isEmpty else { throw Failure(.schema, "no schema", "nothing to export") }
      return (pool, files)
    }
    let kinds: Set<SymbolKind> = [.service, .method, .message, .enumeration, .extensionField]
    let (pool, found) = try query.find(symbol, among: kinds)
    return (pool, [found.file])
  }

  private func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    let problem = FileContents.replace(path, with: bytes, newMode: nil, waitLimit: options.duration(.maxTime))
    guard let problem else { return }
    let hint =
      errno == EISDIR ? "--proto-dir DIR writes .proto files into a directory" : nil
    throw Interrupt.failure ?? Failure(.internalError, path, problem.reason, hint: hint)
  }
}
