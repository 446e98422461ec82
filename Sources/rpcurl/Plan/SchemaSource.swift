import Protobuf
import RPCProtocols

/// Finds methods in the schema that the options name.
enum SchemaSource {
  /// The method, and the pool that it is of.
  ///
  /// Descriptor sets come first. The server is asked when they do not know the method's service; an earlier answer
  /// of it will do if that is not old and knows the method.
  static func find(
    _ name: MethodName, descriptorSets: [String], reflection: ReflectionSource?
  ) throws(Failure) -> (DescriptorPool, MethodDescriptor) {
    guard let reflection else {
      let own = try pool(descriptorSets: descriptorSets)
      return (own, try method(name, in: own))
    }
    let sets = try map(descriptorSets)
    let own = try pool(sets)
    guard try !knows(name.service, own) else { return (own, try method(name, in: own)) }
    if let cached = reflection.cached(name.service), let pool = try? pool(sets + [cached.source]),
      let method = try? method(name, in: pool)
    {
      cached.tell()
      return (pool, method)
    }
    let pool = try pool(sets + [reflection.fetch(name, known: own.serviceNames)])
    return (pool, try method(name, in: pool))
  }

  /// A pool of the descriptor sets, of which there must be one.
  static func pool(descriptorSets: [String]) throws(Failure) -> DescriptorPool {
    guard !descriptorSets.isEmpty else {
      throw Failure(
        .schema, "schema", "no source given",
        hint: "name a descriptor set with --descriptor-set FILE; "
          + "protoc --include_imports --descriptor_set_out=FILE makes one")
    }
    return try pool(map(descriptorSets))
  }

  /// A source of a pool: a descriptor set, and its name in errors.
  struct Source {
    let set: SchemaBytes
    let name: String
  }

  private static func map(_ paths: [String]) throws(Failure) -> [Source] {
    var sources: [Source] = []
    for path in paths {
      do {
        sources.append(Source(set: try FileContents.map(path), name: path))
      } catch {
        throw Failure(.schema, path, error.why)
      }
    }
    return sources
  }

  /// A pool of the sources, in order, and of the well-known types behind them.
  private static func pool(_ sources: [Source]) throws(Failure) -> DescriptorPool {
    let pool = DescriptorPool()
    do {
      for source in sources { try pool.add(source.set, source: source.name) }
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    } catch {
      throw failure(error)
    }
    return pool
  }

  private static func knows(_ service: String, _ pool: DescriptorPool) throws(Failure) -> Bool {
    do {
      return try pool.service(named: service) != nil
    } catch {
      throw failure(error)
    }
  }

  /// The method, or an error that names the nearest ones.
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

  private static func unknown(_ name: MethodName, in pool: DescriptorPool) throws(SchemaError) -> Failure {
    guard let service = try pool.service(named: name.service) else {
      return unknownService(name, "the schema has no service \(name.service)", services: pool.serviceNames)
    }
    let names = service.methods.map(\.name)
    return Failure(
      .schema, name.description, "\(name.service) has no method \(name.method)",
      hint: suggestion(
        DescriptorPool.nearestNames(to: name.method, among: names).map { "\(name.service)/\($0)" })
        ?? (names.isEmpty ? "it has no method at all" : "it has \(list(names))"))
  }

  /// The failure for a service that is not among `services`.
  static func unknownService(_ name: MethodName, _ why: String, services: [String]) -> Failure {
    let nearest = DescriptorPool.nearestNames(to: name.service, among: services)
    return Failure(
      .schema, name.description, why,
      hint: suggestion(nearest.map { "\($0)/\(name.method)" })
        ?? (services.isEmpty ? "it has no service at all" : "it has \(list(services))"))
  }

  private static func suggestion(_ names: [String]) -> String? {
    names.isEmpty ? nil : "did you mean \(names.joined(separator: ", or "))?"
  }

  private static func list(_ names: [String]) -> String {
    names.count <= 8
      ? names.joined(separator: ", ")
      : names.prefix(8).joined(separator: ", ") + " and \(names.count - 8) more"
  }

  private static func failure(_ error: any Error) -> Failure {
    guard let error = error as? SchemaError else { return Failure(.internalError, "schema", "\(error)") }
    return Failure(.schema, "", error.description, hint: error.hint)
  }
}
