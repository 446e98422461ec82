import RPCurlChain
import RPCurlCPlugins
import RPCurlProtocols

// Headers and trailers, the HTTP status, and metrics.
extension HostFunctions {
  func headerAt(_ token: rpcurl_token, _ index: Int) throws -> rpcurl_field {
    try withHeaders(token) { headers, arena in
      guard headers.fields.indices.contains(index) else {
        throw ABIFailure(RPCURL_ENOENT, "the index is out of range: there are \(headers.count) fields")
      }
      let found = headers.fields[index]
      return rpcurl_field(name: arena.text(found.name), value: arena.text(found.value))
    }
  }

  func headerFirst(_ token: rpcurl_token, _ name: rpcurl_text) throws -> rpcurl_text {
    let name = try name.string()
    let held = try held(token, "using a value")
    return try held.with { value, arena in
      arena.text(try first(name, of: value, held.call.facts).required("no header \(name)"))
    }
  }

  /// The first value of a header or trailer; of a request, as it is on the wire.
  private func first(
    _ name: String, of value: CallEvent<MessageValue>, _ facts: CallFacts
  ) throws -> String? {
    switch value {
    case .requestStart(let start):
      var facts = facts
      facts.start = start
      switch name.lowercased() {
      case "content-type": return facts.contentType
      case "host": return facts.host.isEmpty ? nil : facts.host
      default: return start.headers.first(name)
      }
    case .responseStart(let start): return start.headers.first(name)
    case .responseEnd(let end): return end.trailers.first(name)
    default: throw ABIFailure.wrongStage()
    }
  }

  func headerRemove(_ token: rpcurl_token, _ name: rpcurl_text) throws -> Int {
    let name = try name.string()
    return try withHeaders(token) { headers, _ in headers.remove(name) }
  }

  /// Sets or adds a field.
  func change(
    _ token: rpcurl_token, _ name: rpcurl_text, _ value: rpcurl_text,
    _ body: (inout Headers, String, String) -> Void
  ) throws {
    let (name, value) = try Self.field(name, value, at: try held(token, "using a value").stage)
    try withHeaders(token) { headers, _ in body(&headers, name, value) }
  }

  private static func field(
    _ name: rpcurl_text, _ value: rpcurl_text, at stage: Stage?
  ) throws(ABIFailure) -> (String, String) {
    let (name, value) = (try name.string(), try value.string())
    let problem = HostHeaders.problem(name, value, at: stage) { part in
      switch part {
      case .timeout: "set_timeout"
      case .status: "set_status"
      case .details: "detail_add"
      }
    }
    if let problem { throw .invalid(problem) }
    return (name, value)
  }

  /// Copies a list of fields from a plugin.
  ///
  /// - Parameter stage: The stage whose rules for names apply; nil for none.
  static func headers(
    _ fields: UnsafePointer<rpcurl_field>?, _ count: Int, at stage: Stage? = nil
  ) throws(ABIFailure) -> Headers {
    guard (0...mostElements).contains(count) else { throw .invalid("\(count) fields") }
    guard count == 0 || fields != nil else { throw .invalid("the fields are null") }
    var headers = Headers()
    for entry in UnsafeBufferPointer(start: fields, count: count) {
      let (name, value) = try field(entry.name, entry.value, at: stage)
      headers.add(name, value)
    }
    return headers
  }

  /// Reads or changes the headers or trailers of the stage.
  func withHeaders<Result>(
    _ token: rpcurl_token, _ body: (inout Headers, Arena) throws -> Result
  ) throws -> Result {
    try value(token) { value, arena in
      let result: Result? = try value.withHeaders { headers in try body(&headers, arena) }
      guard let result else { throw ABIFailure.wrongStage() }
      return result
    }
  }

  // MARK: - The end

  func setMetrics(_ token: rpcurl_token, _ metrics: UnsafePointer<rpcurl_metrics>?) throws {
    let plain = try Self.copy(metrics)
    // A member that is missing would be 0, which is a time, and not "not measured".
    guard plain.struct_size >= MemoryLayout<rpcurl_metrics>.size else {
      throw ABIFailure.invalid("struct_size is \(plain.struct_size)")
    }
    let new = try CallMetrics(plain)
    try value(token) { value, _ in
      guard case .metrics = value else { throw ABIFailure.wrongStage() }
      value = .metrics(new)
    }
  }
}

extension rpcurl_response_start {
  init?(_ value: CallEvent<MessageValue>, _ arena: Arena) {
    guard case .responseStart(let start) = value else { return nil }
    self.init(
      struct_size: MemoryLayout<rpcurl_response_start>.size, http_status: Int32(clamping: start.httpStatus),
      reserved: 0, http_version: arena.text(start.httpVersion), peer: arena.text(start.peer),
      tls_version: arena.text(start.tlsVersion))
  }
}

extension rpcurl_metrics {
  init?(_ value: CallEvent<MessageValue>, _: Arena) {
    guard case .metrics(let metrics) = value else { return nil }
    self.init(metrics)
  }
}

extension CallMetrics {
  fileprivate init(_ plain: rpcurl_metrics) throws(ABIFailure) {
    func duration(_ nanoseconds: Int64) -> Duration? { nanoseconds < 0 ? nil : .nanoseconds(nanoseconds) }
    func number(_ plain: UInt64) throws(ABIFailure) -> Int {
      guard let number = Int(exactly: plain) else { throw .invalid("\(plain) is out of range") }
      return number
    }
    self.init()
    guard let total = duration(plain.total_ns) else { throw .invalid("total_ns is negative") }
    self.total = total
    resolve = duration(plain.resolve_ns)
    connect = duration(plain.connect_ns)
    tls = duration(plain.tls_ns)
    firstByte = duration(plain.first_byte_ns)
    sentBytes = try number(plain.sent_bytes)
    receivedBytes = try number(plain.received_bytes)
    sentMessages = try number(plain.sent_messages)
    receivedMessages = try number(plain.received_messages)
    attempts = try number(plain.attempts)
    sentMessageBytes = try number(plain.sent_message_bytes)
    receivedMessageBytes = try number(plain.received_message_bytes)
  }
}
