import CPluginABI
import Interception
import Protobuf
import RPCProtocols

// Calls made by plugins.
extension HostFunctions {
  static func makeCall(
    _ host: Host?, _ call: rpcurl_call, _ own: UnsafePointer<rpcurl_own_call>?, _ done: rpcurl_done?,
    _ argument: UnsafeMutableRawPointer?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let done else { throw invalid("done is null") }
      guard call.id != 0 else { return try makeCall(outside: instance, try copy(own), done, argument) }
      let call = try onLoop(call, instance, "call")
      let plain = try copy(own)
      let schema = try OwnSchema(plain, call.facts)
      let message =
        try plain.message.map { message throws(ABIFailure) in try copy(message) } ?? rpcurl_local_message()
      let request = try ownCall(plain, schema, message: try schema.serialize(message, instance))
      call.make(request) { answer in
        let arena = Arena()
        var parts = arena.ownResponse(answer, schema)
        let fields = schema.message(of: answer).flatMap {
          instance.tokens.insert(HeldValue($0, .readTyped, in: call))
        }
        if let fields { parts.fields = rpcurl_token(id: fields) }
        instance.guarding.run("the end of an own call", in: call) {
          withUnsafePointer(to: parts) { done(instance.host, argument, $0) }
        }
        if let fields { _ = instance.tokens.remove(fields) }
        withExtendedLifetime(arena) {}
      }
    }
  }

  /// Makes a call outside of calls. Before a loop runs, the schema and the codec are not known: it is prepared then.
  private static func makeCall(
    outside instance: PluginInstance, _ own: rpcurl_own_call, _ done: @escaping rpcurl_done,
    _ argument: UnsafeMutableRawPointer?
  ) throws(ABIFailure) {
    _ = try scope(rpcurl_call(), instance, "call")
    _ = try methodName(try own.method.string())
    let kept = Arena()
    let own = try kept.copy(own)
    var prepare = { (facts: CallFacts) throws(ABIFailure) -> (Subrequest, OwnSchema) in
      defer { withExtendedLifetime(kept) {} }
      let schema = try OwnSchema(own, facts)
      let message =
        try own.message.map { message throws(ABIFailure) in try copy(message) } ?? rpcurl_local_message()
      return (try ownCall(own, schema, message: try schema.serialize(message, instance)), schema)
    }
    if let facts = instance.outside.facts {
      let made = try prepare(facts)
      prepare = { _ in made }
    }
    instance.outside.make(prepare) { answer, schema in
      let arena = Arena()
      let parts = arena.ownResponse(answer, schema)
      instance.guarding.run(outsideCalls: "the end of an own call") {
        withUnsafePointer(to: parts) { done(instance.host, argument, $0) }
      }
      withExtendedLifetime(arena) {}
    }
  }

  static func ownCall(
    _ plain: rpcurl_own_call, _ schema: OwnSchema, message: [UInt8]
  ) throws(ABIFailure) -> Subrequest {
    var call = Subrequest(method: schema.name, message: message)
    if plain.target.size > 0 { call.target = try checkedTarget(plain.target) }
    call.headers = try headers(plain.headers, plain.header_count, at: .requestStart)
    if plain.timeout_ns > 0 { call.timeout = .nanoseconds(plain.timeout_ns) }
    return call
  }
}

/// The method of a plugin's call, and the conversion of its messages.
struct OwnSchema {
  let name: MethodName
  private let codec: CodecName
  private let method: MethodDescriptor?
  private let responseForm: MessageForm

  init(_ plain: rpcurl_own_call, _ facts: CallFacts) throws(ABIFailure) {
    name = try HostFunctions.methodName(try plain.method.string())
    codec = facts.codec
    method = try? facts.requestType?.schemaMethod(service: name.service, method: name.method)
    responseForm = try MessageForm(plain.response_form)
    if isConverted(responseForm), method == nil {
      throw ABIFailure(RPCURL_EUNSUPPORTED, "the schema has no method \(name)")
    }
  }

  /// Whether a message in this form differs from one in the call's codec.
  private func isConverted(_ form: MessageForm) -> Bool { form != .serialized && form != codec.form }

  func serialize(_ message: rpcurl_local_message, _ instance: PluginInstance) throws(ABIFailure) -> [UInt8] {
    switch try HostFunctions.payload(message, method?.input, codec, instance) {
    case .bytes(let bytes): return bytes
    case .typed(let message):
      do throws(DecodeError) {
        return try codec.form.serialize(message)
      } catch {
        throw ABIFailure(RPCURL_EPARSE, "\(error)")
      }
    }
  }

  /// The message of a response; nil without one, and if the schema does not have the method.
  func message(of answer: SubrequestResponse) -> Message? {
    guard answer.end.error == nil, let bytes = answer.message, let method else { return nil }
    return try? codec.form.parse(bytes, method.output)
  }

  /// The response's message in the requested form.
  func response(_ bytes: [UInt8]) throws -> [UInt8] {
    guard isConverted(responseForm), let method else { return bytes }
    return try responseForm.serialize(try codec.form.parse(bytes, method.output))
  }
}

extension Arena {
  /// Converts a response to the plugin's form, valid as long as the arena.
  ///
  /// - Parameter schema: The form of the message; nil for the end of a stream, which has none.
  func ownResponse(_ answer: SubrequestResponse, _ schema: OwnSchema?) -> rpcurl_own_response {
    var error = answer.end.error
    var message: [UInt8] = []
    if error == nil {
      do {
        message = try schema?.response(answer.message ?? []) ?? []
      } catch let problem {
        error = RPCError(.internal, "invalid response: \(problem)", origin: .client)
      }
    }
    return rpcurl_own_response(
      struct_size: MemoryLayout<rpcurl_own_response>.size,
      status: array([rpcurl_status(ResponseEnd(error: error), self)]), message: text(message),
      headers: fields(answer.headers), header_count: answer.headers.count,
      trailers: fields(answer.end.trailers),
      trailer_count: answer.end.trailers.count, fields: rpcurl_token())
  }
}
