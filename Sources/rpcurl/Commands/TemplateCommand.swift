import ArgumentParser
import Protobuf

/// `rpcurl template`: a message to fill in.
struct TemplateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "template",
    abstract: "Print a message with every field as JSON, to be filled in.",
    usage: """
      rpcurl template [OPTIONS] TARGET METHOD|TYPE
      rpcurl template --descriptor-set FILE [OPTIONS] METHOD|TYPE
      """,
    discussion: """
      Of a method it is the request. What is printed is valid input as it stands: of a oneof the first member has a \
      value and the others are null, which means absent; an enum has its default; a message within itself is null or \
      an empty list. --comments explains the fields on standard error.

      Examples:
        rpcurl template --plaintext localhost:50051 demo.v1.Demo/Hello > request.json
        rpcurl template --descriptor-set demo.binpb --comments demo.v1.AllTypes
      """)

  @OptionGroup var options: SchemaCommandOptions

  @Flag(
    help:
      "Explain each field on standard error: its type, the values of an enum, the other members of a oneof.")
  var comments = false

  @Flag(help: "Of a method, print the response.")
  var response = false

  @Argument(
    help: ArgumentHelp(
      "The server, unless another source is named, and a method or a message type.",
      valueName: "target|symbol"))
  var words: [String] = []

  func run() throws {
    try run(SchemaQuery(options, words: words, clients: options.clients()))
  }

  /// Looks into a schema, whatever its source.
  func run(_ query: SchemaQuery) throws {
    guard let symbol = query.symbol else {
      throw Failure(.usage, "template", "no method or type given", hint: "rpcurl list tells which there are")
    }
    let (pool, found) = try query.find(symbol, among: [.method, .message])
    let name = try type(found, pool)
    let template = try SchemaOutput.schema { () throws(SchemaError) in
      try pool.messageType(named: name).map { (type) throws(SchemaError) in try MessageTemplate(type) }
    }
    guard let template else { throw Failure(.schema, name, "the schema has no such message type") }
    SchemaOutput.print(text: template.json)
    guard comments else { return }
    for note in template.notes {
      StandardError.write("\(TerminalText.escape("\(note.path): \(note.text)"))\n")
    }
  }

  private func type(_ symbol: DescriptorPool.Symbol, _ pool: DescriptorPool) throws(Failure) -> String {
    guard symbol.kind == .method else { return symbol.name }
    let found = try SchemaOutput.schema { () throws(SchemaError) in try pool.declaration(named: symbol.name) }
    guard case .method(let method, _)? = found?.declaration else { return symbol.name }
    return response ? method.output : method.input
  }
}
