import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Runs the function of an asynchronous interceptor as an interceptor of one call.
final class AsyncAdapter: AnyStageInterceptor {
  let stages: Stages
  let messages: MessageAccesses
  let requirements: InterceptorRequirements

  private let interceptor: any Interceptor
  private let facts: CallFacts
  private let bridge: AsyncBridge
  private let context: CallContext
  private let request: AsyncSide
  private let response: AsyncSide

  // The held starts and end of the call; the sides hold the messages.
  private var requestStart: AsyncSlot.Held?
  private var responseStart: (value: ResponseStart, token: AsyncSlot.Held)?
  private var responseEnd: AsyncSlot.Held?
  /// The error of the last attempt, which a call of `next` throws if there cannot be another.
  private var failure: RPCError?
  /// The call of `next` that waits.
  private var waiter: AsyncWaiter<ResponseStart>?
  /// Whether the last call of `next` has returned a response.
  private var hasResponse = false
  /// Whether the function has returned a response.
  private var hasResponded = false
  /// The start of a response that the function has returned while the call of `next` waited.
  private var ownStart: ResponseStart?
  /// The same until it takes the place of the server's.
  private var waitingStart: ResponseStart?
  /// Whether the function has ended the messages of the request before the caller.
  private var hasEndedRequest = false
  private var changeTrailers: @Sendable (Headers) -> Headers = { $0 }

  init(
    _ interceptor: any Interceptor, _ messages: MessageAccesses, _ facts: CallFacts, _ context: CallContext
  ) {
    var stages: Stages = [.requestStart, .responseStart, .responseEnd]
    if messages.request != .none { stages.formUnion([.requestMessage, .requestEnd]) }
    // A single message is also observed without its content: `next` waits for it.
    if messages.response != .none || !facts.kind.serverStreams { stages.insert(.responseMessage) }
    self.stages = stages
    self.messages = messages
    self.interceptor = interceptor
    self.facts = facts
    self.context = context
    requirements = InterceptorRequirements(replayLimitBytes: interceptor.replayLimitBytes)
    let reference = AdapterReference()
    bridge = AsyncBridge(context.handle, reference)
    request = AsyncSide(messages.request)
    response = AsyncSide(messages.response)
    reference.object = self
    for side in [request, response] { side.settle = { [unowned self] in settle($0, $1, $2) } }
  }

  // MARK: - From the chain

  func receive(_ value: CallEvent<MessageValue>, _ token: consuming AnyToken) throws {
    switch value {
    case .requestStart(let start):
      requestStart = HeldToken(token)
      run(start)
    case .requestMessage(let message):
      if request.isPassing { return token.proceed(value) }
      request.deliver(AsyncSlot(value, try message.typed, token))
    case .requestEnd:
      if hasEndedRequest { return token.remove() }
      request.deliver(AsyncSlot(value, nil, token))
    case .responseStart(let start):
      if let own = waitingStart.take() { return token.proceed(.responseStart(own)) }
      responseStart = (start, HeldToken(token))
      // The error of a single response is known at its message or its end, that of a stream perhaps from its start.
      if facts.kind.serverStreams, !start.showsEnd { resumeNext(.success(start)) }
    case .responseMessage(let message):
      resumeNext(.success(responseStart?.value ?? ResponseStart()))
      // A response of the function takes the place of the server's.
      if messages.response == .none, hasResponded, !hasResponse { return token.remove() }
      if messages.response == .none || response.isPassing { return token.proceed(value) }
      response.deliver(AsyncSlot(value, try message.typed, token))
    case .responseEnd:
      // The end is only shown: `finish` follows.
      if token.isVoid { return }
      let slot = AsyncSlot(value, nil, token)
      responseEnd = slot.token
      failure = slot.error
      // The server has ended the call without a start.
      if let start = waitingStart.take() { context.start(response: start) }
      resumeNext(slot.error.map { .failure($0) } ?? .success(responseStart?.value ?? ResponseStart()))
      response.deliver(slot)
    case .metrics: token.proceed(value)
    }
  }

  /// Runs the function.
  private func run(_ start: RequestStart) {
    let (interceptor, bridge) = (interceptor, bridge)
    let given = InterceptedRequest(
      start: start, messages: Incoming(bridge: bridge, direction: .request), call: facts, bridge: bridge)
    bridge.run {
      do {
        var request = given
        let response = try await interceptor.intercept(&request, next: NextInterceptor(bridge: bridge))
        bridge.onLoop { $0.respond(response) }
      } catch {
        let error = bridge.failure(error)
        bridge.onLoop { $0.fail(error) }
      }
    }
  }

  /// Forwards a value, or removes the message; an end is forwarded with this error.
  private func settle(_ slot: AsyncSlot, _ isForwarded: Bool, _ error: RPCError?) {
    slot.token.use { token in
      switch slot.value {
      case .requestEnd:
        if let error = error ?? missing(.request) { token.fail(error) } else { token.proceed(slot.value) }
      case .responseEnd(let end):
        token.proceed(.responseEnd(changed(end.trailers, error ?? missing(.response))))
      default: if isForwarded { token.proceed(slot.value) } else { token.remove() }
      }
    }
  }

  func finish(_ outcome: Outcome) { bridge.finish(outcome) }

  /// The error of a unary direction whose message was removed and not replaced; nil if there is none.
  private func missing(_ direction: AsyncBridge.Direction) -> RPCError? {
    let isStream = direction == .request ? facts.kind.clientStreams : facts.kind.serverStreams
    guard !isStream, side(direction).isEmptied else { return nil }
    return error("\(context.name) dropped the only message of a unary \(direction)")
  }

  private func error(_ words: String) -> RPCError {
    RPCError(.internal, words, origin: .interceptor(context.name))
  }

  // MARK: - Messages of the function

  /// The function asks for the next message of a direction.
  func ask(_ direction: AsyncBridge.Direction, _ consumer: AsyncSide.Consumer) {
    guard side(direction).access != .none else {
      let words = "\(context.name) reads messages of the \(direction), and declares that it receives none"
      consumer.resume(.failure(error(words)))
      return
    }
    side(direction).ask(consumer)
  }

  /// Forwards a message.
  ///
  /// - Parameter emitter: The task that emits it, which continues when the chain takes more of the direction.
  func emit(_ message: Message, _ direction: AsyncBridge.Direction, _ emitter: AsyncWaiter<Void>) {
    let mayBeNew = side(direction).access.mayChange || (direction == .response && !hasResponse)
    switch side(direction).emit(message, mayBeNew: mayBeNew) {
    case .placed:
      // The values held here may fill the chain's window, and only the function can forward them: do not wait.
      emitter.resume(.success(()))
    case .last:
      let resume = { _ = emitter.resume(.success(())) }
      switch direction {
      case .request:
        context.inject(request: .typed(message))
        context.whenRequestWanted(resume)
      case .response:
        context.inject(response: .typed(message))
        context.whenResponseWanted(resume)
      }
    case .refused:
      let words =
        "\(context.name) changed a message of the \(direction), and declares that it only reads them"
      emitter.resume(.failure(error(words)))
    }
  }

  /// Forwards the messages of a direction as the function has left them.
  private func forward(_ messages: AsyncMessages, _ direction: AsyncBridge.Direction) {
    if bridge.isGiven(messages, direction) {
      side(direction).pass()
    } else {
      bridge.pump(messages, direction)
    }
  }

  /// The function emits no more messages of a direction.
  func finish(_ direction: AsyncBridge.Direction, _ error: RPCError?) {
    let side = side(direction)
    if direction == .response, let token = requestStart.take() {
      token.use { $0.respond(LocalResponse(changed(Headers(), error))) }
    } else if let error, !side.hasEnd {
      context.fail(error)
    } else {
      side.finish(error)
      if !side.hasEnd { close(direction) }
    }
  }

  /// Ends a direction of which the function has ended the messages. The end of a unary direction arrives by itself.
  private func close(_ direction: AsyncBridge.Direction) {
    switch direction {
    case .request:
      guard facts.kind.clientStreams else { return }
      hasEndedRequest = true
      context.endRequest()
    case .response:
      guard facts.kind.serverStreams || !hasResponse else { return }
      context.respond(LocalResponse(changed(Headers(), nil), headers: ownStart?.headers ?? Headers()))
    }
  }

  /// The end of the response as the function has left it. If its error has metadata, these are the trailers.
  private func changed(_ trailers: Headers, _ error: RPCError?) -> ResponseEnd {
    var error = error
    let metadata = error?.metadata ?? Headers()
    error?.metadata = Headers()
    return ResponseEnd(error: error, trailers: changeTrailers(metadata.isEmpty ? trailers : metadata))
  }

  private func side(_ direction: AsyncBridge.Direction) -> AsyncSide {
    direction == .request ? request : response
  }

  // MARK: - Calls of next

  /// Forwards the request, for the first time or again.
  ///
  /// - Parameter waiter: The call of `next`.
  func proceed(_ given: InterceptedRequest, _ waiter: AsyncWaiter<ResponseStart>) {
    guard waiter.isWaiting else { return }
    if let token = requestStart {
      if messages.request == .none, !bridge.isGiven(given.messages, .request) {
        return refuse(
          waiter, "\(context.name) replaces the request's messages, and declares that it receives none")
      }
      requestStart = nil
      self.waiter = waiter
      token.use { $0.proceed(.requestStart(given.start)) }
      forward(given.messages, .request)
    } else if self.waiter?.isWaiting == true {
      refuse(waiter, "next was called again before its first call returned")
    } else if let token = responseEnd ?? responseStart?.token {
      retryCall(given.start, token, waiter)
    } else {
      refuse(waiter, "next was called again before its first call returned")
    }
  }

  private func retryCall(
    _ start: RequestStart, _ token: AsyncSlot.Held, _ waiter: AsyncWaiter<ResponseStart>
  ) {
    var obstacle: RetryObstacle?
    token.look { obstacle = $0.obstacle(toRetryAfter: .zero) }
    if let obstacle {
      // Once: an interceptor may repeat a call for as long as it fails.
      if let failure = failure.take() {
        waiter.resume(.failure(failure))
      } else {
        refuse(waiter, "next was called again, and the call cannot be retried: \(obstacle)")
      }
      return
    }
    self.waiter = waiter
    hasResponse = false
    failure = nil
    token.use { $0.retry(start: start) }
    responseStart = nil
    responseEnd = nil
    response.reset()
  }

  private func refuse(_ waiter: AsyncWaiter<ResponseStart>, _ words: String) {
    waiter.resume(.failure(error(words)))
  }

  private func resumeNext(_ result: Result<ResponseStart, any Error>) {
    guard let waiter = waiter.take() else { return }
    // A call of next that was canceled has not returned the response.
    let isReceived = waiter.resume(result)
    if isReceived, !hasResponded, case .success = result { hasResponse = true }
  }

  // MARK: - The result of the function

  /// The function has returned.
  private func respond(_ given: InterceptedResponse) {
    guard !hasResponded else { return }
    hasResponded = true
    changeTrailers = given.changeTrailers
    if messages.response == .none, let words = obstacle(given) { return fail(error(words)) }
    if let (_, token) = responseStart.take() {
      token.use { $0.proceed(.responseStart(given.start)) }
    } else if requestStart != nil || responseEnd != nil {
      context.start(response: given.start)
    } else {
      ownStart = given.start
      waitingStart = given.start
    }
    forward(given.messages, .response)
  }

  /// Why an interceptor that receives no messages of the response cannot return a response.
  private func obstacle(_ given: InterceptedResponse) -> String? {
    if hasResponse {
      guard !bridge.isGiven(given.messages, .response) else { return nil }
      return "\(context.name) replaces the response's messages, and declares that it receives none"
    }
    guard facts.kind.serverStreams, requestStart == nil, responseEnd == nil else { return nil }
    return
      "\(context.name) responds while next waits, and declares that it receives no messages of the response"
  }

  /// The function has thrown. The metadata of the error are the trailers of the response.
  private func fail(_ error: RPCError) {
    if let token = requestStart {
      token.use { $0.fail(error) }
    } else if responseEnd != nil {
      // The headers and trailers of the server are kept.
      if let (start, token) = responseStart { token.use { $0.proceed(.responseStart(start)) } }
      response.finish(error)
    } else if let (_, token) = responseStart {
      token.use { $0.fail(error) }
    } else {
      context.fail(error)
    }
  }

  // MARK: - Own calls

  /// Makes a call of the interceptor's own.
  func call(_ call: Subrequest, _ waiter: AsyncWaiter<SubrequestResponse>) {
    context.call(call) { waiter.resume(.success($0)) }
  }

  /// Makes an HTTP request.
  func fetch(_ fetch: HTTPFetch, _ waiter: AsyncWaiter<HTTPFetchResponse>) {
    context.fetch(fetch) { waiter.resume($0.mapError { $0 }) }
  }
}

extension LocalResponse {
  /// A response without messages that are not sent yet.
  fileprivate init(_ end: ResponseEnd, headers: Headers = Headers()) {
    self.init(headers: headers, error: end.error, trailers: end.trailers)
  }
}
