import ArgumentParser
import Protobuf

/// `rpcurl list`: names that a schema has.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List services, the methods of a service, or other names of a schema.",
    usage: """
      rpcurl list [OPTIONS] TARGET [SYMBOL]
      rpcurl list --descriptor-set FILE [OPTIONS] [SYMBOL]
      """,
    discussion: """
      Without a symbol all services are listed; of a service its methods, of a message its fields, of an enum its \
      values. The end of a name is enough where only one name ends so. With --format json the list is an array of \
      objects with name, kind and file.

      Examples:
        rpcurl list --plaintext localhost:50051
        rpcurl list --descriptor-set demo.binpb demo.v1.Demo
        rpcurl list --descriptor-set demo.binpb --kind message --format json
      """)

  @OptionGroup var options: SchemaCommandOptions

  @Option(
    help: ArgumentHelp(
      "List everything of this kind: service, method, message, field, oneof, enum, value or extension; may repeat.",
      valueName: "kind"))
  var kind: [SymbolKind] = []

  @Option(help: ArgumentHelp("The form of the list: text or json.", valueName: "format"))
  var format = SchemaFormat.text

  @Argument(
    help: ArgumentHelp(
      "The server, unless another source is named, and what to list the members of.",
      valueName: "target|symbol"))
  var words: [String] = []

  func run() throws {
    try run(SchemaQuery(options, words: words, clients: options.clients()))
  }

  /// Looks into a schema, whatever its source.
  func run(_ query: SchemaQuery) throws {
    if query.symbol == nil, kind.isEmpty, format == .text {
      return SchemaOutput.print(lines: try query.serviceNames())
    }
    var symbols: [DescriptorPool.Symbol]
    if let symbol = query.symbol {
      symbols = try members(symbol, query)
      if !kind.isEmpty { symbols.removeAll { !kind.contains($0.kind) } }
    } else {
      symbols = try query.pool().symbols(Set(kind.isEmpty ? [.service] : kind)).filter(SchemaQuery.isOwn)
    }
    symbols.sort { $0.name < $1.name }
    switch format {
    case .text: SchemaOutput.print(lines: symbols.map(\.name))
    case .json: SchemaOutput.print(json: .array(symbols.map(SchemaJSON.object)))
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

/// The forms in which schemas are shown.
enum SchemaFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json
}

extension SymbolKind: ExpressibleByArgument {}
