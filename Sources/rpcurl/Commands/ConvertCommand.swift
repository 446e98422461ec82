import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf

/// `rpcurl convert`: converts messages to another format, without a server.
struct ConvertCommand {
  let schema: SchemaOptions
  /// The message type; nil to read messages without a schema.
  let type: Argument?
  let from: MessageFormat
  let to: MessageFormat
  let delimited: Bool
  let pretty: Bool
  let json: JSONOptions
  let allowUnknownFields: Bool
  let unknownFields: UnknownFields?
  /// `--filter`, `--filter-missing` and `--raw`.
  let response: ResponseOptions
  let allowPartial: Bool
  let file: String?

  init(_ invocation: Invocation) throws(Failure) {
    schema = SchemaOptions(invocation)
    type = invocation.last(.type)
    from = invocation.choice(.from) ?? .binary
    response = ResponseOptions(invocation)
    to = invocation.choice(.to) ?? (response.filter == nil ? .text : .json)
    delimited = invocation.has(.delimited)
    pretty = invocation.has(.pretty)
    json = JSONOptions(invocation)
    allowUnknownFields = invocation.has(.allowUnknownFields)
    unknownFields = invocation.has(.noUnknownFields) ? .drop : invocation.choice(.unknownFields)
    allowPartial = invocation.has(.allowPartial)
    file = invocation.positionals.first?.text
    if invocation.has(.noSchema) { try Self.checkHasNoSchema(invocation) }
  }

  /// Throws if an option was given that has no meaning without a schema.
  private static func checkHasNoSchema(_ invocation: Invocation) throws(Failure) {
    for id in [OptionID.type, .descriptorSet, .proto, .allowPartial] where invocation.isTyped(id) {
      throw Failure(.usage, OptionTable[id].name, "cannot be combined with --no-schema")
    }
    for (id, allowed) in [(OptionID.from, ["binary"]), (.to, ["text", "json"]), (.unknownFields, ["show"])] {
      guard let value = invocation.text(id), !allowed.contains(value) else { continue }
      throw Failure(
        .usage, "\(OptionTable[id].name) \(value)", "cannot be combined with --no-schema",
        hint: "without a schema, binary input is printed as text or JSON")
    }
  }

  func run(on console: Console) throws {
    try ConvertRunner(self, console).run()
  }
}
