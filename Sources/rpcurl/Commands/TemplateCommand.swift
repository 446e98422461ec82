import RPCurlBase
import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

/// `rpcurl template`: prints a template of a message.
struct TemplateCommand {
  private let options: Invocation
  let comments: Bool
  let response: Bool

  init(_ invocation: Invocation) {
    options = invocation
    comments = invocation.has(.comments)
    response = invocation.has(.response)
  }

  func run(on console: Console) throws {
    try run(on: console, SchemaQuery(options, ClientSource(console, options)))
  }

  /// Prints the template that `query` names.
  func run(on console: Console, _ query: SchemaQuery) throws {
    guard let symbol = query.symbol else {
      throw query.naming(
        in: Failure(
          .usage, "template", "missing argument: METHOD or TYPE",
          hint: "run \"rpcurl list\" to see what exists"))
    }
    let (pool, found) = try query.find(symbol, among: [.method, .message])
    let name = try type(found, pool)
    let template = try SchemaOutput.schema { () throws(SchemaError) in
      try pool.messageType(named: name).map { (type) throws(SchemaError) in try MessageTemplate(type) }
    }
    guard let template else { throw Failure(.schema, name, "no such message type in the schema") }
    let isColored = options.colors(isTerminal: console.output.isTerminal).areOn
    console.output.print(
      isColored
        ? String(decoding: JSONColor.chosen.colored(template.json.utf8), as: UTF8.self) : template.json)
    guard comments else { return }
    for note in template.notes {
      console.error.write("\(TerminalText.escape("\(note.path): \(note.text)"))\n")
    }
  }

  private func type(_ symbol: DescriptorPool.Symbol, _ pool: DescriptorPool) throws(Failure) -> String {
    guard symbol.kind == .method else { return symbol.name }
    let found = try SchemaOutput.schema { () throws(SchemaError) in try pool.declaration(named: symbol.name) }
    guard case .method(let method, _)? = found?.declaration else { return symbol.name }
    return response ? method.output : method.input
  }
}
