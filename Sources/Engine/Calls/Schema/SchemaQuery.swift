import RPCurlBase
import RPCurlCall
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// A schema and the name that a command looks for in it.
package struct SchemaQuery {
  /// The names as typed, without the leading dot of a full name; of describe, there may be several.
  package let symbols: [String]
  /// The name; nil if absent.
  package var symbol: String? { symbols.first }
  private let sources: [SchemaSource.Source]
  private let server: ReflectionSource?
  /// The arguments with which `rpcurl list` prints the names of the schema.
  private let listing: String
  /// The complete schema, if it was given.
  private var known: DescriptorPool?
  /// More services that a server lists.
  private var listed: [String] = []

  /// Resolves the positional arguments `[TARGET] [SYMBOL]`. A target is expected if the server is to be asked.
  ///
  /// If the configuration has a target, `ConfiguredTarget` says whether a single argument is a symbol.
  package init(_ options: Invocation, _ clients: ClientSource) throws {
    try self.init(options, options.positionals, configured: options.configuredTarget, clients)
  }

  /// Resolves arguments in place of those of the options.
  init(
    _ options: Invocation, _ given: [Positional], configured: Positional?, _ clients: ClientSource
  ) throws {
    var arguments = given
    let acceptsMany = options.command == .describe
    guard arguments.count <= 2 || acceptsMany else {
      throw Failure(
        .usage, arguments[2].text, "unexpected argument", hint: "a target and a name are expected")
    }
    let asksServer = options.asksServer
    try Target.check(orderOf: arguments.map(\.text), of: options.command)
    if let target = configured,
      ConfiguredTarget.isUsed(withArguments: arguments, asksServer: asksServer)
    {
      arguments.insert(target, at: 0)
    }
    // A name of the built-in schemas needs no server.
    if arguments.count == 1 || acceptsMany && !arguments.isEmpty, !options.hasSchema,
      options.flag(.reflect) != true,
      arguments.allSatisfy({ WellKnownSchemas.mayDeclare(Self.name($0.text)) })
    {
      (symbols, server, sources, listing) = (arguments.map { Self.name($0.text) }, nil, [], "")
      return
    }
    // A target that is not needed is ignored.
    let hasTarget =
      asksServer || arguments.count == 2 && !acceptsMany
      || arguments.first.map { Target.isServer($0.text) } == true
    let target = hasTarget ? arguments.first : nil
    symbols = arguments.dropFirst(hasTarget ? 1 : 0).map { Self.name($0.text) }
    guard asksServer else {
      (server, listing) = (nil, options.schemaWords)
      guard options.hasSchema else {
        throw Failure(
          .schema, "no schema", "reflection is off, and neither --proto nor --descriptor-set is given",
          hint: "omit --no-reflect, or use --proto FILE or --descriptor-set FILE")
      }
      sources = try SchemaSource.sources(
        options, clients.console.error, waitLimit: options.duration(.maxTime))
      return
    }
    guard let target else {
      throw Failure(
        .schema, "no schema", "neither a server nor another source is given",
        hint: "name a server, or use --descriptor-set FILE or --proto FILE")
    }
    sources = try SchemaSource.sources(
      options, clients.console.error, waitLimit: options.duration(.maxTime))
    var server = try Self.server(options, target, clients)
    server.isOptional = !sources.isEmpty
    (self.server, listing) = (server, options.listing(server.target))
  }

  /// Creates a query of a given schema: `[SYMBOL]`, or several of them.
  package init(
    _ pool: DescriptorPool, listed: [String], arguments: [String], acceptsMany: Bool = false
  ) throws(Failure) {
    guard arguments.count <= 1 || acceptsMany else {
      throw Failure(.usage, arguments[1], "unexpected argument", hint: "one name is expected")
    }
    symbols = arguments.map(Self.name)
    known = pool
    self.listed = listed
    (sources, server, listing) = ([], nil, "")
  }

  /// A full name may start with a dot, as in types of `.proto` files. The path of a file may, too.
  private static func name(_ argument: String) -> String {
    argument.hasPrefix(".") && argument != "." && !argument.hasSuffix(".proto")
      ? String(argument.dropFirst()) : argument
  }

  private static func server(
    _ options: Invocation, _ argument: Positional, _ clients: ClientSource
  ) throws -> ReflectionSource {
    let target: Target
    do throws(Failure) {
      target = try Target.parse(server: argument.text, options.tls(clients.console))
    } catch {
      throw error.at(argument.origin)
    }
    let environment = EnvironmentVariables.value
    let protocolName = try CallSettings.protocolName(options, environment)
    let sources = ArgumentSources(environment: environment, secrets: clients.console.secrets)
    let arguments = try options.headerArguments(sources, protocolName)
    let common = try arguments.parse(options.all(.header))
    try CredentialArguments.check(options, options.all(.header), given: common)
    let own = try arguments.parse(options.all(.reflectHeader), option: "--reflect-header")
    let (headers, timeout) = try CredentialArguments.headers(
      options, protocolName,
      bearer: try options.last(.bearer).map { try CredentialArguments.token($0, sources) },
      given: common.appending(own), limit: options.duration(.maxTime), sources)
    // Cached schemas are not read here: these commands show the server's current schema.
    var source = try ReflectionSource(
      options, target, protocolName, headers,
      ConnectionPlan.options(options, target, protocolName, sources), timeout: timeout, sources, clients)
    source.ownHeaders = own
    return source
  }

  /// The full names of all services, without their declarations.
  package func serviceNames() throws(Failure) -> [String] {
    let pool = if let known { known } else { try SchemaSource.pool(sources) }
    var names = Set(pool.symbols([.service]).filter(Self.isOwn).map(\.name))
    names.formUnion(listed)
    if let server { names.formUnion(try server.schema(for: .serviceNames).services) }
    return names.sorted()
  }

  /// The complete schema, and the services that the server lists but does not describe.
  package func complete() throws(Failure) -> (pool: DescriptorPool, undescribed: [String]) {
    let (pool, listed) = try read(server == nil ? nil : .allServices)
    return (pool, Self.undescribed(listed, in: pool))
  }

  /// The services of a list that a schema does not describe. The services of gRPC itself are built in.
  package static func undescribed(_ listed: [String], in pool: DescriptorPool) -> [String] {
    Set(listed).subtracting(pool.serviceNames).filter { !WellKnownSchemas.mayDeclareService($0) }.sorted()
  }

  /// The complete schema. Remarks on services that the server lists but does not describe.
  package func pool(_ error: StandardError) throws(Failure) -> DescriptorPool {
    let (pool, undescribed) = try complete()
    Self.remark(on: undescribed, error)
    return pool
  }

  /// The declarations of these kinds. Services include those that the server lists but does not describe, which have no
  /// file.
  package func symbols(
    _ kinds: Set<SymbolKind>, _ error: StandardError
  ) throws(Failure) -> [DescriptorPool.Symbol] {
    let (pool, listed) = try read(server == nil ? nil : .allServices)
    Self.remark(on: Self.undescribed(listed, in: pool), error)
    let own = pool.symbols(kinds).filter(Self.isOwn)
    guard kinds.contains(.service) else { return own }
    // The services of gRPC itself are not requested if they are built in.
    return own
      + Set(listed).subtracting(own.lazy.filter { $0.kind == .service }.map(\.name)).map {
        DescriptorPool.Symbol(name: $0, kind: .service, file: "")
      }
  }

  /// Remarks on imports that no source has, unless the server may have them: what declares them is not listed.
  package func remarkOnImports(_ error: StandardError) {
    guard server == nil, let pool = try? SchemaSource.pool(sources, withOptions: true) else { return }
    let files = pool.fileNames(exceptOf: WellKnownSchemas.sourceName)
    SchemaOutput.remark(onImportsOf: files, in: pool, isSet: true, error)
  }

  private static func remark(on undescribed: [String], _ error: StandardError) {
    if !undescribed.isEmpty { error.remark("rpcurl: \(TerminalText.escape(remark(undescribed)))\n") }
  }

  /// What is wrong if the server does not describe these services.
  static func remark(_ undescribed: [String]) -> String {
    "services that the server lists but does not describe: \(undescribed.joined(separator: ", "))"
  }

  /// Finds `symbol`. The services of gRPC itself, such as health, are the last source.
  package func find(_ symbol: String, among kinds: Set<SymbolKind>) throws(Failure) -> (
    DescriptorPool, DescriptorPool.Symbol
  ) {
    do throws(Failure) {
      return try findGiven(symbol, among: kinds)
    } catch {
      guard error.status == .schema, WellKnownSchemas.mayDeclareService(symbol) else {
        throw naming(in: error)
      }
      let pool = try SchemaSource.pool(sources + [SchemaSource.builtInServices], withOptions: true)
      guard let exact = try SymbolLookup(pool).exactly(symbol, kinds) else { throw naming(in: error) }
      return (pool, exact)
    }
  }

  /// The failure, whose hint at `rpcurl list` names the server, or the files.
  package func naming(in failure: Failure) -> Failure { failure.listing(listing) }

  /// Finds `symbol` in the sources that were given. Asks the server for that symbol alone before it asks for everything.
  private func findGiven(_ symbol: String, among kinds: Set<SymbolKind>) throws(Failure) -> (
    DescriptorPool, DescriptorPool.Symbol
  ) {
    if server != nil {
      let own = try SchemaSource.pool(sources, withOptions: true)
      if let exact = try SymbolLookup(own).exactly(symbol, kinds) { return (own, exact) }
      if Self.isFullName(symbol) {
        let asked = MethodName(symbol).map { symbol.contains("/") ? $0.service : symbol } ?? symbol
        let pool = try read(.existing([.fileContaining(symbol: asked)])).pool
        if let exact = try SymbolLookup(pool).exactly(symbol, kinds) { return (pool, exact) }
      }
    }
    let (pool, undescribed) = try complete()
    if undescribed.contains(where: { $0 == symbol || $0 == MethodName(symbol)?.service }) {
      throw Failure(
        .schema, symbol, "the server lists this service but does not describe it",
        hint: "use --proto FILE or --descriptor-set FILE")
    }
    return (pool, try SymbolLookup(pool).find(symbol, among: kinds))
  }

  private static func isFullName(_ symbol: String) -> Bool {
    symbol.contains(".") && MethodName(symbol) != nil
  }

  /// The schema for `goal`, and the services that the server lists.
  private func read(
    _ goal: ReflectionQuery.Goal?
  ) throws(Failure) -> (pool: DescriptorPool, listed: [String]) {
    if let known { return (known, listed) }
    var (sources, listed) = (sources, listed)
    if let server, let goal {
      let schema = try server.schema(for: goal)
      listed = schema.services
      if schema.fileCount > 0 {
        sources.append(.init(set: SchemaBytes(schema.descriptorSet), name: server.sourceName))
      }
    }
    return (try SchemaSource.pool(sources, withOptions: true), listed)
  }

  /// Whether a symbol comes from a source that was given, not from the well-known types.
  package static func isOwn(_ symbol: DescriptorPool.Symbol) -> Bool {
    symbol.source != WellKnownSchemas.sourceName
  }
}

extension Failure {
  /// The failure, whose hint at `rpcurl list` has these arguments.
  package func listing(_ arguments: String) -> Failure {
    guard !arguments.isEmpty else { return self }
    return changed { $0.hint = $0.hint?.replacing("\"rpcurl list", with: "\"rpcurl list \(arguments)") }
  }

  /// The failure, whose hint names the commands of a session.
  package var inSession: Failure { changed { $0.hint = $0.hint.map(SessionHint.of) } }
}
