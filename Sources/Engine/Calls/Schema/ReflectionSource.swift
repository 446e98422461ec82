import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// A server as a source of the schema, with the cache of its schemas.
package struct ReflectionSource {
  /// The time limit of the server, unless `--max-time` is given.
  package static let defaultTimeout = Duration.seconds(10)
  /// Which headers are secret.
  package var secretNames = SecretNames.standard
  /// How long a cached schema is used before asking the server again.
  package static let freshness = Duration.seconds(300)

  package let target: Target
  package let protocolName: ProtocolName
  package let headers: Headers
  /// Those of them that only requests for the schema have: cached schemas differ by them.
  package var ownHeaders = Headers()
  package let connection: ConnectionOptions
  package let clients: ClientSource
  package var version: ReflectionVersion?
  package var timeout: Duration
  package let isVerbose: Bool
  /// Whether the server is asked also for what the built-in schemas declare.
  package var isForced = false
  /// Whether other sources have a schema: a server without reflection then adds nothing to it.
  package var isOptional = false
  /// Whether only the cache is used.
  package var isOffline = false
  /// The cache; nil with `--no-cache`.
  package var cache: ReflectionCache?

  /// A server as a source of the schema, with options.
  ///
  /// - Throws: `Failure` if a name of `--redact` is invalid.
  package init(
    _ options: Invocation, _ target: Target, _ protocolName: ProtocolName, _ headers: Headers,
    _ connection: ConnectionOptions, timeout: Duration?, _ sources: ArgumentSources, _ clients: ClientSource
  ) throws(Failure) {
    (self.target, self.protocolName, self.headers) = (target, protocolName, headers)
    (self.connection, self.clients) = (connection, clients)
    self.timeout = timeout ?? Self.defaultTimeout
    version = options.choice(.reflectVersion)
    secretNames = try options.secretNames()
    isVerbose = options.verbosity > 0
    cache = options.has(.noCache) ? nil : ReflectionCache(environment: sources.environment)
  }

  /// A cached schema.
  package struct Cached {
    package let source: SchemaSource.Source
    /// The time since the server sent it.
    package let age: Duration
    fileprivate let stamp: CachedSchema.Stamp
    fileprivate let server: ReflectionSource

    /// Prints that the cache is used, with `-v`.
    package func report() {
      if server.isVerbose { server.report(stamp.version, stamp.fileCount, "cached") }
    }
  }

  /// The cached schema of `service`, unless it is too old.
  package func cached(_ service: String) -> Cached? {
    guard let found = cache?.load(key(service), notOlderThan: Self.freshness) else { return nil }
    return Cached(
      source: SchemaSource.Source(set: found.set, name: sourceName), age: found.age, stamp: found.stamp,
      server: self)
  }

  /// The name in the cache of the schema with all services.
  package static let allServices = "*"

  /// Fetches the complete schema. Also returns the names of all services, some of which the server may not describe. Nil
  /// if the server has no reflection, and `isOptional` is set.
  package func fetchAll() throws(Failure) -> (SchemaSource.Source, services: [String])? {
    guard let schema = try schemaIfOffered(for: .allServices) else { return nil }
    if let why = cache?.store(schema, key(Self.allServices)), isVerbose {
      clients.console.error.write("* schema: not stored in the cache: \(TerminalText.escape(why))\n")
    }
    return (source(of: schema), schema.services)
  }

  /// Fetches the service of `method`.
  ///
  /// The service may be a unique suffix of a name that the server lists.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - known: The services of other sources, for suggestions.
  /// - Throws: `Failure` if the server has no such service.
  package func fetch(_ method: MethodName, known: [String]) throws(Failure) -> (
    SchemaSource.Source, MethodName
  ) {
    if isOffline { throw Failure(.schema, "no schema", "the server was not asked").with(.notAsked) }
    let begin = MonotonicClock.now
    guard !method.service.isEmpty else {
      let schema = try schema(for: .allServices)
      return (source(of: schema), method)
    }
    let result = try ask(.symbols([method.service]))
    switch result {
    case .success(let schema):
      if isVerbose {
        let milliseconds = (MonotonicClock.now - begin).roundedToMilliseconds.milliseconds
        report(schema.version, schema.fileCount, "\(milliseconds) ms")
      }
      store(schema, .symbols([method.service]))
      return (source(of: schema), method)
    case .failure(.unknownSymbol(_, let services))
    where services.contains { $0.hasSuffix(".\(method.service)") }:
      let service = try SymbolLookup.only(
        method.service, among: services.filter { $0.hasSuffix(".\(method.service)") })
      let schema = try schema(for: .symbols([service]))
      // Also for the next call by the same suffix.
      store(schema, .symbols([method.service]))
      return (
        source(of: schema),
        MethodName(service: service, method: method.method)
      )
    case .failure(.unknownSymbol(_, let services))
    where SchemaSource.bareServices(method, among: services).count == 1:
      // The caller reports the missing method, with those of the service.
      let service = SchemaSource.bareServices(method, among: services)[0]
      let schema = try schema(for: .symbols([service]))
      return (source(of: schema), method)
    case .failure(let error):
      throw failure(error, method, known)
    }
  }

  /// Fetches the schema for `goal`.
  package func schema(for goal: ReflectionQuery.Goal) throws(Failure) -> ReflectedSchema {
    try schemaIfOffered(for: goal) ?? ReflectedSchema(version: .v1)
  }

  /// Fetches the schema for `goal`; nil if the server has no reflection, and `isOptional` is set.
  private func schemaIfOffered(for goal: ReflectionQuery.Goal) throws(Failure) -> ReflectedSchema? {
    switch try ask(goal) {
    case .success(let schema):
      if isVerbose { report(schema.version, schema.fileCount, "fetched") }
      store(schema, goal)
      return schema
    case .failure(let error):
      if isOptional, case .notOffered = error {
        let text = "rpcurl: \(target.name): \(error.text(for: version)); only other sources are used"
        if goal == .allServices || goal == .serviceNames {
          clients.console.error.remark(TerminalText.escape(text) + "\n")
        }
        return nil
      }
      throw failure(error, MethodName(service: "", method: ""), [])
    }
  }

  /// Stores a schema for later calls and for completion.
  private func store(_ schema: ReflectedSchema, _ goal: ReflectionQuery.Goal) {
    guard let cache else { return }
    var problem: String?
    switch goal {
    case .symbols(let symbols):
      if let symbol = symbols.first, symbols.count == 1 { problem = store(schema, of: symbol, in: cache) }
    case .existing(let requests):
      if let symbol = requests.first?.symbol, requests.count == 1 {
        problem = store(schema, of: symbol, in: cache)
      }
    case .allServices where schema.fileCount > 0: problem = cache.store(schema, key(""))
    case .serviceNames, .allServices: break
    }
    if !schema.services.isEmpty { problem = problem ?? cache.store(services: schema.services, key("")) }
    guard let problem, isVerbose else { return }
    clients.console.error.write("* schema: not stored in the cache: \(TerminalText.escape(problem))\n")
  }

  private func store(_ schema: ReflectedSchema, of symbol: String, in cache: ReflectionCache) -> String? {
    schema.fileCount > 0 ? cache.store(schema, key(symbol)) : nil
  }

  private func report(_ version: ReflectionVersion, _ files: Int, _ how: String) {
    clients.console.error.write(
      "* schema: reflection \(version.rawValue), \(files) file\(files == 1 ? "" : "s"), \(how)\n")
  }

  /// Prints the failure of a lookup, with `-v`.
  ///
  /// - Parameters:
  ///   - requests: The names that were looked up.
  ///   - why: The cause.
  func report(failed requests: [ServerReflectionRequest], _ why: String) {
    guard isVerbose, let first = requests.first else { return }
    let more = requests.count > 1 ? " and \(requests.count - 1) more" : ""
    let text = "the lookup of \(first)\(more) failed: \(why)"
    clients.console.error.write("* schema: \(TerminalText.escape(text))\n")
  }

  private func ask(
    _ goal: ReflectionQuery.Goal
  ) throws(Failure) -> Result<ReflectedSchema, ReflectionError> {
    let client = try clients.client()
    let reflector = client.reflect(request(goal))
    let loop = CommandLoop(client.loop)
    let isInterrupted = try loop.run(
      onInterrupt: { reflector.cancel(Interrupt.reason) }, until: { reflector.result != nil })
    // Run the loop once more to send the reset of the canceled stream.
    if isInterrupted { _ = try loop.wait { true } }
    guard !isInterrupted, let result = reflector.result else { throw Failure(reported: Interrupt.status) }
    return result
  }

  /// The reflection request for `goal`.
  package func request(_ goal: ReflectionQuery.Goal) -> ReflectionRequest {
    var request = ReflectionRequest(goal, target: target.baseURL, userAgent: Version.userAgent)
    request.version = version
    request.headers = headers
    request.secretNames = secretNames
    request.timeout = timeout
    request.protocolName = protocolName
    request.connection = connection
    return request
  }

  /// A schema that the server has sent, as a source.
  package func source(of schema: ReflectedSchema) -> SchemaSource.Source {
    SchemaSource.Source(set: SchemaBytes(schema.descriptorSet), name: sourceName)
  }

  /// The name of the schema in errors.
  package var sourceName: String { "reflection of \(target.name)" }

  /// The cache key: everything that the schema may depend on.
  private func key(_ service: String) -> ReflectionCache.Key {
    // Credentials and headers of calls, such as request ids, are not part of the key: they change often, and the schema does
    // not depend on them.
    let headers = ownHeaders.fields.filter { !secretNames.contains($0.name) }.map {
      "\($0.name):\($0.value)"
    }
    let facts: [String] = [
      target.baseURL, connection.unixSocket ?? "", protocolName.rawValue, version?.rawValue ?? "",
      connection.authoritiesFile ?? "", connection.authoritiesDirectory ?? "",
      connection.isInsecure ? "insecure" : "", connection.certificate?.file ?? "",
      connection.serverName ?? "", connection.proxy ?? "", connection.resolve.joined(separator: " "),
      connection.connectTo.joined(separator: " "), connection.abstractUnixSocket ?? "",
    ]
    return ReflectionCache.Key(
      target: ReflectionCache.name(of: target, socket: connection.unixSocket ?? target.unixSocket),
      service: service, facts: facts + headers)
  }

  // MARK: Errors

  /// The hint for a server that refuses reflection, also with HTTP 401 or 403; nil for other errors.
  static func hint(forRefusal code: StatusCode?) -> String? {
    guard code == .unauthenticated || code == .permissionDenied else { return nil }
    return "reflection may need credentials: --bearer TOKEN, --user NAME or -H; "
      + "--descriptor-set FILE or --proto FILE does without reflection"
  }

  private func failure(_ error: ReflectionError, _ method: MethodName, _ known: [String]) -> Failure {
    switch error {
    case .unknownSymbol(_, let services):
      return SchemaSource.unknownService(
        method, "the server has no service \(method.service)", services: Set(known + services).sorted())
    case .notOffered:
      let other = version == nil ? "" : "omit --reflect-version, which asks for one version only, or "
      return Failure(
        .schema, target.name, error.text(for: version),
        hint: "\(other)use --proto FILE, or --descriptor-set FILE")
    case .failed(let status):
      let isConnection = status.origin == .connection || status.origin == .tls || status.cause != nil
      let proxy: String? = if case .proxy(let url) = status.origin { "proxy \(url)" } else { nil }
      return Failure(
        .call(status), proxy ?? target.name,
        isConnection || proxy != nil ? status.message : error.description,
        hint: Self.hint(forRefusal: status.code)
          ?? CallPlan.hint(
            for: status, target: target, protocolName: protocolName,
            hasCertificate: connection.certificate != nil))
    case .refused, .invalidResponse, .tooMuch:
      let code: StatusCode? =
        if case .refused(_, let code, _) = error { StatusCode(rawValue: code) } else { nil }
      return Failure(
        .schema, target.name, error.description,
        hint: Self.hint(forRefusal: code) ?? "use --proto FILE or --descriptor-set FILE")
    }
  }
}
