import CPluginABI
import Interception
import Protobuf
import RPCProtocols

// Calls and tokens.
extension HostFunctions {
  static func callFacts(
    _ host: Host?, _ call: rpcurl_call, _ facts: UnsafeMutablePointer<rpcurl_call_facts>?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let found = try live(instance.calls.find(call.id), instance, "call", "call_facts")
      try fill(facts, found.plain())
    }
  }

  // MARK: - Outside of calls

  static func addMetric(_ host: Host?, _ name: rpcurl_text, _ number: Double) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let name = try name.string()
      do throws(SharedValueError) {
        try instance.shared.add(number, to: name)
      } catch {
        throw invalid(error.reason)
      }
    }
  }

  static func share(_ host: Host?, _ name: rpcurl_text, _ text: rpcurl_text) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let (name, text) = (try name.string(), try text.string())
      do throws(SharedValueError) {
        try instance.shared.set(name, text)
      } catch {
        throw invalid(error.reason)
      }
    }
  }

  static func getShared(
    _ host: Host?, _ name: rpcurl_text, _ text: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let text else { throw invalid("the text is null") }
      let name = try name.string()
      guard let found = instance.shared[name] else {
        throw ABIFailure(RPCURL_ENOENT, "no shared value \(name)")
      }
      text.pointee = instance.lend(found)
    }
  }

  // MARK: - Attributes

  static func getAttribute(
    _ host: Host?, _ call: rpcurl_call, _ key: rpcurl_text, _ value: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let value else { throw invalid("the value is null") }
      let (key, call) = (try key.string(), try onLoop(call, instance, "attribute_get"))
      guard let found = call.attributes[key] else { throw ABIFailure(RPCURL_ENOENT, "no attribute \(key)") }
      value.pointee = call.keep(found)
    }
  }

  static func setAttribute(
    _ host: Host?, _ call: rpcurl_call, _ key: rpcurl_text, _ value: rpcurl_text
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let (key, value) = (try key.string(), try value.string())
      let call = try onLoop(call, instance, "attribute_set")
      do throws(AttributeError) {
        try call.setAttribute(key, value)
      } catch {
        throw invalid(error.reason)
      }
    }
  }

  static func removeAttribute(_ host: Host?, _ call: rpcurl_call, _ key: rpcurl_text) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let (key, call) = (try key.string(), try onLoop(call, instance, "attribute_remove"))
      guard call.attributes[key] != nil else { throw ABIFailure(RPCURL_ENOENT, "no attribute \(key)") }
      try? call.setAttribute(key, nil)
    }
  }

  static func cancelCall(_ host: Host?, _ call: rpcurl_call, _ reason: rpcurl_text) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let reason = try reason.string()
      try open(call, instance, "cancel").handle.cancel(reason)
    }
  }

  static func report(
    _ host: Host?, _ call: rpcurl_call, _ kind: UInt32, _ text: rpcurl_text
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let text = try text.string()
      let kinds: [Finding.Kind] = [.note, .failure, .expectedStatus]
      guard let kind = Int(exactly: kind), kinds.indices.contains(kind) else {
        throw invalid("unknown kind of finding: \(kind)")
      }
      // Also in `close`, which sees the outcome.
      try live(instance.calls.find(call.id), instance, "call", "report").handle.report(kinds[kind], text)
    }
  }

  /// Uses a token, with a function that takes nothing else.
  static func use(
    _ host: Host?, _ token: rpcurl_token, _ what: String, at stages: Stages,
    _ body: (HeldValue) -> Void
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      try use(try held(instance, token, what, at: stages), token, instance, what, body)
    }
  }

  /// Uses the token of a value.
  static func use(
    _ held: HeldValue, _ token: rpcurl_token, _ instance: PluginInstance, _ what: String,
    _ body: (HeldValue) -> Void
  ) throws(ABIFailure) {
    // If two threads use the same token, one of them gets it.
    let held = try live(instance.tokens.remove(token.id), instance, "token", what)
    let isVoid = held.isVoid
    body(held)
    if isVoid { throw ABIFailure(RPCURL_EENDED, "the call has ended") }
  }

  static func failCall(
    _ host: Host?, _ token: rpcurl_token, _ code: Int32, _ message: rpcurl_text
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      try fail(instance, token, try error(code, message, instance))
    }
  }

  static func failCall(
    _ host: Host?, _ token: rpcurl_token, with failure: UnsafePointer<rpcurl_failure>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let plain = try copy(failure)
      var error = try error(plain.code, plain.message, instance)
      error?.details = try details(plain.details, plain.detail_count)
      let trailers = try headers(plain.trailers, plain.trailer_count)
      try fail(instance, token, error, trailers: trailers)
    }
  }

  private static func fail(
    _ instance: PluginInstance, _ token: rpcurl_token, _ error: RPCError?, trailers: Headers = Headers()
  ) throws(ABIFailure) {
    guard let error else { throw invalid("a call cannot fail with the code 0") }
    let held = try held(instance, token, "fail", at: [.request, .response])
    try use(held, token, instance, "fail") { $0.take()?.fail(error, trailers: trailers) }
  }

  static func answerCall(
    _ host: Host?, _ token: rpcurl_token, _ response: UnsafePointer<rpcurl_response>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let held = try held(instance, token, "respond", at: .request)
      let answer = try localResponse(response, held.call.facts, instance)
      try use(held, token, instance, "respond") { $0.take()?.respond(answer) }
    }
  }

  private static func localResponse(
    _ response: UnsafePointer<rpcurl_response>?, _ facts: CallFacts, _ instance: PluginInstance
  ) throws(ABIFailure) -> LocalResponse {
    let plain = try copy(response)
    var answer = LocalResponse(error: try error(plain.code, plain.message, instance))
    answer.error?.details = try details(plain.details, plain.detail_count)
    answer.headers = try headers(plain.headers, Int(plain.header_count))
    answer.trailers = try headers(plain.trailers, Int(plain.trailer_count))
    for message in try elements(plain.messages, Int(plain.message_count), "messages") {
      answer.messages.append(try payload(message, facts.responseType, facts.codec, instance))
    }
    return answer
  }

  /// Converts a message made by a plugin.
  static func payload(
    _ message: rpcurl_local_message, _ type: MessageType?, _ codec: CodecName, _ instance: PluginInstance
  ) throws(ABIFailure) -> Payload {
    guard message.form == UInt32(RPCURL_FORM_MESSAGE) else { return try payload(message, type, codec) }
    let found = try typedMessage(instance, message.message)
    if let type, type.name != found.type.name {
      throw invalid("the message is of the type \(found.type.name), not \(type.name)")
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
  static func error(
    _ code: Int32, _ message: rpcurl_text, _ instance: PluginInstance
  ) throws(ABIFailure) -> RPCError? {
    guard let status = StatusCode(rawValue: Int(code)) else { throw invalid("\(code) is not a status code") }
    let message = try message.string()
    if status == .ok { return nil }
    return RPCError(status, message, origin: .interceptor(instance.description.name))
  }
}
