import RPCurlBase
import RPCurlCall
import RPCurlProtobuf
import RPCurlProtocols

/// The full names of the messages of a method.
package typealias MessageNames = (input: String, output: String)

/// What a program expects of a method, which a schema confirms.
struct MethodSignature: Sendable {
  /// Which sides are streams.
  let kind: CallKind
  /// The names of the messages; nil for those of the schema.
  let messages: MessageNames?

  /// Throws if a method has another kind or other messages.
  func check(_ method: MethodDescriptor) throws(RPCError) {
    let name = method.fullName
    guard method.kind == kind else {
      throw RPCError(
        .invalidArgument, "\(name) is a method of the kind \(method.kind.rawValue), not \(kind.rawValue)",
        origin: .request)
    }
    guard let messages else { return }
    for (part, type, given) in [
      ("request", method.input, messages.input), ("response", method.output, messages.output),
    ] where type.name != given {
      throw RPCError(
        .invalidArgument, "the \(part) of \(name) is a \(type.name), not a \(given)", origin: .request)
    }
  }
}

extension MethodName {
  /// Reads `pkg.Service/Method`.
  ///
  /// - Throws: `RPCError` with the code `invalidArgument` if the text has another form.
  init(checking text: String) throws(RPCError) {
    guard let name = MethodName(text) else {
      throw RPCError(.invalidArgument, "\(text) is not a method: write pkg.Service/Method", origin: .request)
    }
    self = name
  }
}

extension MethodDescriptor {
  /// The name with that of the service.
  var fullName: MethodName { MethodName(service: service, method: name) }
}

extension DescriptorPool {
  /// Finds a method; nil if the pool does not have it.
  ///
  /// - Throws: `RPCError` if its types are not usable.
  func method(_ name: MethodName) throws(RPCError) -> MethodDescriptor? {
    do throws(SchemaError) {
      return try method(service: name.service, method: name.method)
    } catch {
      throw RPCError(.invalidArgument, "\(error)", origin: .request)
    }
  }

  /// The error of a method that the pool does not have, with similar names.
  func missing(_ name: MethodName) -> RPCError {
    let near: [String]
    if let service = try? service(named: name.service) {
      near = EditDistance.nearest(to: name.method, among: service.methods.map(\.name))
        .map { "\(service.name)/\($0)" }
    } else {
      let services = serviceNames.compactMap { try? service(named: $0) }
      let methods = services.flatMap { service in service.methods.map { "\(service.name)/\($0.name)" } }
      let endings = EditDistance.endings(with: "\(name)", among: methods, separator: ".")
      near = endings.isEmpty ? EditDistance.nearest(to: "\(name)", among: methods, limit: 1) : endings
    }
    let question = near.isEmpty ? "" : "; did you mean \(near.joined(separator: ", "))?"
    return RPCError(.unimplemented, "\(name) is not in the schema\(question)", origin: .request)
  }
}
