import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// Asks the server for names that messages use and that the schema lacks, and adds its files to the schema: extensions, and
/// types in an `Any` or in the details of an error, of files that the service does not import.
///
/// Asks for a limited number of names: once for each, and once more if that failed.
package final class NameLookup {
  /// The time limit of a lookup, unless the deadline is sooner.
  private static let patience = Duration.seconds(2)

  private var source: ReflectionSource
  /// The schema that gets the server's files.
  package let pool: DescriptorPool
  private let client: LoopClient
  /// Whether messages can use names that the schema lacks, by their type.
  private var mayLackNames: [String: Bool] = [:]
  private var history = LookupHistory()
  /// How long the call, or the message of a session, has waited for lookups.
  private var waited = Duration.zero
  /// Whether a lookup has added files to the schema.
  private(set) var hasAddedFiles = false
  /// The lookup that runs, and its names.
  private var running: (reflector: Reflector, names: [UnresolvedName])?
  /// The lookups in order; the first one runs.
  private var waiting: [(names: [UnresolvedName], deadline: MonotonicClock.Instant?, done: () -> Void)] = []
  private var isOver = false
  /// The place on the chain of calls whose responses interceptors receive: next to the transport.
  package private(set) lazy var registration = InterceptorRegistration(
    name: "reflection", factory: Factory(lookup: LoopBound { [weak self] in self }),
    priority: Int.min)

  /// Creates the lookup for calls with a schema. Returns nil if the server must not be asked.
  ///
  /// - Parameters:
  ///   - source: The server; nil if reflection is off.
  ///   - pool: The schema.
  ///   - client: The client of the calls.
  package init?(_ source: ReflectionSource?, _ pool: DescriptorPool, client: LoopClient) {
    guard let source, !source.isOffline else { return nil }
    self.source = source
    self.pool = pool
    self.client = client
  }

  /// Creates the lookup for a plan's calls. Returns nil if the server must not be asked.
  package convenience init?(_ plan: CallPlan, client: LoopClient) {
    self.init(plan.reflection, plan.pool, client: client)
  }

  /// Continues with a call that has the same schema. Returns false for another schema, or if the server must not be asked.
  package func adopt(_ plan: CallPlan) -> Bool {
    guard let source = plan.reflection, plan.pool === pool else { return false }
    self.source = source
    isOver = false
    return true
  }

  /// Begins the next call of a session, which may look names up whose lookup has failed.
  package func beginCall() {
    history.beginCall()
    beginMessage()
  }

  /// Begins the next message of a session's stream, whose lookups have a time limit of their own.
  package func beginMessage() { waited = .zero }

  // MARK: Names

  /// Whether messages of a type can use names that the schema lacks.
  package func isNeeded(for type: MessageType) -> Bool {
    if let known = mayLackNames[type.name] { return known }
    let result = type.mayLackNames
    mayLackNames[type.name] = result
    return result
  }

  /// The names that a message uses, that the schema lacks and that can be looked up; nil if there are none.
  package func missing(
    in message: RawSpan, of type: MessageType, _ codec: CodecName
  ) -> [UnresolvedName]? {
    guard !isOver, history.isOpen, isNeeded(for: type) else { return nil }
    switch codec {
    case .proto:
      let names = type.unresolvedNames(in: message, limit: LookupHistory.limit, where: isWanted)
      return names.isEmpty ? nil : names
    case .json: return missing(among: UnresolvedName.all(inJSON: message.copyBytes()))
    }
  }

  /// The names that the schema lacks and that can be looked up; nil if there are none.
  package func missing(among names: [UnresolvedName]) -> [UnresolvedName]? {
    guard !isOver else { return nil }
    var missing: [UnresolvedName] = []
    for name in names where missing.count < LookupHistory.limit {
      if !missing.contains(name), isWanted(name) { missing.append(name) }
    }
    return missing.isEmpty ? nil : missing
  }

  private func isWanted(_ name: UnresolvedName) -> Bool {
    guard history.allows(name) else { return false }
    guard case .symbol(let symbol) = name else { return true }
    // Only such names are sent to a server.
    guard MethodName("\(symbol)/X") != nil else { return false }
    let type = try? pool.messageType(named: symbol)
    let field = try? pool.extensionField(named: symbol)
    return (type ?? nil) == nil && (field ?? nil) == nil
  }

  // MARK: Asking

  /// The time limit of all lookups for one message.
  var timeLimit: Duration { source.timeout }

  /// Looks names up until `deadline`. Calls `done` from the event loop when they are known or cannot be found.
  package func find(
    _ names: [UnresolvedName], until deadline: MonotonicClock.Instant?, done: @escaping () -> Void
  ) {
    waiting.append((names, deadline, done))
    // Delayed, so that `done` is not called before this returns.
    if running == nil, waiting.count == 1 {
      client.loop.schedule(at: .now) { [weak self] in self?.start() }
    }
  }

  /// The result of `body`, which is called again after each lookup of a name for which it fails. Runs the event loop.
  ///
  /// - Throws: The failure of `body`, or `Failure` if a signal arrived.
  @inline(never)
  package static func resolving<Result>(
    _ lookup: NameLookup?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    while true {
      do throws(Failure) {
        return try body()
      } catch {
        guard let lookup, let names = lookup.missing(among: error.missingNames) else { throw error }
        try lookup.wait(for: names)
      }
    }
  }

  /// The result of `body`, which is called again after a lookup of each name for which it fails. Runs the event loop.
  ///
  /// - Parameters:
  ///   - pool: The schema that gets the server's files.
  ///   - source: The server; nil if reflection is off.
  /// - Throws: The failure of `body`, or `Failure` if a signal arrived.
  @inline(never)
  package static func resolving<Result>(
    _ pool: DescriptorPool, _ source: ReflectionSource?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    do throws(Failure) {
      return try body()
    } catch {
      guard !error.missingNames.isEmpty, let source, !source.isOffline else { throw error }
      return try resolving(NameLookup(source, pool, client: source.clients.client()), body)
    }
  }

  /// Looks up those of the names that the schema lacks. Runs the event loop.
  ///
  /// - Throws: `Failure` if a signal arrived.
  package func resolve(_ names: [UnresolvedName]) throws(Failure) {
    if let names = missing(among: names) { try wait(for: names) }
  }

  private func wait(for names: [UnresolvedName]) throws(Failure) {
    let begin = MonotonicClock.now
    defer { waited += .now - begin }
    var isDone = false
    // All lookups before a call together have the time limit of one request.
    find(names, until: begin + timeLimit - waited) { isDone = true }
    let isInterrupted = try CommandLoop(client.loop).run(onInterrupt: { self.cancel() }, until: { isDone })
    if isInterrupted { throw Failure(reported: Interrupt.status) }
  }

  /// Cancels all lookups.
  package func cancel() {
    isOver = true
    running?.reflector.cancel("interrupted")
  }

  private func start() {
    guard running == nil, let next = waiting.first else { return }
    let time = min(source.timeout, Self.patience, next.deadline.map { $0 - .now } ?? Self.patience)
    guard time > .zero else {
      history.postpone(next.names)
      report(next.names, "no time is left")
      return startNext()
    }
    // An earlier lookup may have included these names.
    let names = isOver ? [] : history.begin(next.names)
    guard !names.isEmpty else { return startNext() }
    var request = source.request(.existing(names.map(ServerReflectionRequest.init)))
    request.timeout = time
    let reflector = client.reflect(request)
    running = (reflector, names)
    reflector.whenDone = { [weak self] in self?.finish() }
    // The lookup may have failed at once.
    if reflector.result != nil { finish() }
  }

  private func finish() {
    guard let (reflector, names) = running.take(), let result = reflector.result else { return }
    switch result {
    case .success(let schema):
      if schema.fileCount > 0 {
        // Existing declarations take precedence; a set that contradicts them adds no name.
        try? pool.add(SchemaBytes(schema.descriptorSet), source: source.sourceName)
        hasAddedFiles = true
      }
      history.end(names, isFinal: true)
    case .failure(let error):
      history.end(names, isFinal: error.isFinal)
      report(names, error.description)
    }
    startNext()
  }

  private func report(_ names: [UnresolvedName], _ why: String) {
    if !isOver { source.report(failed: names.map(ServerReflectionRequest.init), why) }
  }

  /// Ends the first lookup that waits, and starts the next one.
  private func startNext() {
    guard !waiting.isEmpty else { return }
    waiting.removeFirst().done()
    if !waiting.isEmpty { start() }
  }
}

extension ServerReflectionRequest {
  /// The request for the file that declares a name.
  fileprivate init(_ name: UnresolvedName) {
    switch name {
    case .symbol(let symbol): self = .fileContaining(symbol: symbol)
    case .extensionNumber(let type, let number): self = .fileContainingExtension(of: type, number: number)
    }
  }
}
