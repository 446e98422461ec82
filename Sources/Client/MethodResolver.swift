import RPCurlBase
import RPCurlCall
import RPCurlProtobuf
import RPCurlProtocols

/// Finds the methods of a client in its schema.
final class MethodResolver: Sendable {
  private struct State {
    var methods: [MethodName: MethodDescriptor] = [:]
    var opaqueMethods: [MethodName: MethodDescriptor] = [:]
  }

  private let pool: DescriptorPool
  /// Requests the descriptor set of a symbol; nil if the schema is complete.
  private let reflect: (@Sendable (_ symbol: String) async throws(RPCError) -> [UInt8])?
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

  /// Finds a method by `pkg.Service/Method`.
  func method(_ text: String, _ isKind: (CallKind) -> Bool) async throws(RPCError) -> MethodDescriptor {
    guard let name = MethodName(text) else {
      throw RPCError(.invalidArgument, "\(text) is not a method: write pkg.Service/Method", origin: .request)
    }
    let method = try await find(name)
    guard isKind(method.kind) else {
      throw RPCError(
        .invalidArgument, "\(name) is a method of the kind \(method.kind.rawValue)", origin: .request)
    }
    return method
  }

  /// The descriptor for a method with generated types: that of the schema, if it has the method.
  func descriptor(_ name: MethodName, _ kind: CallKind) throws(RPCError) -> MethodDescriptor {
    if !isEmpty, let method = try known(name), method.kind == kind { return method }
    if let method = state.withLock({ $0.opaqueMethods[name] }) { return method }
    do {
      let method = try OpaqueMethod.descriptor(of: name, kind)
      state.withLock { $0.opaqueMethods[name] = method }
      return method
    } catch {
      throw RPCError(.invalidArgument, "\(name): \(error)", origin: .request)
    }
  }

  private func find(_ name: MethodName) async throws(RPCError) -> MethodDescriptor {
    if let method = try known(name) { return method }
    if let reflect {
      try await add(name.service, reflect)
      if let method = try known(name) { return method }
    }
    throw RPCError(.unimplemented, "\(name) is not in the schema", origin: .request)
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
    do throws(SchemaError) {
      guard let method = try pool.method(service: name.service, method: name.method) else { return nil }
      state.withLock { $0.methods[name] = method }
      return method
    } catch {
      throw RPCError(.invalidArgument, "\(error)", origin: .request)
    }
  }
}
