import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// The commands that show the schema: those of the command line, with the session's schema.
extension Session: SessionKnowledge {
  package static let schemaEntries: [SessionVerb] = [
    SessionVerb("list [SYMBOL]", "list services, or the members of one", [.symbol]) { session, arguments in
      _ = try session.run(.list, arguments)
    },
    SessionVerb("describe [SYMBOL…]", "show declarations of the schema", [.symbol]) { session, arguments in
      _ = try session.run(.describe, arguments)
    },
    SessionVerb("template METHOD|TYPE", "show a template of a message", [.symbol]) { session, arguments in
      let invocation = try session.run(.template, arguments)
      if !invocation.has(.comments) { session.showEnumValues(of: invocation) }
    },
    SessionVerb("export FILE [SYMBOL]", "write the schema as a descriptor set", [.file, .symbol]) {
      session, arguments in
      guard let file = arguments.words.first else { throw arguments.wrongUsage }
      let limit = session.waitLimit.map { ["--max-time", "\($0.millisecondsText)ms"] } ?? []
      let rest = SessionArguments(
        words: limit + ["-o", file] + arguments.words.dropFirst(), rest: "", values: [], name: "export",
        usage: arguments.usage)
      _ = try session.run(.export, rest)
    },
    SessionVerb("reflect", "fetch the server's schema again") { session, _ in
      guard let server = try session.server() else {
        throw Failure(.usage, "reflect", "reflection is off", hint: "options --reflect")
      }
      _ = try session.schema.reread(session.options, server: server)
      let services = try session.query(Invocation(.list)).serviceNames().count
      session.print(["\(services) service\(services == 1 ? "" : "s")"])
    },
  ]

  /// Prints the values of the enum fields of a template.
  private func showEnumValues(of invocation: Invocation) {
    guard isInteractive, let symbol = invocation.positionals.first?.text,
      let (pool, found) = try? query(invocation).find(symbol, among: [.method, .message]),
      let type = found.kind == .method
        ? requestType(of: found.name) : try? pool.messageType(named: found.name),
      let template = try? MessageTemplate(type)
    else { return }
    for note in template.notes
    where (note.text.hasPrefix("enum ") || note.text.hasPrefix("repeated enum "))
      && !note.text.contains("google.protobuf.NullValue")
    {
      notice("\(note.path): \(note.text)")
    }
  }

  /// The complete schema; fetched from the server if needed.
  package func knownSchema() throws -> DescriptorPool {
    try schema.pool(options, server: server())
  }

  /// The schema of `message(TYPE, JSON)` in values.
  func schemaOfValues() throws(LanguageError) -> DescriptorPool {
    do {
      return try knownSchema()
    } catch {
      throw LanguageError((error as? Failure)?.message.map { "\($0.what): \($0.why)" } ?? "\(error)")
    }
  }

  private func query(_ invocation: Invocation) throws -> SchemaQuery {
    let words = invocation.positionals.map(\.text)
    let (pool, listed) =
      try words.isEmpty ? schema.complete(options, server: server()) : (knownSchema(), [])
    return try SchemaQuery(
      pool, listed: listed, arguments: words, acceptsMany: invocation.command == .describe)
  }

  /// Runs a command of the command line with the session's schema.
  private func run(_ command: CommandID, _ arguments: SessionArguments) throws -> Invocation {
    let invocation = Parser.parse(arguments.words, as: command)
    if let error = invocation.errors.first { throw Failure(error, hint: arguments.usage) }
    try schemaCommand(invocation, console) { try query(invocation) }
    return invocation
  }

  // MARK: For the line editor

  package var pool: DescriptorPool? { schema.pool }

  package func learn(_ completion: @escaping () -> Void) {
    learners.append(completion)
  }

  /// Fetches the schema and notifies the closures that wait for it.
  package func learn() {
    do { _ = try knownSchema() } catch { report(error) }
    let waiting = learners
    learners = []
    for completion in waiting { completion() }
  }

  package var services: [String] {
    (schema.pool?.symbols([.service]) ?? []).filter(SchemaQuery.isOwn).map(\.name).sorted()
  }

  package var currentRequestType: MessageType? { streams.current?.plan.method.input }

  package func requestType(of method: String) -> MessageType? { known(method)?.input }

  package func responseType(of method: String) -> MessageType? { known(method)?.output }

  /// The method with this name, if the schema is known.
  private func known(_ method: String) -> MethodDescriptor? {
    guard let pool = schema.pool else { return nil }
    let name =
      MethodName(method) ?? MethodName("Service/\(method)").map { MethodName(service: "", method: $0.method) }
    return name.flatMap { try? SchemaSource.find($0, in: pool) }
  }

  package var interceptorNames: [String] { chain.names }

  /// The keys of the attributes of calls.
  package var attributeKeys: [String] { state.attributes.map(SessionState.key).sorted() }

  package var openStreams: [(number: Int, note: String, response: MessageType?)] {
    streams.open.compactMap { stream in stream.number.map { ($0, stream.summary, stream.responseType) } }
  }

  package var scope: LanguageScope {
    var scope = bindings.scope
    scope.typeNames = { [schema] in schema.pool?.messageNames ?? [] }
    return scope
  }
}
