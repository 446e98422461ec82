import RPCurlBase
import RPCurlCall
import RPCurlProtobuf
import RPCurlProtocols

/// Finds the methods of a client in its schema.
final class MethodResolver: Sendable {
  private struct State {
    var methods: [MethodName: MethodDescriptor] = [:]
    var opaqueMethods: [MethodName: [CallKind: MethodDescriptor]] = [:]
  }

  private let pool: DescriptorPool
  /// Requests the descriptor set of a symbol; nil if the schema is complete.
  private let reflect: (@Sendable (_ symbol: String) async throws(RPCError) -> [UInt8])?
  /// Whether there is no schema: any method may exist.
  private let isEmpty: Bool
  private let state = Locked(State())

  init(
    _ schema: Schema, reflect: @escaping @Sendable (_ symbol: String) async throws(RPCError) -> [UInt8]
  ) {
    switch schema.source {
    case .pool(let pool): (self.pool, self.reflect, isEmpty) = (pool, nil, false)
    case .reflection: (pool, self.reflect, isEmpty) = (DescriptorPool(), reflect, false)
    case .none: (pool, self.reflect, isEmpty) = (DescriptorPool(), nil, true)
    }
  }

  /// Finds a method by `pkg.Service/Method`, and checks its signature.
  func method(_ text: String, _ signature: MethodSignature) async throws(RPCError) -> MethodDescriptor {
    let method = try await find(try MethodName(checking: text))
    try signature.check(method)
    return method
  }

  /// The descriptor for a method with generated types, whose signature is checked if the schema is known. Without a schema, and
  /// before its part with the service is requested, it has only the name.
  func descriptor(_ name: MethodName, _ signature: MethodSignature) throws(RPCError) -> MethodDescriptor {
    if !isEmpty {
      if let method = try known(name) {
        try signature.check(method)
        return method
      }
      if reflect == nil { throw pool.missing(name) }
    }
    if let method = state.withLock({ $0.opaqueMethods[name]?[signature.kind] }) { return method }
    do {
      let method = try OpaqueMethod.descriptor(of: name, signature.kind)
      state.withLock { $0.opaqueMethods[name, default: [:]][signature.kind] = method }
      return method
    } catch {
      throw RPCError(.invalidArgument, "\(name): \(error)", origin: .request)
    }
  }

  private func find(_ name: MethodName) async throws(RPCError) -> MethodDescriptor {
    if let method = try known(name) { return method }
    guard !isEmpty else { throw Schema.missing(name) }
    if let reflect {
      try await add(name.service, reflect)
      if let method = try known(name) { return method }
    }
    throw pool.missing(name)
  }

  /// Adds to the pool what the server returns for a symbol.
  private func add(
    _ symbol: String, _ reflect: (_ symbol: String) async throws(RPCError) -> [UInt8]
  ) async throws(RPCError) {
    let set = try await reflect(symbol)
    do throws(SchemaError) {
      // Files that an earlier symbol has brought are ignored.
      try pool.add(SchemaBytes(set), source: "reflection of \(symbol)")
    } catch {
      throw RPCError(.internal, "\(error)", origin: .violation)
    }
  }

  /// Finds a type by its full name: in the schema, among those of `google.rpc`, and on a server that is asked for its
  /// schema. Nil if it is not found.
  func messageType(named name: String) async -> MessageType? {
    if let type = try? pool.messageType(named: name) ?? Self.builtIn.messageType(named: name) { return type }
    guard let reflect, (try? await add(name, reflect)) != nil else { return nil }
    return try? pool.messageType(named: name)
  }

  private static let builtIn: DescriptorPool = {
    let pool = DescriptorPool()
    // A built-in set. If it fails, details of these types are omitted.
    try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    return pool
  }()

  private func known(_ name: MethodName) throws(RPCError) -> MethodDescriptor? {
    if let method = state.withLock({ $0.methods[name] }) { return method }
    guard let method = try pool.method(name) else { return nil }
    state.withLock { $0.methods[name] = method }
    return method
  }
}
