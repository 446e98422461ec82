import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols

// Calls made by plugins.
extension HostFunctions {
  func makeCall(
    _ call: rpcurl_call, _ own: UnsafePointer<rpcurl_own_call>?, _ done: rpcurl_done?,
    _ argument: UnsafeMutableRawPointer?
  ) throws {
    guard let done else { throw ABIFailure.invalid("done is null") }
    guard call.id != 0 else { return try makeCall(outsideCalls: try Self.copy(own), done, argument) }
    let call = try onLoop(call, "call")
    let (request, schema) = try unaryCall(try Self.copy(own), call.facts)
    call.make(request) { answer in
      let fields = schema.message(of: answer).flatMap {
        instance.tokens.insert(HeldValue($0, .readTyped, in: call))
      }
      endCall(answer, schema, fields, in: call) { done(instance.host, argument, $0) }
      if let fields { _ = instance.tokens.remove(fields) }
    }
  }

  /// Makes a call outside of calls. Before a loop runs, the schema and the codec are not known: it is prepared then.
  private func makeCall(
    outsideCalls own: rpcurl_own_call, _ done: @escaping rpcurl_done, _ argument: UnsafeMutableRawPointer?
  ) throws {
    _ = try scope(rpcurl_call(), "call")
    _ = try Self.methodName(try own.method.string())
    let kept = Arena()
    let own = try kept.copy(own)
    var prepare = { (facts: CallFacts) throws -> (Subrequest, OwnSchema) in
      defer { withExtendedLifetime(kept) {} }
      return try unaryCall(own, facts)
    }
    if let facts = instance.outside.facts {
      let made = try prepare(facts)
      prepare = { _ in made }
    }
    instance.outside.make(prepare) { answer, schema in
      endCall(answer, schema, nil, in: instance.outside) { done(instance.host, argument, $0) }
    }
  }

  /// Passes the response of an own call to the plugin.
  ///
  /// - Parameter fields: The number of the message's token.
  private func endCall(
    _ answer: SubrequestResponse, _ schema: OwnSchema?, _ fields: UInt64?, in scope: any PluginScope,
    _ done: (UnsafePointer<rpcurl_own_response>) -> Void
  ) {
    let arena = Arena()
    var parts = arena.ownResponse(answer, schema)
    if let fields { parts.fields = rpcurl_token(id: fields) }
    scope.run("the end of an own call", instance.guarding) { done(arena.array([parts])) }
    withExtendedLifetime(arena) {}
  }

  private func unaryCall(_ plain: rpcurl_own_call, _ facts: CallFacts) throws -> (Subrequest, OwnSchema) {
    let schema = try OwnSchema(plain, facts)
    let message = try plain.message.map { try Self.copy($0) } ?? rpcurl_local_message()
    return (try ownCall(plain, schema, message: try schema.serialize(message, self)), schema)
  }

  func ownCall(_ plain: rpcurl_own_call, _ schema: OwnSchema, message: [UInt8]) throws -> Subrequest {
    var call = Subrequest(method: schema.name, message: message)
    if plain.target.size > 0 { call.target = try Self.checkedTarget(plain.target) }
    call.headers = try Self.headers(plain.headers, plain.header_count, at: .requestStart)
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

  func serialize(_ message: rpcurl_local_message, _ functions: HostFunctions) throws -> [UInt8] {
    switch try functions.payload(message, method?.input, codec) {
    case .bytes(let bytes): bytes
    case .typed(let message): try codec.form.serialize(message)
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
