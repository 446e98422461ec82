import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// Finds methods in the schema that the options specify.
package enum SchemaSource {
  /// A method and its pool.
  package struct Found {
    /// The source of the schema.
    package enum Origin {
      case files
      /// A cached schema of the server.
      case cache
      case server
    }

    package let pool: DescriptorPool
    package let method: MethodDescriptor
    package let origin: Origin
  }

  /// Finds a method and its pool.
  ///
  /// Files come first. If they lack the service, the server is asked, or a cached schema is used that is not too old
  /// and has the method.
  package static func find(
    _ name: MethodName, schema: Invocation, reflection: ReflectionSource?, _ error: StandardError,
    waitLimit: Duration?
  ) throws(Failure) -> Found {
    guard let reflection else {
      let given = schema.hasSchema ? try sources(schema, error, waitLimit: waitLimit) : []
      if let found = try builtIn(name, after: given) { return found }
      try requireSchema(schema)
      let own = try pool(given)
      return Found(pool: own, method: try method(completed(name, in: own), in: own), origin: .files)
    }
    let sets = try sources(schema, error, waitLimit: waitLimit)
    let own = try pool(sets)
    if schema.hasSchema, let known = try SymbolLookup(own).method(name) {
      return Found(pool: own, method: try method(known, in: own), origin: .files)
    }
    guard try !knows(name.service, own) else {
      return Found(pool: own, method: try method(name, in: own), origin: .files)
    }
    // A request for the schema of every server would give the same.
    if !reflection.isForced, let found = try builtIn(name, after: sets) {
      if reflection.isVerbose { error.write("* schema: built in\n") }
      return found
    }
    // The schema of all services is that of a call by a short name.
    for service in reflection.isOffline ? [name.service, ""] : [name.service] {
      guard let cached = reflection.cached(service), let pool = try? pool(sets + [cached.source]),
        let method = try? method(completed(name, in: pool), in: pool)
      else { continue }
      cached.report()
      return Found(pool: pool, method: method, origin: .cache)
    }
    let (fetched, known) = try reflection.fetch(name, known: own.serviceNames)
    let pool = try pool(sets + [fetched])
    return Found(pool: pool, method: try method(completed(known, in: pool), in: pool), origin: .server)
  }

  /// The method of a service of gRPC itself, such as health, if no other source declares it.
  private static func builtIn(_ name: MethodName, after sources: [Source]) throws(Failure) -> Found? {
    guard WellKnownSchemas.mayDeclareService(name.service) else { return nil }
    let pool = try pool(sources + [builtInServices])
    guard let method = try? method(name, in: pool) else { return nil }
    return Found(pool: pool, method: method, origin: .files)
  }

  /// The services of gRPC itself, the last source.
  package static var builtInServices: Source {
    Source(set: WellKnownSchemas.services, name: WellKnownSchemas.sourceName)
  }

  /// The method of `pool` with this name, or with this unique suffix.
  package static func find(_ name: MethodName, in pool: DescriptorPool) throws(Failure) -> MethodDescriptor {
    try method(completed(name, in: pool), in: pool)
  }

  /// Completes a name that is a unique suffix.
  private static func completed(_ name: MethodName, in pool: DescriptorPool) throws(Failure) -> MethodName {
    guard try !knows(name.service, pool) else { return name }
    return try SymbolLookup(pool).method(name) ?? name
  }

  /// The pool of the files that the options name, of which there must be one.
  package static func pool(
    _ schema: Invocation, _ error: StandardError, waitLimit: Duration? = nil
  ) throws(Failure) -> DescriptorPool {
    try requireSchema(schema)
    return try pool(sources(schema, error, waitLimit: waitLimit))
  }

  private static func requireSchema(_ schema: Invocation) throws(Failure) {
    guard !schema.hasSchema else { return }
    throw Failure(
      .schema, "no schema", "reflection is off, and neither --proto nor --descriptor-set is given",
      hint: "use --proto FILE, or --descriptor-set FILE")
  }

  /// A descriptor set, and its name in errors.
  package struct Source {
    package let set: SchemaBytes
    package let name: String
    /// The paths of sources, as a user writes them, by the names of files in the set.
    package var paths: [String: String] = [:]
  }

  /// The files that the options name, in the order of precedence.
  ///
  /// - Parameters:
  ///   - schema: The options.
  ///   - error: Where warnings are printed.
  ///   - waitLimit: How long to wait for data from a pipe, and for buf; nil for no limit.
  ///   - readLimitBytes: The size up to which a descriptor set is read, not mapped.
  package static func sources(
    _ schema: Invocation, _ error: StandardError, waitLimit: Duration? = nil,
    readLimitBytes: Int = FileContents.readDescriptorSetBytes
  ) throws(Failure) -> [Source] {
    var sources: [Source] = []
    for argument in schema.descriptorSets {
      let path = argument.text ?? ""
      do {
        let set = try FileContents.descriptorSet(path, waitLimit: waitLimit, readLimitBytes: readLimitBytes)
        sources.append(Source(set: set, name: path))
      } catch let problem {
        throw Failure(.schema, path, problem).at(argument.origin)
      }
    }
    if !schema.protos.isEmpty {
      do throws(Failure) {
        let compiler = SourceCompiler(schema, error, waitLimit: waitLimit)
        sources.append(try compiler.compile(schema.protos.compactMap(\.text)))
      } catch let failure {
        // All files are compiled at once.
        throw failure.at(schema.protos.count == 1 ? schema.protos.first?.origin : nil)
      }
    }
    return sources
  }

  /// The pool of the sources, in order, followed by the well-known types.
  package static func pool(_ sources: [Source], withOptions: Bool = false) throws(Failure) -> DescriptorPool {
    let pool = DescriptorPool()
    do {
      for source in sources { try pool.add(source.set, source: source.name) }
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
      if withOptions { try pool.add(WellKnownSchemas.optionTypes, source: WellKnownSchemas.sourceName) }
    } catch {
      throw failure(error)
    }
    return pool
  }

  private static func knows(_ service: String, _ pool: DescriptorPool) throws(Failure) -> Bool {
    do {
      return try pool.hasService(named: service)
    } catch {
      throw failure(error)
    }
  }

  /// The method, or a failure that suggests similar names.
  private static func method(_ name: MethodName, in pool: DescriptorPool) throws(Failure) -> MethodDescriptor
  {
    do {
      if let method = try pool.method(service: name.service, method: name.method) { return method }
      throw try unknown(name, in: pool)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw failure(error)
    }
  }

  package static func failure(_ error: any Error) -> Failure {
    guard let error = error as? SchemaError else { return Failure(.internalError, "schema", "\(error)") }
    return Failure(.schema, "", error.description, hint: error.hint)
  }
}
