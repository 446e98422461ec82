import Interceptors
import Output
import Protobuf
import RPCClient
import RPCProtocols
import Reflection
import System
import Transport

/// The server as a source of the schema, and what it told before.
package struct ReflectionSource {
  /// How long the server may take, unless `--max-time` says otherwise.
  package static let defaultTimeout = Duration.seconds(10)
  /// How long an answer is taken for true without asking again.
  private static let freshness = Duration.seconds(300)

  package let target: Target
  package let protocolName: ProtocolName
  package let headers: Headers
  package let connection: ConnectionOptions
  package let clients: ClientSource
  package var version: ReflectionVersion?
  package var timeout = defaultTimeout
  package var isVerbose = false
  /// Whether only what is known already is told.
  package var isOffline = false
  /// `nil` when nothing is to be kept.
  package var cache: ReflectionCache?

  /// An earlier answer.
  package struct Cached {
    package let source: SchemaSource.Source
    fileprivate let stamp: CachedSchema.Stamp
    fileprivate let isVerbose: Bool

    /// Says that it is used, if asked to.
    package func tell() {
      if isVerbose { ReflectionSource.tell(stamp.version, stamp.fileCount, "cached") }
    }
  }

  /// What the server told of `service` before, if that is not too long ago.
  package func cached(_ service: String) -> Cached? {
    guard let found = cache?.load(key(service), notOlderThan: Self.freshness) else { return nil }
    return Cached(
      source: SchemaSource.Source(set: found.set, name: sourceName), stamp: found.stamp, isVerbose: isVerbose)
  }

  /// What the answer that has all services is kept as.
  package static let allServices = "*"

  /// Asks the server for everything; gives the names of services beside it, as it may not describe all of them.
  package func fetchAll() throws(Failure) -> (SchemaSource.Source, services: [String]) {
    let schema = try schema(for: .allServices)
    if let why = cache?.store(schema, key(Self.allServices)), isVerbose {
      StandardError.write("* schema: not kept: \(TerminalText.escape(why))\n")
    }
    return (SchemaSource.Source(set: SchemaBytes(schema.descriptorSet), name: sourceName), schema.services)
  }

  /// Asks the server for the service of `method`; `known` services are offered when it has none like it.
  ///
  /// The service may be the end of a name that only one of the server's has; then that one comes with it.
  package func fetch(_ method: MethodName, known: [String]) throws(Failure) -> (
    SchemaSource.Source, MethodName
  ) {
    if isOffline { throw Self.notAsked }
    let begin = MonotonicClock.now
    guard !method.service.isEmpty else {
      let schema = try schema(for: .allServices)
      return (SchemaSource.Source(set: SchemaBytes(schema.descriptorSet), name: sourceName), method)
    }
    let result = try ask(.symbols([method.service]))
    switch result {
    case .success(let schema):
      if isVerbose {
        let milliseconds = Int(((MonotonicClock.now - begin) / .milliseconds(1)).rounded())
        Self.tell(schema.version, schema.fileCount, "\(milliseconds) ms")
      }
      keep(schema, .symbols([method.service]))
      return (SchemaSource.Source(set: SchemaBytes(schema.descriptorSet), name: sourceName), method)
    case .failure(.unknownSymbol(_, let services))
    where services.contains { $0.hasSuffix(".\(method.service)") }:
      let service = try SymbolLookup.only(
        method.service, among: services.filter { $0.hasSuffix(".\(method.service)") })
      return try fetch(MethodName(service: service, method: method.method), known: known)
    case .failure(let error):
      throw failure(error, method, known)
    }
  }

  /// What `fetch` throws when the server is not to be asked.
  package static let notAsked = Failure(.schema, "schema", "the server was not asked")

  /// Asks the server for what `goal` names; a symbol that it does not know gives nothing.
  package func schema(for goal: ReflectionQuery.Goal) throws(Failure) -> ReflectedSchema {
    switch try ask(goal) {
    case .success(let schema):
      if isVerbose { Self.tell(schema.version, schema.fileCount, "fetched") }
      keep(schema, goal)
      return schema
    case .failure(let error):
      throw failure(error, MethodName(service: "", method: ""), [])
    }
  }

  /// Keeps an answer: calls of the service take it while it is fresh, and completion knows its names.
  private func keep(_ schema: ReflectedSchema, _ goal: ReflectionQuery.Goal) {
    guard let cache else { return }
    var problem: String?
    switch goal {
    case .symbols(let symbols), .whateverOf(let symbols):
      if let symbol = symbols.first, symbols.count == 1, schema.fileCount > 0 {
        problem = cache.store(schema, key(symbol))
      }
    case .allServices where schema.fileCount > 0: problem = cache.store(schema, key(""))
    case .serviceNames, .allServices: break
    }
    if !schema.services.isEmpty { problem = problem ?? cache.store(services: schema.services, key("")) }
    guard let problem, isVerbose else { return }
    StandardError.write("* schema: not kept: \(TerminalText.escape(problem))\n")
  }

  private static func tell(_ version: ReflectionVersion, _ files: Int, _ how: String) {
    StandardError.write(
      "* schema: reflection \(version.rawValue), \(files) file\(files == 1 ? "" : "s"), \(how)\n")
  }

  private func ask(
    _ goal: ReflectionQuery.Goal
  ) throws(Failure) -> Result<ReflectedSchema, ReflectionError> {
    let client = try clients.client()
    let reflector = client.reflect(request(goal))
    let loop = CommandLoop(client.loop)
    let isInterrupted = try loop.run(
      onInterrupt: { reflector.cancel(Interrupt.reason) }, until: { reflector.result != nil })
    // A round more, so that the canceled stream is reset on the wire.
    if isInterrupted { _ = try loop.run { true } }
    guard !isInterrupted, let result = reflector.result else { throw Failure(reported: Interrupt.status) }
    return result
  }

  /// The question for `goal`, as a client asks it.
  package func request(_ goal: ReflectionQuery.Goal) -> ReflectionRequest {
    var request = ReflectionRequest(goal, target: target.baseURL, userAgent: Version.userAgent)
    request.version = version
    request.headers = headers
    request.timeout = timeout
    request.protocolName = protocolName
    request.connection = connection
    return request
  }

  /// What the schema of this server is called in errors.
  package var sourceName: String { "reflection of \(target.name)" }

  /// What makes two answers of a server the answer to the same question.
  private func key(_ service: String) -> ReflectionCache.Key {
    // Credentials are left out: they change often, and seldom what the server is.
    let headers = headers.fields.filter { !Redaction.isSecret($0.name) }.map { "\($0.name):\($0.value)" }
    return ReflectionCache.Key(
      target: ReflectionCache.name(of: target, socket: connection.unixSocket),
      service: service,
      facts: [
        target.baseURL, connection.unixSocket ?? "", protocolName.rawValue, version?.rawValue ?? "",
        connection.authoritiesFile ?? "", connection.authoritiesDirectory ?? "",
        connection.isInsecure ? "insecure" : "", connection.certificate?.file ?? "",
        connection.serverName ?? "", connection.proxy ?? "", connection.resolve.joined(separator: " "),
        connection.connectTo.joined(separator: " "), connection.abstractUnixSocket ?? "",
      ] + headers)
  }

  // MARK: Errors

  private func failure(_ error: ReflectionError, _ method: MethodName, _ known: [String]) -> Failure {
    switch error {
    case .unknownSymbol(_, let services):
      return SchemaSource.unknownService(
        method, "the server has no service \(method.service)", services: Set(known + services).sorted())
    case .notOffered:
      return Failure(
        .schema, target.name, error.description,
        hint: "use --proto FILE, or --descriptor-set FILE; "
          + "protoc --include_imports --descriptor_set_out=FILE makes one")
    case .failed(let status):
      let isConnection = status.origin == .connection || status.origin == .tls
      let proxy: String? = if case .proxy(let url) = status.origin { "proxy \(url)" } else { nil }
      return Failure(
        .call(status), proxy ?? target.name,
        isConnection || proxy != nil ? status.message : error.description,
        hint: CallPlan.hint(for: status, target: target, protocolName: protocolName))
    case .refused, .wrongAnswer, .tooMuch:
      return Failure(
        .schema, target.name, error.description, hint: "use --proto FILE or --descriptor-set FILE")
    }
  }
}
