import RPCurlBase
import RPCurlChain
import RPCurlProtobuf

extension ChainSource.Member {
  /// Reports, once, that patterns of the key `methods` name methods which their service does not have: they select no call.
  ///
  /// - Parameters:
  ///   - name: The full name of the service that is called.
  ///   - pool: The schema.
  ///   - log: Receives a warning for each pattern.
  func reportUnknownMethods(of name: String, _ pool: DescriptorPool, _ log: LogSink) {
    let methods = registration.scope.methods
    let named = (methods.wanted + methods.unwanted).compactMap { $0.method(of: name) }
    guard !named.isEmpty, let service = try? pool.service(named: name) else { return }
    let known = service.methods.map(\.name)
    let unknown = named.filter { !known.contains($0) }
    guard !unknown.isEmpty else { return }
    unknownMethods.report {
      for method in unknown {
        let near = EditDistance.nearest(to: method, among: known, limit: 1).first
        let hint = near.map { "; did you mean \($0)?" } ?? ""
        let text = "methods: \(name) has no method \(method)\(hint)"
        log(LogRecord(level: .warning, source: registration.name, text: text))
      }
    }
  }
}
