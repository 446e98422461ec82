import ArgumentParser
import Protobuf

/// `rpcurl describe`: declarations of a schema, as they were written.
struct DescribeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "describe",
    abstract: "Show what a schema declares, with comments and options, in the protobuf language.",
    usage: """
      rpcurl describe [OPTIONS] TARGET [SYMBOL]
      rpcurl describe --descriptor-set FILE [OPTIONS] [SYMBOL]
      """,
    discussion: """
      A symbol is the name of a service, method, message, field, oneof, enum, value or extension, or the end of one \
      where only one name ends so; or the name of a .proto file, which is shown whole, as protoc takes it. Without a \
      symbol all services are shown.

      With --format json each declaration is one line with an object: kind, name, file, comment, options, proto (the \
      text), and what is particular to the kind: methods of a service, fields, oneofs, messages, enums, extensions and \
      reserved of a message, values of an enum, type and number of a field.

      Examples:
        rpcurl describe --plaintext localhost:50051 demo.v1.Demo
        rpcurl describe --descriptor-set demo.binpb HelloRequest
        rpcurl describe --descriptor-set demo.binpb demo.proto > demo.proto
      """)

  @OptionGroup var options: SchemaCommandOptions

  @Option(help: ArgumentHelp("The form: text, which is the protobuf language, or json.", valueName: "format"))
  var format = SchemaFormat.text

  @Argument(
    help: ArgumentHelp(
      "The server, unless another source is named, and what to describe.", valueName: "target|symbol"))
  var words: [String] = []

  func run() throws {
    try run(SchemaQuery(options, words: words, clients: options.clients()))
  }

  /// Looks into a schema, whatever its source.
  func run(_ query: SchemaQuery) throws {
    guard let symbol = query.symbol else {
      let pool = try query.pool()
      let services = pool.symbols([.service]).filter(SchemaQuery.isOwn).sorted { $0.name < $1.name }
      // Services of one package mostly are of one file, which may be large.
      var last: (file: FileDeclaration, services: [String: ServiceDeclaration])?
      for (index, service) in services.enumerated() {
        if index > 0, format == .text { SchemaOutput.print(text: "\n") }
        if last?.file.name != service.file {
          last = try read(service.file, pool).map { file in
            (file, Dictionary(file.services.map { ($0.fullName, $0) }) { first, _ in first })
          }
        }
        try show(service.name, last?.file, pool, last?.services[service.name].map { .service($0) })
      }
      return
    }
    if symbol.hasSuffix(".proto") {
      let pool = try query.pool()
      if let file = try read(symbol, pool) { return show(file, pool) }
      let nearest = DescriptorPool.nearestNames(to: symbol, among: pool.fileNames)
      throw Failure(
        .schema, symbol, "the schema has no such file", hint: SchemaSource.suggestion(nearest))
    }
    let (pool, found) = try query.find(symbol, among: Set(SymbolKind.allCases))
    let file = try read(found.file, pool)
    try show(found.name, file, pool, file?.declaration(named: found.name))
  }

  private func read(_ file: String, _ pool: DescriptorPool) throws -> FileDeclaration? {
    try SchemaOutput.schema { () throws(SchemaError) in try pool.file(named: file) }
  }

  private func show(_ file: FileDeclaration, _ pool: DescriptorPool) {
    let text = ProtoPrinter(file, in: pool).print()
    switch format {
    case .text: SchemaOutput.print(text: text)
    case .json: SchemaOutput.print(json: SchemaJSON.object(file, proto: text))
    }
  }

  private func show(
    _ name: String, _ file: FileDeclaration?, _ pool: DescriptorPool, _ declaration: Declaration?
  ) throws {
    guard let file, let declaration else {
      throw Failure(.schema, name, "its file cannot be read")
    }
    let text = ProtoPrinter(file, in: pool).print(declaration)
    switch format {
    case .text: SchemaOutput.print(text: "// \(TerminalText.escape(title(declaration, file)))\n\(text)")
    case .json: SchemaOutput.print(json: SchemaJSON.object(declaration, of: file, proto: text))
    }
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
