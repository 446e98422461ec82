import RPCurlBase
import RPCurlCall
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The schema of a session, from files and from the server, for all calls.
///
/// The server's part is read again when it is as old as a schema that a single call takes from the cache may be, when a
/// method is not found, and when data or a response does not fit it.
package final class SessionSchema {
  private let error: StandardError
  private var own: [SchemaSource.Source]?
  /// The schema of files, which calls use that need nothing of the server.
  private var files: DescriptorPool?
  /// The complete schema; nil until it is first needed.
  package private(set) var pool: DescriptorPool?
  /// The services that the server lists, some of which it may not describe; nil until it is asked.
  private var services: [String]?
  /// The server's part of `pool`, and when it is read again; nil if it is only from files.
  private var remote: (set: SchemaBytes, end: MonotonicClock.Instant)?
  /// Finds names that the last call's schema lacks.
  private var lookup: NameLookup?

  /// - Parameter error: Where messages about schemas are printed.
  package init(_ error: StandardError) {
    self.error = error
  }

  /// Drops the server's schema, because the target changed. The schema of files may have names of the server, too.
  package func forgetServer() {
    files = nil
    pool = nil
    services = nil
    remote = nil
    lookup = nil
  }

  /// Drops everything, because the sources changed.
  package func forget() {
    forgetOwn()
    forgetServer()
  }

  private func forgetOwn() {
    own = nil
    files = nil
  }

  /// Whether a part of the schema is the server's.
  package var isFromServer: Bool { remote != nil }

  /// What finds names that the schema of a plan lacks, each once for all calls with this schema; nil if the server must not
  /// be asked.
  package func lookup(for plan: CallPlan, _ client: LoopClient) -> NameLookup? {
    if lookup?.adopt(plan) != true { lookup = NameLookup(plan, client: client) }
    return lookup
  }

  /// Makes the next call read the server's schema again.
  package func expire() {
    remote?.end = .now
  }

  /// The complete schema, and the services that the server lists. If the schema is from the cache and lacks one of them,
  /// reads the server's schema again.
  package func complete(
    _ options: Invocation, server: ReflectionSource?
  ) throws(Failure) -> (pool: DescriptorPool, listed: [String]) {
    let known = try pool(options, server: server)
    if let services { return (known, services) }
    let listed = try server?.schema(for: .serviceNames).services ?? []
    services = listed
    guard !SchemaQuery.undescribed(listed, in: known).isEmpty,
      let fresh = try changed(options, server: server)
    else { return (known, listed) }
    return (fresh, services ?? listed)
  }

  /// The complete schema.
  ///
  /// - Parameters:
  ///   - options: The schema options.
  ///   - server: The server to ask; nil if reflection is off.
  package func pool(_ options: Invocation, server: ReflectionSource?) throws(Failure) -> DescriptorPool {
    guard let pool else { return try read(options, server, usesCache: true) }
    guard let remote, remote.end <= .now else { return pool }
    return try changed(options, server: server) ?? pool
  }

  /// Reads files and the server's schema again.
  package func reread(_ options: Invocation, server: ReflectionSource?) throws(Failure)
    -> DescriptorPool
  {
    forgetOwn()
    return try read(options, server, usesCache: false)
  }

  /// Reads the server's schema again. Returns the schema if the server's part has changed.
  ///
  /// If the server does not describe itself now, the known schema remains.
  ///
  /// - Throws: `Failure` if a signal arrived.
  package func changed(_ options: Invocation, server: ReflectionSource?) throws(Failure)
    -> DescriptorPool?
  {
    guard let server, let before = remote else { return nil }
    let known = (pool, services)
    do {
      let fresh = try read(options, server, usesCache: false)
      return before.set.isEqual(to: remote?.set) ? nil : fresh
    } catch {
      (pool, services) = known
      remote = (before.set, .now + ReflectionSource.freshness)
      if Interrupt.isPending { throw error }
      return nil
    }
  }

  /// The method with this name. The server is asked only if no other source has it; if it is not found then, reads the
  /// server's schema again.
  package func method(
    _ name: MethodName, _ options: Invocation, server: ReflectionSource?
  ) throws(Failure) -> (DescriptorPool, MethodDescriptor) {
    if pool == nil, server != nil, let found = try methodOfFiles(name, options) { return found }
    let known = try pool(options, server: server)
    do {
      return (known, try SchemaSource.find(name, in: known))
    } catch {
      guard let fresh = try changed(options, server: server) else { throw error }
      return (fresh, try SchemaSource.find(name, in: fresh))
    }
  }

  /// The method with this name, if it is known without a call; nil if only the server may have it.
  ///
  /// - Throws: `Failure` if files cannot be read, or if they lack the method and the server is not asked.
  func known(_ name: MethodName, _ options: Invocation) throws(Failure) -> MethodDescriptor? {
    if let found = try methodOfFiles(name, options) { return found.1 }
    return options.asksServer ? nil : try SchemaSource.find(name, in: pool(options, server: nil))
  }

  /// The method with this name in files; nil if they lack it.
  private func methodOfFiles(
    _ name: MethodName, _ options: Invocation
  ) throws(Failure) -> (DescriptorPool, MethodDescriptor)? {
    let sources = try sources(options)
    guard !sources.isEmpty else { return nil }
    let files = if let files { files } else { try SchemaSource.pool(sources, withOptions: true) }
    self.files = files
    return (try? SchemaSource.find(name, in: files)).map { (files, $0) }
  }

  /// The sources that the options name.
  private func sources(_ options: Invocation) throws(Failure) -> [SchemaSource.Source] {
    if let own { return own }
    let sources = try SchemaSource.sources(
      options, error, waitLimit: options.duration(.maxTime),
      readLimitBytes: FileContents.dataLimitBytes)
    own = sources
    return sources
  }

  private func read(
    _ options: Invocation, _ server: ReflectionSource?, usesCache: Bool
  ) throws(Failure) -> DescriptorPool {
    var sources = try sources(options)
    var remote: (set: SchemaBytes, end: MonotonicClock.Instant)?
    if var server {
      server.isOptional = !sources.isEmpty
      if usesCache, let cached = server.cached(ReflectionSource.allServices) {
        cached.report()
        sources.append(cached.source)
        remote = (cached.source.set, .now + ReflectionSource.freshness - cached.age)
      } else if let (source, services) = try server.fetchAll() {
        self.services = services
        sources.append(source)
        remote = (source.set, .now + ReflectionSource.freshness)
      } else {
        services = []
      }
    } else if sources.isEmpty {
      throw Failure(
        .schema, "no schema", "reflection is off, and neither --proto nor --descriptor-set is given",
        hint: "omit --no-reflect, or use --proto FILE or --descriptor-set FILE")
    }
    let read = try SchemaSource.pool(sources, withOptions: true)
    self.remote = remote
    pool = read
    return read
  }
}

extension SchemaBytes {
  /// Whether both have the same bytes.
  fileprivate func isEqual(to other: SchemaBytes?) -> Bool {
    other.map { bytes.elementsEqual($0.bytes) } ?? false
  }
}
