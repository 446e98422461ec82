import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

/// `rpcurl list`: lists the names of a schema.
struct ListCommand {
  private let options: Invocation
  let kind: [SymbolKind]
  let format: SchemaFormat

  init(_ invocation: Invocation) {
    options = invocation
    kind = invocation.texts(.kind).compactMap { SymbolKind(rawValue: $0) }
    format = invocation.choice(.textFormat) ?? .text
  }

  func run(on console: Console) throws {
    try run(on: console, SchemaQuery(options, ClientSource(console, options)))
  }

  /// Lists what `query` names.
  func run(on console: Console, _ query: SchemaQuery) throws {
    if query.symbol == nil, kind.isEmpty, format == .text {
      console.output.print(lines: try query.serviceNames())
      if !options.descriptorSets.isEmpty { query.remarkOnImports(console.error) }
      return
    }
    var symbols: [DescriptorPool.Symbol]
    if let symbol = query.symbol {
      symbols = try members(symbol, query)
      if !kind.isEmpty { symbols.removeAll { !kind.contains($0.kind) } }
    } else {
      symbols = try query.symbols(Set(kind.isEmpty ? [.service] : kind), console.error)
      if !options.descriptorSets.isEmpty { query.remarkOnImports(console.error) }
    }
    symbols.sort { $0.name < $1.name }
    switch format {
    case .text: console.output.print(lines: symbols.map(\.name))
    case .json: console.output.print(json: .array(symbols.map(SchemaJSON.object)))
    }
  }

  private func members(_ symbol: String, _ query: SchemaQuery) throws -> [DescriptorPool.Symbol] {
    let (pool, found) = try query.find(symbol, among: [.service, .message, .enumeration])
    let described = try SchemaOutput.schema { () throws(SchemaError) in try pool.file(named: found.file) }
    guard let file = described, let declaration = file.declaration(named: found.name) else { return [] }
    func symbols(_ names: [String], _ kind: SymbolKind) -> [DescriptorPool.Symbol] {
      names.map { DescriptorPool.Symbol(name: $0, kind: kind, file: file.name) }
    }
    switch declaration {
    case .service(let service): return symbols(service.methods.map(\.path), .method)
    case .enumeration(let type):
      return symbols(type.values.map { "\(type.fullName).\($0.name)" }, .enumValue)
    case .message(let message): return symbols(message.fields.map(\.fullName), .field)
    default: return []
    }
  }
}

/// The output formats of the schema commands.
enum SchemaFormat: String {
  case text, json
}
