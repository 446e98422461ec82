import CPluginABI
import Interception
import RPCProtocols

/// A call as a plugin can ask for it.
final class PluginCall: @unchecked Sendable {
  let facts: CallFacts
  let context: CallContext
  /// The facts in the plugin's form; their texts live as long as this.
  let plain: rpcurl_call_facts
  private let arena: Arena

  init(_ facts: CallFacts, _ context: CallContext) {
    self.facts = facts
    self.context = context
    let arena = Arena()
    self.arena = arena
    plain = rpcurl_call_facts(
      struct_size: MemoryLayout<rpcurl_call_facts>.size, kind: UInt32(Self.kind(facts.kind)), reserved: 0,
      method: arena.text(facts.method.description), protocol: arena.text(facts.protocolName.rawValue),
      codec: arena.text(facts.codec.rawValue), target: arena.text(facts.target),
      request_type: arena.text(facts.requestType?.name ?? ""),
      response_type: arena.text(facts.responseType?.name ?? ""))
  }

  private static func kind(_ kind: CallKind) -> Int32 {
    switch kind {
    case .unary: RPCURL_KIND_UNARY
    case .clientStreaming: RPCURL_KIND_CLIENT_STREAMING
    case .serverStreaming: RPCURL_KIND_SERVER_STREAMING
    case .bidiStreaming: RPCURL_KIND_BIDI_STREAMING
    }
  }
}

extension rpcurl_metrics {
  init(_ metrics: CallMetrics) {
    func nanoseconds(_ duration: Duration?) -> Int64 { duration?.wholeNanoseconds ?? -1 }
    self.init(
      struct_size: MemoryLayout<rpcurl_metrics>.size, total_ns: nanoseconds(metrics.total),
      connect_ns: nanoseconds(metrics.connect), tls_ns: nanoseconds(metrics.tls),
      first_byte_ns: nanoseconds(metrics.firstByte), sent_bytes: UInt64(metrics.sentBytes),
      received_bytes: UInt64(metrics.receivedBytes), sent_messages: UInt64(metrics.sentMessages),
      received_messages: UInt64(metrics.receivedMessages), attempts: UInt64(metrics.attempts))
  }
}

extension rpcurl_status {
  init(_ end: ResponseEnd, _ arena: Arena) {
    self.init(
      struct_size: MemoryLayout<rpcurl_status>.size, code: Int32(end.code.rawValue), reserved: 0,
      message: arena.text(end.error?.message ?? ""))
  }
}
