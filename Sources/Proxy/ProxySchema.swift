import RPCurlBase
import RPCurlCall
import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// The methods that clients may call, and their types. It belongs to the loop's thread.
final class ProxySchema {
  /// A server that is asked again for its schema when a client calls a method that it did not have.
  private struct Server {
    let reflection: ReflectionSource
    let client: LoopClient
    let console: Console
    /// The schema of the files.
    let files: [SchemaSource.Source]
  }

  /// How often a server is asked again, at most.
  private static let askInterval = Duration.seconds(5)

  private(set) var pool: DescriptorPool
  /// Whether the server itself responds to requests for the schema.
  let isReflected: Bool
  private let server: Server?
  /// The methods that were called.
  private var methods: [MethodName: MethodDescriptor] = [:]
  private var reflector: Reflector?
  private var lastAsked: MonotonicClock.Instant?
  /// What the server has sent.
  private var lastSet: SchemaBytes?
  /// Called when the schema has been replaced.
  var whenReplaced: () -> Void = {}

  /// Makes the schema of a pool.
  convenience init(_ pool: DescriptorPool, isReflected: Bool) {
    self.init(pool, isReflected: isReflected, nil)
  }

  private init(_ pool: DescriptorPool, isReflected: Bool, _ server: Server?) {
    (self.pool, self.isReflected, self.server) = (pool, isReflected, server)
  }

  /// Reads the files that options name, and asks the server for the rest.
  ///
  /// - Parameters:
  ///   - reflection: The server as a source; nil if there is none.
  ///   - client: Asks the server again.
  convenience init(
    _ options: Invocation, _ reflection: ReflectionSource?, _ client: LoopClient, _ console: Console
  ) throws {
    let files = try SchemaSource.sources(options, console.error, waitLimit: options.duration(.maxTime))
    var sources = files
    var server: Server?
    var read: SchemaBytes?
    if var reflection, options.asksServer {
      reflection.isOptional = true
      do throws(Failure) {
        if let (fetched, _) = try reflection.fetchAll() {
          sources.append(fetched)
          read = fetched.set
          server = Server(reflection: reflection, client: client, console: console, files: files)
        }
      } catch {
        guard let message = error.message, error.status != .interrupted else { throw error }
        let text = "rpcurl: \(message.what): \(message.why); until it has responded, calls pass as bytes"
        console.error.remark(TerminalText.escape(text) + "\n")
        // Perhaps the server has reflection when it runs.
        server = Server(reflection: reflection, client: client, console: console, files: files)
      }
    }
    let pool = try Self.pool(sources)
    self.init(pool, isReflected: server != nil, server)
    lastSet = read
  }

  private static func pool(_ sources: [SchemaSource.Source]) throws -> DescriptorPool {
    try SchemaSource.pool(sources + [SchemaSource.builtInServices])
  }

  /// Asks the server for its schema again: it may have been started, or replaced by a newer one.
  private func askAgain() {
    let now = MonotonicClock.now
    guard let server, reflector == nil, lastAsked.map({ now - $0 >= Self.askInterval }) != false else {
      return
    }
    lastAsked = now
    reflector = server.client.reflect(server.reflection.request(.allServices))
    reflector?.whenDone = { [weak self] in self?.receive(server) }
  }

  private func receive(_ server: Server) {
    let result = reflector?.result
    reflector = nil
    guard case .success(let schema)? = result else { return }
    let source = server.reflection.source(of: schema)
    guard lastSet?.bytes.elementsEqual(source.set.bytes) != true,
      let pool = try? Self.pool(server.files + [source])
    else { return }
    (self.pool, lastSet) = (pool, source.set)
    methods = [:]
    let text = "rpcurl: the schema of \(server.reflection.target.name) was read again"
    server.console.error.remark(TerminalText.escape(text) + "\n")
    whenReplaced()
  }

  /// The names of the services, without those of gRPC itself that no other source has.
  var ownServiceNames: [String] {
    pool.symbols([.service]).filter { $0.source != WellKnownSchemas.sourceName }.map(\.name)
  }

  /// The methods that the schema has besides those of gRPC itself, and these; empty if it has none.
  var allMethods: [MethodName: MethodDescriptor] {
    guard !ownServiceNames.isEmpty else { return [:] }
    var found: [MethodName: MethodDescriptor] = [:]
    for name in pool.symbols([.service]).map(\.name) {
      for method in (try? pool.service(named: name))?.methods ?? [] {
        found[MethodName(service: name, method: method.name)] = method
      }
    }
    return found
  }

  /// A method; nil if the schema does not have it. Then the server is asked for calls that follow.
  func method(_ name: MethodName) -> MethodDescriptor? {
    if let known = methods[name] { return known }
    let method = try? pool.method(service: name.service, method: name.method)
    // Not the names of methods that do not exist: clients choose them.
    if let method { methods[name] = method } else { askAgain() }
    return method
  }
}
