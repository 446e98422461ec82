@testable import Protobuf
@testable import Session

/// What a session might know: two services, a few commands, a stream if one is asked for.
final class KnownSession: SessionKnowledge {
  /// Fixtures/shop.proto, by `protoc --descriptor_set_out`.
  private static let schema = """
    CoIDCgpzaG9wLnByb3RvEgRzaG9wIn8KBU9yZGVyEg4KAmlkGAEgASgJUgJpZBIdCgppdGVtX2NvdW50GAIgASgFUglpdGVt\
    Q291bnQSJAoGc3RhdHVzGAMgASgOMgwuc2hvcC5TdGF0dXNSBnN0YXR1cxIhCgVwYXJ0cxgEIAMoCzILLnNob3AuT3JkZXJS\
    BXBhcnRzIhsKBVF1ZXJ5EhIKBHRleHQYASABKAlSBHRleHQqKQoGU3RhdHVzEgsKB1VOS05PV04QABIICgRPUEVOEAESCAoE\
    RE9ORRACMnIKBk9yZGVycxIhCgVQbGFjZRILLnNob3AuT3JkZXIaCy5zaG9wLk9yZGVyEiMKBVdhdGNoEgsuc2hvcC5RdWVy\
    eRoLLnNob3AuT3JkZXIwARIgCgRGaW5kEgsuc2hvcC5RdWVyeRoLLnNob3AuT3JkZXIyKQoFU3RvY2sSIAoERmluZBILLnNo\
    b3AuUXVlcnkaCy5zaG9wLk9yZGVyYgZwcm90bzM=
    """

  let pool: DescriptorPool?
  let services = ["shop.Stock", "shop.Orders"]
  var currentRequestType: MessageType?
  let interceptorNames = ["retry", "sign"]
  let openStreams = [(number: 2, note: "shop.Orders/Watch open, 0 received"), (number: 12, note: "")]
  let variables = ["last", "list", "order_id"]
  let commands = [
    SessionVerb(
      name: "call", usage: "call METHOD [JSON]", summary: "Call a method", arguments: [.method, .json]),
    SessionVerb(
      name: "close", usage: "close", summary: "Half-close the stream", arguments: []),
    SessionVerb(
      name: "describe", usage: "describe [SYMBOL]", summary: "Show the schema", arguments: [.symbol]),
    SessionVerb(name: "plugin", usage: "plugin load PATH", summary: "", arguments: [.file, .text]),
    SessionVerb(name: "source", usage: "source FILE", summary: "Run a file", arguments: [.file]),
    SessionVerb(name: "switch", usage: "switch N", summary: "Send to it", arguments: [.stream]),
    SessionVerb(name: "use", usage: "use NAME[,KEY=VALUE…]", summary: "Add one", arguments: [.interceptor]),
    SessionVerb(
      name: "verbose", usage: "verbose on|off", summary: "Tell more", arguments: [.choice(["on", "off"])]),
  ]

  var begun = ""

  init() throws {
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(Base64.decode(Array(Self.schema.utf8)) ?? []), source: "shop")
    self.pool = pool
  }

  func requestType(of method: String) -> MessageType? {
    let name = method.split(separator: "/").last.map(String.init) ?? method
    for service in services {
      if let found = try? pool?.service(named: service)?.method(named: name) { return found.input }
    }
    return nil
  }

  func learn(_ completion: @escaping () -> Void) { completion() }

  /// Opens a stream of orders.
  func open() throws -> KnownSession {
    currentRequestType = try pool?.messageType(named: "shop.Order")
    return self
  }
}
