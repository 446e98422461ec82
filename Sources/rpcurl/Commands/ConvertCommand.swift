import Calls
import CommandLine
import Output
import Protobuf

/// `rpcurl convert`: converts messages to another format, without a server.
struct ConvertCommand {
  let schema: SchemaOptions
  let type: Argument
  let from: MessageFormat
  let to: MessageFormat
  let delimited: Bool
  let pretty: Bool
  let json: JSONOptions
  let allowUnknownFields: Bool
  /// Whether unknown fields are omitted, and whether that was set on the command line.
  let noUnknownFields: (isOn: Bool, isTyped: Bool)
  let allowPartial: Bool
  let file: String?

  init(_ invocation: Invocation) throws(Failure) {
    guard let type = invocation.last(.type), let from: MessageFormat = invocation.choice(.from),
      let to: MessageFormat = invocation.choice(.to)
    else { throw Failure(.usage, "convert", "--type, --from and --to are required") }
    schema = SchemaOptions(invocation)
    self.type = type
    self.from = from
    self.to = to
    delimited = invocation.has(.delimited)
    pretty = invocation.has(.pretty)
    json = JSONOptions(invocation)
    allowUnknownFields = invocation.has(.allowUnknownFields)
    noUnknownFields = (invocation.has(.noUnknownFields), invocation.isTyped(.noUnknownFields))
    allowPartial = invocation.has(.allowPartial)
    file = invocation.positionals.first?.text
  }

  func run(on console: Console) throws {
    try ConvertRunner(self, console).run()
  }
}
