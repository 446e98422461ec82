import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols

// Calls and tokens.
extension HostFunctions {
  func callFacts(_ call: rpcurl_call, _ facts: UnsafeMutablePointer<rpcurl_call_facts>?) throws {
    try Self.fill(facts, try find(call, "call_facts").plain())
  }

  // MARK: - Outside of calls

  func addMetric(_ name: rpcurl_text, _ number: Double) throws {
    try instance.shared.add(number, to: try name.string())
  }

  func share(_ name: rpcurl_text, _ text: rpcurl_text) throws {
    try instance.shared.set(try name.string(), try text.string())
  }

  func getShared(_ name: rpcurl_text) throws -> rpcurl_text {
    let name = try name.string()
    return instance.errors.lend(try instance.shared[name].required("no shared value \(name)"))
  }

  // MARK: - Attributes

  func getAttribute(_ call: rpcurl_call, _ key: rpcurl_text) throws -> rpcurl_text {
    let (key, call) = (try key.string(), try onLoop(call, "attribute_get"))
    return call.keep(try call.attributes[key].required("no attribute \(key)"))
  }

  func setAttribute(_ call: rpcurl_call, _ key: rpcurl_text, _ value: rpcurl_text) throws {
    let (key, value) = (try key.string(), try value.string())
    let call = try onLoop(call, "attribute_set")
    try call.setAttribute(key, value)
  }

  func removeAttribute(_ call: rpcurl_call, _ key: rpcurl_text) throws {
    let (key, call) = (try key.string(), try onLoop(call, "attribute_remove"))
    guard call.attributes[key] != nil else { throw ABIFailure(RPCURL_ENOENT, "no attribute \(key)") }
    try? call.setAttribute(key, nil)
  }

  func cancelCall(_ call: rpcurl_call, _ reason: rpcurl_text) throws {
    let reason = try reason.string()
    try open(call, "cancel").handle.cancel(reason)
  }

  func report(_ call: rpcurl_call, _ kind: UInt32, _ text: rpcurl_text) throws {
    let text = try text.string()
    let kinds: [Finding.Kind] = [.note, .failure, .expectedStatus]
    guard let kind = Int(exactly: kind), kinds.indices.contains(kind) else {
      throw ABIFailure.invalid("unknown kind of finding: \(kind)")
    }
    // Also in `close`, which sees the outcome.
    try find(call, "report").handle.report(kinds[kind], text)
  }

  /// Uses the token of a value.
  func use(_ token: rpcurl_token, _ what: String, at stages: Stages, _ body: (HeldValue) -> Void) throws {
    _ = try held(token, what, at: stages)
    // If two threads use the same token, one of them gets it.
    let held = try live(instance.tokens.remove(token.id), "token", what)
    let isVoid = held.isVoid
    body(held)
    if isVoid { throw ABIFailure(RPCURL_EENDED, "the call has ended") }
  }

  func fail(_ token: rpcurl_token, with failure: UnsafePointer<rpcurl_failure>?) throws {
    let plain = try Self.copy(failure)
    var error = try error(plain.code, plain.message)
    error?.details = try Self.details(plain.details, plain.detail_count)
    let trailers = try Self.headers(plain.trailers, plain.trailer_count)
    try fail(token, error, trailers: trailers)
  }

  func fail(_ token: rpcurl_token, _ error: RPCError?, trailers: Headers = Headers()) throws {
    guard let error else { throw ABIFailure.invalid("a call cannot fail with the code 0") }
    try use(token, "fail", at: [.request, .response]) { $0.take()?.fail(error, trailers: trailers) }
  }

  func answerCall(_ token: rpcurl_token, _ response: UnsafePointer<rpcurl_response>?) throws {
    let facts = try held(token, "respond", at: .request).call.facts
    let plain = try Self.copy(response)
    var answer = LocalResponse(error: try error(plain.code, plain.message))
    answer.error?.details = try Self.details(plain.details, plain.detail_count)
    answer.headers = try Self.headers(plain.headers, Int(plain.header_count))
    answer.trailers = try Self.headers(plain.trailers, Int(plain.trailer_count))
    for message in try Self.elements(plain.messages, Int(plain.message_count), "messages") {
      answer.messages.append(try payload(message, facts.responseType, facts.codec))
    }
    try use(token, "respond", at: .request) { $0.take()?.respond(answer) }
  }

  /// Converts a message made by a plugin.
  func payload(_ message: rpcurl_local_message, _ type: MessageType?, _ codec: CodecName) throws -> Payload {
    guard message.form == UInt32(RPCURL_FORM_MESSAGE) else { return try Self.payload(message, type, codec) }
    let found = try typedMessage(message.message)
    if let type, type.name != found.type.name {
      throw ABIFailure.invalid("the message is of the type \(found.type.name), not \(type.name)")
    }
    return .typed(found)
  }

  /// Converts a message of which the plugin gives the content.
  static func payload(
    _ message: rpcurl_local_message, _ type: MessageType?, _ codec: CodecName
  ) throws(ABIFailure) -> Payload {
    let content = try message.content.bytes()
    let form = try MessageForm(message.form)
    if form == .serialized || form == codec.form { return .bytes(content) }
    guard let type else { throw ABIFailure(RPCURL_EUNSUPPORTED, "the message's type is unknown") }
    return .typed(try form.parse(content, type))
  }

  /// The error of a plugin's status code; `nil` for ok.
  func error(_ code: Int32, _ message: rpcurl_text) throws -> RPCError? {
    guard let status = StatusCode(rawValue: Int(code)) else {
      throw ABIFailure.invalid("\(code) is not a status code")
    }
    let message = try message.string()
    if status == .ok { return nil }
    return RPCError(status, message, origin: .interceptor(instance.description.name))
  }
}
