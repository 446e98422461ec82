import RPCurlEngine
import RPCurlProgram

/// `rpcurl convert`: converts messages to another format, without a server.
struct ConvertCommand {
  private let invocation: Invocation

  init(_ invocation: Invocation) throws(Failure) {
    self.invocation = invocation
    if invocation.has(.noSchema) { try Self.checkHasNoSchema(invocation) }
  }

  /// Throws if an option was given that has no meaning without a schema.
  private static func checkHasNoSchema(_ invocation: Invocation) throws(Failure) {
    for id in [OptionID.type, .descriptorSet, .proto, .reflect, .allowPartial] where invocation.isTyped(id) {
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
    try ConvertRunner(invocation, console).run()
  }
}
