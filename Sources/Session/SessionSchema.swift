import Calls
import Output
import Protobuf
import RPCProtocols

/// The schema of a session, from files and from the server, cached for all calls.
package final class SessionSchema {
  private let error: StandardError
  private var own: [SchemaSource.Source]?
  /// The complete schema; nil until it is first needed.
  package private(set) var pool: DescriptorPool?
  /// The services that the server lists, some of which it may not describe; nil until it is asked.
  private var services: [String]?
  /// Whether the schema came from the cache on disk and may be outdated.
  private var isFromCache = false

  /// - Parameter error: Where messages about schemas are printed.
  package init(_ error: StandardError) {
    self.error = error
  }

  /// Drops the server's schema, because the target changed.
  package func forgetServer() {
    pool = nil
    services = nil
  }

  /// Drops everything, because the sources changed.
  package func forget() {
    own = nil
    forgetServer()
  }

  /// The services that the server lists.
  package func listed(by server: ReflectionSource?) throws(Failure) -> [String] {
    if let services { return services }
    let services = try server?.schema(for: .serviceNames).services ?? []
    self.services = services
    return services
  }

  /// The complete schema.
  ///
  /// - Parameters:
  ///   - options: The schema options.
  ///   - server: The server to ask; nil if reflection is off.
  package func pool(_ options: some CallOptions, server: ReflectionSource?) throws(Failure) -> DescriptorPool
  {
    if let pool { return pool }
    return try read(options, server, usesCache: true)
  }

  /// Fetches the server's schema again.
  package func reread(_ options: some CallOptions, server: ReflectionSource?) throws(Failure)
    -> DescriptorPool
  {
    own = nil
    return try read(options, server, usesCache: false)
  }

  /// The method with this name. If a schema from the cache lacks it, fetches the server's schema again.
  package func method(
    _ name: MethodName, _ options: some CallOptions, server: ReflectionSource?
  ) throws(Failure) -> (DescriptorPool, MethodDescriptor) {
    let known = try pool(options, server: server)
    do {
      return (known, try SchemaSource.find(name, in: known))
    } catch {
      guard isFromCache else { throw error }
      let fresh = try read(options, server, usesCache: false)
      return (fresh, try SchemaSource.find(name, in: fresh))
    }
  }

  private func read(
    _ options: some CallOptions, _ server: ReflectionSource?, usesCache: Bool
  ) throws(Failure) -> DescriptorPool {
    var sources: [SchemaSource.Source]
    if let own {
      sources = own
    } else {
      sources = try SchemaSource.sources(
        options.schema, error, waitLimit: options.request.maxTime)
      own = sources
    }
    isFromCache = false
    if let server {
      if usesCache, let cached = server.cached(ReflectionSource.allServices) {
        cached.report()
        isFromCache = true
        sources.append(cached.source)
      } else {
        let (source, services) = try server.fetchAll()
        self.services = services
        sources.append(source)
      }
    } else if sources.isEmpty {
      throw Failure(
        .schema, "no schema", "reflection is off, and neither --proto nor --descriptor-set is given",
        hint: "omit --no-reflect, or use --proto FILE or --descriptor-set FILE")
    }
    let read = try SchemaSource.pool(sources, withOptions: true)
    pool = read
    return read
  }
}
