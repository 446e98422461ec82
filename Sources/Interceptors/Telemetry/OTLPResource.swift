import RPCurlChain
import RPCurlProtocols

/// What telemetry is about, by the environment variables of OpenTelemetry: this program.
struct OTLPResource: Sendable {
  /// The attributes, in order.
  let attributes: [InterceptorSpec.Setting]

  /// Reads `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. The service is `rpcurl` if they name none.
  init(_ services: any InterceptorServices) {
    var attributes = Self.pairs(services.environment("OTEL_RESOURCE_ATTRIBUTES") ?? "")
    let name = services.environment("OTEL_SERVICE_NAME") ?? ""
    if !name.isEmpty || !attributes.contains(where: { $0.key == "service.name" }) {
      attributes.removeAll { $0.key == "service.name" }
      attributes.append(InterceptorSpec.Setting(key: "service.name", value: name.isEmpty ? "rpcurl" : name))
    }
    self.attributes = attributes
  }

  /// Wraps signals in the message that is exported: `ExportTraceServiceRequest`, `ExportMetricsServiceRequest`, or
  /// `TracesData` in a file, whose fields have the same numbers.
  ///
  /// - Parameter signals: Serialized spans or metrics.
  func request(_ signals: [[UInt8]]) -> [UInt8] {
    var resource = OTLPMessage()
    for attribute in attributes { resource.add(1, attribute: attribute.key, attribute.value) }
    var scope = OTLPMessage()
    scope.add(1, "rpcurl")
    var scoped = OTLPMessage()
    scoped.add(1, bytes: scope.bytes)
    for signal in signals { scoped.add(2, bytes: signal) }
    var part = OTLPMessage()
    part.add(1, bytes: resource.bytes)
    part.add(2, bytes: scoped.bytes)
    var request = OTLPMessage()
    request.add(1, bytes: part.bytes)
    return request.bytes
  }

  /// Parses a list `KEY=VALUE,KEY=VALUE`, with percent-encoded values, as the variables contain it. Invalid members are
  /// ignored.
  static func pairs(_ text: String) -> [InterceptorSpec.Setting] {
    var pairs: [InterceptorSpec.Setting] = []
    for member in text.split(separator: ",") {
      guard let equals = member.firstIndex(of: "=") else { continue }
      let key = String(member[..<equals]).trimmingBlanks
      let value = PercentEncoding.decode(String(member[member.index(after: equals)...]).trimmingBlanks)
      if !key.isEmpty { pairs.append(InterceptorSpec.Setting(key: key, value: value)) }
    }
    return pairs
  }
}
