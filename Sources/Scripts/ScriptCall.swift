import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// The interceptor of a script in one call. It belongs to the loop's thread.
final class ScriptCall: AnyStageInterceptor {
  let stages: Stages
  let messages: MessageAccesses
  let requirements: InterceptorRequirements
  /// The number of the call.
  let number: Int
  private let host: ScriptHost
  private let facts: CallFacts
  private let context: CallContext
  private let wantsFinish: Bool
  private var lines: ScriptValue
  /// The values that wait for a reply, by their numbers.
  private var waiting:
    [Int: (event: CallEvent<MessageValue>, token: HeldToken<CallEvent<MessageValue>, AnyDirection>)] =
      [:]
  private var lastValue = -1
  /// No value below it waits.
  private var firstWaiting = 0
  /// Whether nothing of the call was sent yet.
  private var isNew = true
  /// Whether the script has failed: it receives no more of the call.
  private var hasFailed = false

  /// - Parameter members: The facts as members of a line.
  init(
    _ host: ScriptHost, _ number: Int, _ facts: CallFacts, _ members: JSONObject, _ context: CallContext,
    _ hello: ScriptHello
  ) {
    self.host = host
    self.number = number
    self.facts = facts
    self.context = context
    stages = hello.stages
    messages = hello.messages
    requirements = hello.requirements
    wantsFinish = hello.wantsFinish
    lines = ScriptValue(call: number, facts: members, redaction: host.redaction(of: context))
  }

  // MARK: The chain

  func receive(_ value: CallEvent<MessageValue>, _ token: consuming AnyToken) throws {
    if hasFailed { return token.proceed(value) }
    lastValue += 1
    let line = try lines.line(token.stage, lastValue, value, attributes: takeAttributes())
    waiting[lastValue] = (value, HeldToken(token))
    host.send(line, awaitsReply: true)
  }

  func observe(_ observation: Observation) {
    host.send(lines.line(observation, attributes: takeAttributes()))
  }

  func finish(_ outcome: Outcome) {
    if !hasFailed {
      host.replied(to: waiting.count)
      if wantsFinish { host.send(lines.finish(outcome, attributes: takeAttributes())) }
    }
    waiting = [:]
    host.finished(number)
  }

  /// The attributes for the first line of the call.
  private func takeAttributes() -> CallAttributes? {
    defer { isNew = false }
    return isNew ? context.attributes : nil
  }

  /// Fails the call because the script has failed. Metrics cannot fail: they are passed on.
  func fail(_ error: RPCError) {
    hasFailed = true
    context.fail(error)
    for (event, token) in waiting.values {
      guard case .metrics = event else { continue }
      context.report(.failure, error.message)
      token.use { $0.proceed(event) }
    }
  }

  // MARK: Replies

  /// Does what a line of the script says about the call.
  ///
  /// - Throws: ``LanguageError`` if the script must not say that.
  func take(_ reply: ScriptReply) throws(LanguageError) {
    for (key, value) in reply.attributes { try set(key, value) }
    for log in reply.logs { context.log(log.level, log.text) }
    for finding in reply.findings { context.report(finding.kind, finding.text) }
    if let own = reply.ownCall { try make(own) }
    if let question = reply.question {
      host.ask(question.text, of: number) { [weak self] reply in
        guard let self else { return }
        host.send(lines.asked(question.id, reply))
      }
    }
    switch reply.subject {
    case .value(let value): try settle(value, reply)
    case .upTo(let last): try release(upTo: last)
    case .call:
      for body in reply.injectedRequests { context.inject(request: try payload(body, .requestMessage)) }
      for body in reply.injectedResponses { context.inject(response: try payload(body, .responseMessage)) }
      if case .fail(let failure)? = reply.verdict { context.fail(try error(failure)) }
    }
  }

  private func release(upTo last: Int) throws(LanguageError) {
    guard last <= lastValue else { throw LanguageError("upto \(last): the last value is \(lastValue)") }
    guard firstWaiting <= last else { return }
    for value in firstWaiting...last {
      guard let (event, token) = waiting.removeValue(forKey: value) else { continue }
      host.replied(to: 1)
      token.use { $0.proceed(event) }
    }
    firstWaiting = last + 1
  }

  private func settle(_ value: Int, _ reply: ScriptReply) throws(LanguageError) {
    guard let (held, token) = waiting.removeValue(forKey: value) else {
      throw LanguageError(
        value > lastValue
          ? "a reply for value \(value), which it has not received" : "a second reply for value \(value)")
    }
    var (event, stage) = (held, Stage.requestStart)
    token.look { stage = $0.stage }
    do throws(LanguageError) {
      try change(&event, stage, reply.headers)
      try inject(reply.injected, stage, token)
      try decide(reply.verdict, event, stage, token)
      host.replied(to: 1)
    } catch {
      // The script's failure fails the call, with its reason.
      waiting[value] = (held, token)
      throw LanguageError("a reply at \(stage): \(error.reason)", hint: error.hint)
    }
  }

  private func decide(
    _ verdict: ScriptReply.Verdict?, _ event: CallEvent<MessageValue>, _ stage: Stage,
    _ token: HeldToken<CallEvent<MessageValue>, AnyDirection>
  ) throws(LanguageError) {
    switch verdict {
    case nil: token.use { $0.proceed(event) }
    case .message(let body)?:
      let changed = try self.changed(event, stage, body)
      token.use { $0.proceed(changed) }
    case .drop?:
      try require(Stages.messages, stage, "drop")
      token.use { $0.drop() }
    case .fail(let failure)?:
      try require(Stages.request.union(.response), stage, "fail")
      let error = try error(failure)
      token.use { $0.fail(error, trailers: failure.trailers) }
    case .respond(let response)?:
      try require(.request, stage, "respond")
      let local = try self.response(response)
      token.use { $0.respond(local) }
    case .retry(let pause, let headers)?:
      try require(.response, stage, "retry")
      guard requirements.replayLimitBytes > 0 else {
        throw LanguageError("retry: the first line of the script has no replay_limit")
      }
      for field in headers.fields { try check(field.name, field.value, at: .requestStart) }
      token.use { $0.retry(after: pause, headers: headers) }
    }
  }

  private func require(_ stages: Stages, _ stage: Stage, _ verdict: String) throws(LanguageError) {
    guard !stages.contains(stage) else { return }
    let names = Stage.allCases.filter { stages.contains($0) }.map(\.description)
    throw LanguageError("\(verdict) is possible at \(names.joined(separator: ", ")) only")
  }

  private func inject(
    _ bodies: [ScriptReply.Body], _ stage: Stage,
    _ token: HeldToken<CallEvent<MessageValue>, AnyDirection>
  ) throws(LanguageError) {
    guard !bodies.isEmpty else { return }
    try require([.messages, .requestEnd, .responseEnd], stage, "inject")
    let direction: Stage = Stages.request.contains(stage) ? .requestMessage : .responseMessage
    for body in bodies {
      let payload = try payload(body, direction)
      token.look { $0.inject(payload) }
    }
  }

  // MARK: Values

  private func set(_ key: String, _ value: String?) throws(LanguageError) {
    if let value { try checkMask(value, of: "attribute \(key)") }
    do throws(InvalidValue) {
      try context.setAttribute(key, value)
    } catch {
      throw LanguageError("\(error)")
    }
  }

  private func checkMask(_ value: String, of name: String) throws(LanguageError) {
    guard host.masks, SecretMask.isPlaceholder(value) else { return }
    throw LanguageError(
      "the \(name) has the value \(SecretMask.placeholder), which stands for a secret in what the script received",
      hint: "secrets=true gives the script the secrets themselves")
  }

  private func check(_ name: String, _ value: String, at stage: Stage) throws(LanguageError) {
    let problem = HostHeaders.problem(name, value, at: stage) { $0 == .timeout ? nil : "fail" }
    if let problem { throw LanguageError(problem) }
    try checkMask(value, of: "header \(name)")
  }

  private func change(
    _ event: inout CallEvent<MessageValue>, _ stage: Stage, _ changes: [ScriptReply.HeaderChange]
  ) throws(LanguageError) {
    guard !changes.isEmpty else { return }
    let isDone: Void? = try event.withHeaders { (headers) throws(LanguageError) in
      for change in changes {
        switch change {
        case .remove(let name): headers.remove(name)
        case .add(let name, let value):
          try check(name, value, at: stage)
          headers.add(name, value)
        }
      }
    }
    guard isDone != nil else { throw LanguageError("headers: this stage has none") }
  }

  /// The value with another message.
  private func changed(
    _ event: CallEvent<MessageValue>, _ stage: Stage, _ body: ScriptReply.Body
  ) throws(LanguageError) -> CallEvent<MessageValue> {
    try require(.messages, stage, "message")
    guard var message = event.message else { return event }
    if host.redactsFields, case .typed(let original)? = message.content,
      lines.redaction.message(original) != original
    {
      throw LanguageError(
        "message: a field of it is redacted, so the script cannot replace it",
        hint: "secrets=true gives the script the whole message")
    }
    let payload = try payload(body, stage)
    do throws(MessageAccessError) {
      switch payload {
      case .typed(let typed): try message.setTyped(typed)
      case .bytes(let bytes): try message.setBytes(bytes)
      }
    } catch {
      throw LanguageError(
        "the script's first line says \"\(stage == .requestMessage ? "request" : "response")\": it does not change messages in this form"
      )
    }
    return stage == .requestMessage ? .requestMessage(message) : .responseMessage(message)
  }

  private func payload(_ body: ScriptReply.Body, _ stage: Stage) throws(LanguageError) -> Payload {
    switch body {
    case .bytes(let bytes): return .bytes(bytes)
    case .json(let json):
      return .typed(try message(json, stage == .requestMessage ? facts.requestType : facts.responseType))
    }
  }

  private func message(_ json: JSONValue, _ type: MessageType?) throws(LanguageError) -> Message {
    guard let type else {
      throw LanguageError("message: the schema of the call is not known", hint: "give bytes")
    }
    let text = json.text
    guard !host.redactsFields || !text.contains("\"\(SecretMask.placeholder)\"") else {
      throw LanguageError(
        "message: it has the value \(SecretMask.placeholder), which stands for a redacted field")
    }
    do throws(MessageParseError) {
      return try Message(type, json: Array(text.utf8))
    } catch {
      throw LanguageError("message: \(error.withoutPlace)")
    }
  }

  private func error(_ failure: ScriptReply.Failure) throws(LanguageError) -> RPCError {
    var details: [StatusDetail] = []
    for field in failure.trailers.fields { try check(field.name, field.value, at: .responseEnd) }
    for detail in failure.details {
      details.append(try StatusDetail(detail, schemaOf: facts.requestType ?? facts.responseType))
    }
    return RPCError(failure.code, failure.message, details: details, origin: .interceptor(context.name))
  }

  private func response(_ response: ScriptReply.Response) throws(LanguageError) -> LocalResponse {
    for field in response.headers.fields { try check(field.name, field.value, at: .responseStart) }
    for field in response.trailers.fields { try check(field.name, field.value, at: .responseEnd) }
    var messages: [Payload] = []
    for body in response.messages { messages.append(try payload(body, .responseMessage)) }
    var failure: RPCError?
    if let given = response.failure { failure = try error(given) }
    return LocalResponse(
      headers: response.headers, messages: messages, error: failure,
      trailers: response.trailers.appending(response.failure?.trailers ?? Headers()))
  }

  // MARK: Own calls

  private func make(_ own: ScriptReply.OwnCall) throws(LanguageError) {
    let method = try? facts.requestType?.schemaMethod(service: own.method.service, method: own.method.method)
    let isBytes = if case .bytes? = own.message { true } else { false }
    guard !isBytes || !host.redactsFields else {
      throw LanguageError("call: bytes cannot be redacted", hint: "give the message as JSON")
    }
    for field in own.headers.fields { try check(field.name, field.value, at: .requestStart) }
    var request = Subrequest(method: own.method, headers: own.headers)
    if let timeout = own.timeout { request.timeout = timeout }
    // A mistake in the method or in the message is one of this call only.
    var problem: RPCError?
    if case .bytes(let bytes)? = own.message {
      request.message = bytes
    } else if let method {
      let json = if case .json(let json)? = own.message { json } else { JSONValue.object([]) }
      do throws(LanguageError) {
        request.message = try serialized(try message(json, method.input))
      } catch {
        problem = RPCError(.invalidArgument, error.reason, origin: .client)
      }
    } else {
      problem = RPCError(.unimplemented, "the schema has no method \(own.method)", origin: .client)
    }
    let output = isBytes ? nil : method?.output
    let finish = { [weak self] (response: SubrequestResponse) in
      guard let self else { return }
      var response = response
      let body = body(of: &response, output)
      host.send(lines.called(own.id, response, body: body))
    }
    if let problem { return finish(SubrequestResponse(end: ResponseEnd(error: problem))) }
    context.call(request, finish)
  }

  private func serialized(_ message: Message) throws(LanguageError) -> [UInt8] {
    guard facts.codec == .json else { return message.serialized() }
    do throws(DecodeError) {
      return try message.json()
    } catch {
      throw LanguageError("message: \(error)")
    }
  }

  /// The message of a response as JSON of a type, or as base64; an invalid one makes the response a failure.
  private func body(
    of response: inout SubrequestResponse, _ type: MessageType?
  ) -> (name: String, json: [UInt8])? {
    guard response.end.error == nil, let bytes = response.message else { return nil }
    guard let type else { return ("bytes", Array("\"\(Base64.encode(bytes))\"".utf8)) }
    do {
      let message =
        facts.codec == .json ? try Message(type, json: bytes) : try Message(type, serialized: bytes)
      return ("message", try lines.redaction.message(message).json())
    } catch {
      response.end.error = RPCError(.internal, "invalid response: \(error)", origin: .client)
      return nil
    }
  }
}
