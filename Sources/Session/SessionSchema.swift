import Calls
import Output
import Protobuf
import RPCProtocols

/// The schema of a session: what the options name, and what the server told, kept for all calls.
package final class SessionSchema {
  private var own: [SchemaSource.Source]?
  /// All that is known; `nil` until it is needed for the first time.
  package private(set) var pool: DescriptorPool?
  /// The names of services that the server lists, of which it may describe fewer; `nil` until it was asked.
  private var services: [String]?
  /// Whether the server told it before the session, so that it may be old.
  private var isFromCache = false

  /// Forgets what the server told: there is another one.
  package func forgetServer() {
    pool = nil
    services = nil
  }

  /// Forgets everything: other sources are named.
  package func forget() {
    own = nil
    forgetServer()
  }

  /// The names of services that the server lists.
  package func listed(by server: ReflectionSource?) throws(Failure) -> [String] {
    if let services { return services }
    let services = try server?.schema(for: .serviceNames).services ?? []
    self.services = services
    return services
  }

  /// All that is known.
  ///
  /// - Parameter server: The server, if it is to be asked.
  package func pool(_ options: some CallOptions, server: ReflectionSource?) throws(Failure) -> DescriptorPool
  {
    if let pool { return pool }
    return try read(options, server, usesCache: true)
  }

  /// Asks the server anew.
  package func reread(_ options: some CallOptions, server: ReflectionSource?) throws(Failure)
    -> DescriptorPool
  {
    own = nil
    return try read(options, server, usesCache: false)
  }

  /// The method that `name` means. What the server told long ago is not believed when it lacks the method.
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
      sources = try SchemaSource.sources(options.schema)
      own = sources
    }
    isFromCache = false
    if let server {
      if usesCache, let cached = server.cached(ReflectionSource.allServices) {
        cached.tell()
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
