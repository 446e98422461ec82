import Protobuf
import CallEngine
import RPCProtocols

/// Finds the methods of a client in its schema.
final class MethodResolver: Sendable {
  private struct State {
    var methods: [MethodName: MethodDescriptor] = [:]
    var opaqueMethods: [MethodName: MethodDescriptor] = [:]
  }

  private let pool: DescriptorPool
  /// Requests the descriptor set of a service; nil if the schema is complete.
  private let reflect: (@Sendable (_ service: String) async throws(RPCError) -> [UInt8])?
  private let isEmpty: Bool
  private let state = Locked(State())

  init(
    _ schema: Schema, reflect: @escaping @Sendable (_ service: String) async throws(RPCError) -> [UInt8]
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
    if let method = state.with({ $0.opaqueMethods[name] }) { return method }
    do {
      let method = try OpaqueMethod.descriptor(of: name, kind)
      state.with { $0.opaqueMethods[name] = method }
      return method
    } catch {
      throw RPCError(.invalidArgument, "\(name): \(error)", origin: .request)
    }
  }

  private func find(_ name: MethodName) async throws(RPCError) -> MethodDescriptor {
    if let method = try known(name) { return method }
    if let reflect {
      let set = try await reflect(name.service)
      do throws(SchemaError) {
        // Files that an earlier service has brought are ignored.
        try pool.add(SchemaBytes(set), source: "reflection of \(name.service)")
      } catch {
        throw RPCError(.internal, "\(error)", origin: .violation)
      }
      if let method = try known(name) { return method }
    }
    throw RPCError(.unimplemented, "\(name) is not in the schema", origin: .request)
  }

  private func known(_ name: MethodName) throws(RPCError) -> MethodDescriptor? {
    if let method = state.with({ $0.methods[name] }) { return method }
    do throws(SchemaError) {
      guard let method = try pool.method(service: name.service, method: name.method) else { return nil }
      state.with { $0.methods[name] = method }
      return method
    } catch {
      throw RPCError(.invalidArgument, "\(error)", origin: .request)
    }
  }
}
