import Interception
import Protobuf
import RPCProtocols

/// Runs the function of an asynchronous interceptor as an interceptor of one call.
final class AsyncAdapter: StagedInterceptor {
  let stages: Stages
  let requirements: InterceptorRequirements

  private let interceptor: any Interceptor
  private let facts: CallFacts
  private let bridge: AsyncBridge
  private let context: CallContext
  private let request: AsyncSide
  private let response: AsyncSide
  private var tasks: [Task<Void, Never>] = []

  // The held starts and end of the call; the sides hold the messages.
  private var requestStart: HeldToken<RequestStart, Outbound>?
  private var responseStart: (ResponseStart, HeldToken<ResponseStart, Inbound>)?
  private var responseEnd: (ResponseEnd, HeldToken<ResponseEnd, Inbound>)?
  /// The tasks that wait until the chain takes more messages.
  private var emitters: [ObjectIdentifier: AsyncWaiter<Void>] = [:]
  /// The task that waits for the response to start.
  private var waiter: AsyncWaiter<ResponseStart>?
  /// Whether the function has returned a response.
  private var hasResponded = false
  /// The start of a response that the function has returned while the call of `next` waited.
  private var ownStart: ResponseStart?
  /// The same until it takes the place of the server's.
  private var waitingStart: ResponseStart?
  /// Whether the function has ended the messages of the request before the caller.
  private var hasEndedRequest = false
  private var changeTrailers: @Sendable (Headers) -> Headers = { $0 }

  init(_ interceptor: any Interceptor, _ facts: CallFacts, _ context: CallContext, receivesBytes: Bool) {
    stages = [
      .requestStart, receivesBytes ? .requestBytes : .requestMessage, .requestEnd, .responseStart,
      .responseMessage, .responseEnd,
    ]
    self.interceptor = interceptor
    self.facts = facts
    self.context = context
    requirements = InterceptorRequirements(replayLimitBytes: interceptor.replayLimitBytes)
    let reference = AdapterReference()
    bridge = AsyncBridge(context.handle, reference)
    request = AsyncSide(injectAfter: { context.inject(request: .typed($0)) }, fail: { context.fail($0) })
    response = AsyncSide(injectAfter: { context.inject(response: .typed($0)) }, fail: { context.fail($0) })
    reference.object = self
  }

  // MARK: - From the chain

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    requestStart = HeldToken(token)
    let (interceptor, bridge, name) = (interceptor, bridge, context.name)
    let given = InterceptedRequest(
      start: start, messages: Incoming(bridge: bridge, direction: .request), call: facts, bridge: bridge)
    retain(
      Task {
        do {
          var request = given
          let response = try await interceptor.intercept(&request, next: NextInterceptor(bridge: bridge))
          bridge.onLoop { $0.respond(response) }
        } catch {
          let error = error as? RPCError ?? RPCError(.internal, "\(error)", origin: .interceptor(name))
          bridge.onLoop { $0.fail(error) }
        }
      })
  }

  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) {
    request.deliver(AsyncSlot(message, token))
  }

  func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) throws {
    guard let type = facts.requestType else { return token.proceed(bytes) }
    let message = try facts.codec == .json ? Message(type, json: bytes) : Message(type, serialized: bytes)
    let held = HeldToken(token)
    request.deliver(
      AsyncSlot(
        message: message, error: nil, inject: { front in held.look { $0.inject(.typed(front)) } },
        settle: { message, error in held.use { $0.settle(message.map { _ in bytes }, error: error) } }))
  }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    guard !hasEndedRequest else { return token.remove() }
    let box = HeldToken(token)
    request.deliver(
      AsyncSlot(
        message: nil, error: nil, inject: { front in box.look { $0.inject(.typed(front)) } },
        settle: { [weak self] _, error in
          let error = error ?? self?.missing(.request)
          box.use { token in
            if let error { token.fail(error) } else { token.proceed() }
          }
        }))
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    if let start = waitingStart.take() { return token.proceed(start) }
    responseStart = (start, HeldToken(token))
    resumeWaiter(start)
  }

  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) {
    response.deliver(AsyncSlot(message, token))
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    // The end is only shown: `finish` follows.
    if token.isVoid { return }
    let box = HeldToken(token)
    responseEnd = (end, box)
    // The server has ended the call without a start.
    if let start = waitingStart.take() { context.start(response: start) }
    if let waiter {
      // The call has ended before its response started.
      self.waiter = nil
      waiter.resume(end.described.map { .failure($0) } ?? .success(ResponseStart()))
    }
    response.deliver(
      AsyncSlot(
        message: nil, error: end.described, inject: { front in box.look { $0.inject(.typed(front)) } },
        settle: { [weak self] _, error in
          guard let self else { return }
          let end = changed(end.trailers, error ?? missing(.response))
          box.use { $0.proceed(end) }
        }))
  }

  func finish(_ outcome: Outcome) {
    // Waiting tasks receive the end of the call as their error, not the cancellation of the task.
    bridge.finish(outcome)
    waiter?.resume(.failure(AsyncBridge.over))
    waiter = nil
    for emitter in emitters.values { emitter.resume(.failure(AsyncBridge.over)) }
    emitters = [:]
    request.release()
    response.release()
    for task in tasks { task.cancel() }
  }

  /// The error of a unary direction whose message was removed and not replaced; nil if there is none.
  private func missing(_ direction: AsyncBridge.Direction) -> RPCError? {
    let isStream = direction == .request ? facts.kind.clientStreams : facts.kind.serverStreams
    guard !isStream, side(direction).isEmptied else { return nil }
    let words = "\(context.name) dropped the only message of a unary \(direction)"
    return RPCError(.internal, words, origin: .interceptor(context.name))
  }

  // MARK: - From the function

  func retain(_ task: Task<Void, Never>) { tasks.append(task) }

  func ask(_ direction: AsyncBridge.Direction, _ consumer: AsyncSide.Consumer) {
    side(direction).ask(consumer)
  }

  /// Forwards a message.
  ///
  /// - Parameter emitter: The task that emits it, which continues when the chain takes more of the direction.
  func emit(_ message: Message, _ direction: AsyncBridge.Direction, _ emitter: AsyncWaiter<Void>) {
    // The values held here may fill the chain's window, and only the function can forward them: do not wait.
    guard side(direction).emit(message) else {
      emitter.resume(.success(()))
      return
    }
    let identity = ObjectIdentifier(emitter)
    emitters[identity] = emitter
    let resume = { [weak self] in _ = self?.emitters.removeValue(forKey: identity)?.resume(.success(())) }
    switch direction {
    case .request: context.whenRequestWanted(resume)
    case .response: context.whenResponseWanted(resume)
    }
  }

  func finish(_ direction: AsyncBridge.Direction, _ error: RPCError?) {
    if direction == .response, let token = requestStart {
      requestStart = nil
      token.use { $0.respond(LocalResponse(changed(Headers(), error))) }
    } else if side(direction).finish(error) {
      close(direction)
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
      guard facts.kind.serverStreams || ownStart != nil else { return }
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

  /// Forwards the request, for the first time or again.
  ///
  /// - Parameters:
  ///   - waiter: The task that waits for the response to start.
  ///   - pump: Starts to forward the messages.
  func proceed(
    _ start: RequestStart, _ waiter: AsyncWaiter<ResponseStart>, pump: () -> Void
  ) {
    guard waiter.isWaiting else { return }
    if let token = requestStart {
      requestStart = nil
      self.waiter = waiter
      token.use { $0.proceed(start) }
      pump()
    } else if let (_, token) = responseEnd {
      retryCall(start, token, waiter)
    } else if let (_, token) = responseStart {
      retryCall(start, token, waiter)
    } else {
      refuse(waiter, "next was called again before its first call returned")
    }
  }

  private func retryCall<Value>(
    _ start: RequestStart, _ token: HeldToken<Value, Inbound>, _ waiter: AsyncWaiter<ResponseStart>
  ) {
    var isPossible = false
    token.look { isPossible = $0.canRetry }
    guard isPossible else {
      return refuse(waiter, "next was called again, and the call cannot be retried")
    }
    self.waiter = waiter
    token.use { $0.retry(start: start) }
    responseStart = nil
    responseEnd = nil
    response.reset()
  }

  private func refuse(_ waiter: AsyncWaiter<ResponseStart>, _ words: String) {
    waiter.resume(.failure(RPCError(.internal, words, origin: .interceptor(context.name))))
  }

  private func resumeWaiter(_ start: ResponseStart) {
    waiter?.resume(.success(start))
    waiter = nil
  }

  /// The function has returned.
  private func respond(_ given: InterceptedResponse) {
    guard !hasResponded else { return }
    hasResponded = true
    changeTrailers = given.changeTrailers
    if let (_, token) = responseStart {
      token.use { $0.proceed(given.start) }
    } else if requestStart != nil || responseEnd != nil {
      context.start(response: given.start)
    } else {
      ownStart = given.start
      waitingStart = given.start
    }
    responseStart = nil
    bridge.pump(given.messages, .response)
  }

  /// The function has thrown. The metadata of the error are the trailers of the response.
  private func fail(_ error: RPCError) {
    if let token = requestStart {
      token.use { $0.fail(error) }
    } else if let (_, token) = responseStart {
      token.use { $0.fail(error) }
    } else if let (end, token) = responseEnd {
      let end = changed(end.trailers, error)
      token.use { $0.proceed(end) }
    } else {
      context.fail(error)
    }
  }
}

extension ResponseEnd {
  /// The error for an asynchronous interceptor, with the trailers as its metadata.
  fileprivate var described: RPCError? {
    var error = error
    error?.metadata = trailers
    return error
  }
}

extension LocalResponse {
  /// A response without messages that are not sent yet.
  fileprivate init(_ end: ResponseEnd, headers: Headers = Headers()) {
    self.init(headers: headers, error: end.error, trailers: end.trailers)
  }
}
