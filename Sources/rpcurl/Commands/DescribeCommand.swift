import RPCurlBase
import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

/// `rpcurl describe`: prints declarations of a schema in the syntax of `.proto` files.
struct DescribeCommand {
  /// A file with the printer of its declarations.
  private struct Source {
    let file: FileDeclaration
    let printer: ProtoPrinter
  }

  private let options: Invocation
  let format: SchemaFormat

  init(_ invocation: Invocation) {
    options = invocation
    format = invocation.choice(.textFormat) ?? .text
  }

  func run(on console: Console) throws {
    try run(on: console, SchemaQuery(options, ClientSource(console, options)))
  }

  /// Prints what `query` names.
  func run(on console: Console, _ query: SchemaQuery) throws {
    let output = console.output
    guard !query.symbols.isEmpty else {
      let pool = try query.pool(console.error)
      let services = pool.symbols([.service]).filter(SchemaQuery.isOwn).sorted { $0.name < $1.name }
      // A file declares many services, and those of several files may alternate.
      var files: [String: (source: Source, services: [String: ServiceDeclaration])] = [:]
      for (index, service) in services.enumerated() {
        if index > 0, format == .text { output.print("\n") }
        if files[service.file] == nil {
          files[service.file] = try read(service.file, pool).map { source in
            (source, Dictionary(source.file.services.map { ($0.fullName, $0) }) { first, _ in first })
          }
        }
        let file = files[service.file]
        try show(service.name, file?.source, file?.services[service.name].map { .service($0) }, on: output)
      }
      return
    }
    for (index, symbol) in query.symbols.enumerated() {
      if index > 0, format == .text { output.print("\n") }
      try show(symbol, query, console)
    }
  }

  private func show(_ symbol: String, _ query: SchemaQuery, _ console: Console) throws {
    let output = console.output
    if symbol.hasSuffix(".proto") {
      let pool = try query.pool(console.error)
      if let source = try read(symbol, pool) { return show(source, on: output) }
      let nearest = DescriptorPool.nearestNames(to: symbol, among: pool.fileNames)
      throw Failure(
        .schema, symbol, "not found in the schema", hint: SchemaSource.suggestion(nearest))
    }
    let (pool, found) = try query.find(symbol, among: Set(SymbolKind.allCases))
    let source = try read(found.file, pool)
    if !options.descriptorSets.isEmpty {
      SchemaOutput.remark(onImportsOf: [found.file], in: pool, isSet: true, console.error)
    }
    try show(found.name, source, source?.file.declaration(named: found.name), on: output)
  }

  private func read(_ name: String, _ pool: DescriptorPool) throws -> Source? {
    try SchemaOutput.schema { () throws(SchemaError) in try pool.file(named: name) }
      .map { Source(file: $0, printer: ProtoPrinter($0, in: pool)) }
  }

  private func show(_ source: Source, on output: StandardOutput) {
    let text = source.printer.print()
    switch format {
    case .text: print(text, on: output)
    case .json: output.print(json: SchemaJSON.object(source.file, proto: text))
    }
  }

  private func show(
    _ name: String, _ source: Source?, _ declaration: Declaration?, on output: StandardOutput
  ) throws {
    guard let source, let declaration else {
      throw Failure(.schema, name, "the file that declares it cannot be read")
    }
    let text = source.printer.print(declaration)
    switch format {
    case .text: print("// \(TerminalText.escape(title(declaration, source.file)))\n\(text)", on: output)
    case .json: output.print(json: SchemaJSON.object(declaration, of: source.file, proto: text))
    }
  }

  private func print(_ text: String, on output: StandardOutput) {
    output.print(ProtoColor.colored(text, options.colors(isTerminal: output.isTerminal)))
  }

  private func title(_ declaration: Declaration, _ file: FileDeclaration) -> String {
    let kind =
      switch declaration.kind {
      case .enumValue: "value of an enum"
      default: declaration.kind.rawValue
      }
    return "\(declaration.name): \(kind), \(file.name)"
  }
}
