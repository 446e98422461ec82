import RPCurlChain
import RPCurlChainSupport
import RPCurlClient
import RPCurlProtobuf
import RPCurlProtocols
import Testing

/// What asynchronous interceptors declare about messages, the errors that `next` throws, and own calls.
@TestLoop @Suite(.timeLimit(.minutes(5))) struct AsyncAccessTests {
  /// An interceptor that calls a closure.
  private struct Closure: Interceptor {
    var messages = MessageAccesses()
    var replayLimitBytes = 0
    let body: @Sendable (inout Request, Next) async throws -> Response
    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      try await body(&request, next)
    }
  }

  private func call(
    _ kind: CallKind, _ messages: MessageAccesses = MessageAccesses(), replayLimitBytes: Int = 0,
    network: Network? = nil,
    _ body:
      @escaping @Sendable (inout InterceptedRequest, NextInterceptor) async throws -> InterceptedResponse = {
        try await $1($0)
      }
  ) -> TestCall {
    let interceptor = Closure(messages: messages, replayLimitBytes: replayLimitBytes, body: body)
    return TestCall(
      kind, Journal(), [InterceptorRegistration(name: "async", factory: AsyncFactory(interceptor))],
      network: network)
  }

  /// Runs the work that the function's threads schedule, until a condition holds.
  private func run(_ call: TestCall, until holds: () -> Bool) async {
    var arrivals = call.wakes.arrivals.makeAsyncIterator()
    while true {
      call.work()
      call.clock.advance(by: .zero)
      guard !holds(), await arrivals.next() != nil else { return }
    }
  }

  /// Sends a whole request to the server.
  private func sendRequest(_ call: TestCall) async {
    call.start()
    call.send("x")
    call.close()
    await run(call) { call.wireLines.contains("half-close") }
  }

  /// Starts the request, and waits for its end.
  private func end(_ call: TestCall) async -> RPCError? {
    call.start()
    call.send("x")
    call.close()
    await run(call) { call.outcome != nil }
    return call.end?.error
  }

  private func texts(_ call: TestCall) -> [String] {
    call.callerLines.filter { !$0.hasPrefix("metrics") && $0 != "finished" }
  }

  private let down = RPCError(.unavailable, "down", origin: .server)

  // MARK: Declarations

  @Test(arguments: [CallKind.unary, .bidiStreaming])
  func messagesPassAnInterceptorThatDeclaresNone(_ kind: CallKind) async {
    let call = call(kind, MessageAccesses(.none)) { request, next in
      request.headers["x"] = "1"
      var response = try await next(request)
      response.headers["y"] = "2"
      response.changeTrailers = { _ in ["t": "3"] }
      return response
    }
    call.start()
    // It cannot be parsed.
    call.chain.send(.bytes([0xFF]))
    call.close()
    await run(call) { call.wireLines.contains("half-close") }
    #expect(call.sent == [[0xFF]])
    #expect(call.sentStart?.headers["x"] == "1")
    call.receiveHeaders()
    call.wireChain.receive(.responseMessage(.bytes([0xFE])))
    call.receiveEnd()
    await run(call) { call.outcome != nil }
    guard case .bytes([0xFE])? = call.received.first else {
      Issue.record("\(call.received)")
      return
    }
    #expect(call.receivedStart?.headers["y"] == "2")
    #expect(call.end?.error == nil)
    #expect(call.end?.trailers == ["t": "3"])
  }

  @Test func messagesThatAreLeftUnchangedDoNotWaitForTheFunction() async {
    let call = call(.bidiStreaming)
    call.start()
    call.send("1")
    await run(call) { call.wireLines.contains("1") }
    call.receiveHeaders()
    await run(call) { texts(call) == ["headers"] }
    // From here on no other thread is needed.
    let wakes = call.wakes.count.load(ordering: .relaxed)
    call.send("2")
    call.close()
    call.receive("a")
    call.receive("b")
    call.receiveEnd()
    #expect(call.wireLines == ["start", "1", "2", "half-close"])
    #expect(texts(call) == ["headers", "a", "b", "end ok"])
    #expect(call.wakes.count.load(ordering: .relaxed) == wakes)
  }

  @Test func readingWhatIsDeclaredAsNoneThrows() async {
    let requests = call(.bidiStreaming, MessageAccesses(request: .none)) { request, next in
      for try await _ in request.messages {}
      return try await next(request)
    }
    #expect(
      await end(requests)?.message
        == "async reads messages of the request, and declares that it receives none")
    let responses = call(.bidiStreaming, MessageAccesses(response: .none)) { request, next in
      let response = try await next(request)
      for try await _ in response.messages {}
      return response
    }
    await sendRequest(responses)
    responses.receiveHeaders()
    await run(responses) { responses.outcome != nil }
    #expect(
      responses.end?.error?.message
        == "async reads messages of the response, and declares that it receives none")
  }

  @Test func replacingWhatIsDeclaredAsNoneFailsTheCall() async {
    let requests = call(.bidiStreaming, MessageAccesses(request: .none)) { request, next in
      request.messages = stream(["own"])
      return try await next(request)
    }
    #expect(
      await end(requests)?.message
        == "async replaces the request's messages, and declares that it receives none")
    #expect(requests.wireLines.isEmpty)
    let responses = call(.bidiStreaming, MessageAccesses(response: .none)) { request, next in
      var response = try await next(request)
      response.messages = stream(["own"])
      return response
    }
    await sendRequest(responses)
    responses.receiveHeaders()
    await run(responses) { responses.outcome != nil }
    #expect(
      responses.end?.error?.message
        == "async replaces the response's messages, and declares that it receives none")
    #expect(texts(responses) == ["end internal"])
  }

  @Test(arguments: [CallKind.unary, .serverStreaming])
  func interceptorThatDeclaresNoneMayRespond(_ kind: CallKind) async {
    let local = call(kind, MessageAccesses(.none)) { _, _ in InterceptedResponse(messages: stream(["own"])) }
    #expect(await end(local) == nil)
    #expect(texts(local) == ["headers", "typed own", "end ok"])
    let fallback = call(kind, MessageAccesses(.none)) { request, next in
      do {
        return try await next(request)
      } catch {
        return InterceptedResponse(messages: stream(["own"]))
      }
    }
    await sendRequest(fallback)
    fallback.receiveEnd(down)
    await run(fallback) { fallback.outcome != nil }
    #expect(texts(fallback) == ["headers", "typed own", "end ok"])
  }

  @Test func responseInPlaceOfTheServersNeedsItsMessages() async {
    let (isSent, sent) = AsyncStream<Void>.makeStream()
    for kind in [CallKind.unary, .serverStreaming] {
      let call = call(kind, MessageAccesses(.none)) { request, next in
        let given = request
        let waiting = Task { try await next(given) }
        for await _ in isSent { break }
        waiting.cancel()
        return InterceptedResponse(messages: stream(["own"]))
      }
      await sendRequest(call)
      sent.yield()
      await run(call) { call.outcome != nil }
      #expect(
        texts(call)
          == (kind == .unary ? ["headers", "typed own", "end ok"] : ["end internal"]))
    }
  }

  @Test func readerForwardsUnchangedMessagesWithTheirBytes() async {
    let call = call(.bidiStreaming, MessageAccesses(.readTyped)) { request, next in
      // Reads ahead of what it forwards, and removes some.
      request.messages = ahead(request.messages)
      var response = try await next(request)
      response.messages = ahead(response.messages)
      return response
    }
    call.start()
    for text in ["1", "skip", "2", "skip"] { call.send(text) }
    call.close()
    await run(call) { call.wireLines.contains("half-close") }
    #expect(call.wireLines == ["start", "1", "2", "half-close"])
    call.receiveHeaders()
    for text in ["a", "skip", "b"] { call.receive(text) }
    call.receiveEnd()
    await run(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "a", "b", "end ok"])
  }

  @Test func readerThatChangesAMessageFailsTheCall() async {
    let requests = call(.bidiStreaming, MessageAccesses(.readTyped)) { request, next in
      request.messages = changed(request.messages)
      return try await next(request)
    }
    #expect(
      await end(requests)?.message
        == "async changed a message of the request, and declares that it only reads them")
    let responses = call(.bidiStreaming, MessageAccesses(.readTyped)) { request, next in
      var response = try await next(request)
      response.messages = changed(response.messages)
      return response
    }
    await sendRequest(responses)
    responses.receiveHeaders()
    responses.receive("1")
    await run(responses) { responses.outcome != nil }
    #expect(
      responses.end?.error?.message
        == "async changed a message of the response, and declares that it only reads them")
  }

  @Test(arguments: MessageAccess.allCases.filter(\.isBytes))
  func declarationOfBytesIsRefused(_ access: MessageAccess) async {
    for messages in [MessageAccesses(request: access), MessageAccesses(response: access)] {
      let error = await end(call(.unary, messages))
      #expect(error?.code == .invalidArgument)
      #expect(error?.origin == .configuration("async"))
      #expect(error?.message.contains("cannot declare \(access)") == true)
      #expect(error?.message.contains("StagedInterceptor") == true)
    }
  }

  // MARK: Errors

  @Test(arguments: [true, false]) func cancellationErrorEndsTheCallAsCanceled(_ isOfMessages: Bool) async {
    let call = call(.bidiStreaming) { request, next in
      guard isOfMessages else { throw CancellationError() }
      request.messages = AsyncThrowingStream { throw CancellationError() }
      return try await next(request)
    }
    #expect(await end(call) == RPCError(.canceled, "async was canceled", origin: .interceptor("async")))
  }

  private nonisolated static let trailersOnly = ResponseStart(headers: ["grpc-status": "14", "t": "1"])
  private nonisolated static let gateway = ResponseStart(httpStatus: 503)

  @Test(
    arguments: [CallKind.unary, .clientStreaming, .serverStreaming, .bidiStreaming],
    [ResponseStart(), trailersOnly, gateway])
  func nextThrowsAnErrorThatTheStartShowsOrThatReplacesTheOnlyMessage(
    _ kind: CallKind, _ start: ResponseStart
  ) async {
    let call = call(kind, replayLimitBytes: 1000) { request, next in
      do {
        return try await next(request)
      } catch let error as RPCError where error.code == .unavailable && error.metadata["t"] == "1" {
        request.headers["previous"] = "1"
        return try await next(request)
      }
    }
    await sendRequest(call)
    call.wireChain.receive(.responseStart(start))
    call.wireChain.receive(.responseEnd(ResponseEnd(error: down, trailers: ["t": "1"])))
    guard !kind.serverStreams || start.showsEnd else {
      // The function has the response already.
      await run(call) { call.outcome != nil }
      #expect(call.end == ResponseEnd(error: down, trailers: ["t": "1"]))
      return
    }
    await run(call) { call.wireLines.count == 6 }
    #expect(call.wireLines == ["start", "x", "half-close", "start", "x", "half-close"])
    #expect(call.sentStart?.headers["previous"] == "1")
    call.receiveHeaders()
    call.receive("y")
    call.receiveEnd()
    await run(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "y", "end ok"])
  }

  @Test func errorThatIsNotCaughtHasTheHeadersAndTrailersOfTheServer() async {
    let call = call(.unary)
    await sendRequest(call)
    call.receiveHeaders()
    call.wireChain.receive(.responseEnd(ResponseEnd(error: down, trailers: ["t": "1"])))
    await run(call) { call.outcome != nil }
    #expect(call.receivedStart?.headers == ["from": "server"])
    #expect(call.end == ResponseEnd(error: down, trailers: ["t": "1"]))
  }

  @Test func startThatShowsASuccessIsReturned() async {
    let call = call(.serverStreaming)
    await sendRequest(call)
    call.wireChain.receive(.responseStart(ResponseStart(headers: ["grpc-status": "0"])))
    call.receiveEnd()
    await run(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "end ok"])
  }

  @Test func errorAfterTheOnlyMessageIsThrownByTheMessages() async {
    let call = call(.unary, replayLimitBytes: 1000) { request, next in
      let response = try await next(request)
      do {
        for try await _ in response.messages {}
      } catch {
        return try await next(request)
      }
      return response
    }
    await sendRequest(call)
    call.receiveHeaders()
    call.receive("1")
    call.receiveEnd(down)
    await run(call) { call.wireLines.count == 6 }
    call.receiveHeaders()
    call.receive("2")
    call.receiveEnd()
    await run(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "2", "end ok"])
  }

  // MARK: Own calls

  /// Answers own calls in the next round.
  private final class Network: SubrequestTransport {
    var calls: [(Subrequest, excluded: Int)] = []
    var answers = true

    func call(
      _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
      completion: @escaping (SubrequestResponse) -> Void
    ) {
      calls.append((call, excluded.count))
      guard answers else { return }
      completion(SubrequestResponse(headers: ["own": "1"], message: call.message, end: ResponseEnd()))
    }

    func open(
      _ call: Subrequest, _ kind: CallKind, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
      receive: @escaping (SubrequestEvent) -> Void
    ) -> (any SubrequestStream)? { nil }

    func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
      guard fetch.url == "http://tokens" else {
        return completion(.failure(RPCError(.unavailable, "no \(fetch.url)", origin: .connection)))
      }
      completion(.success(HTTPFetchResponse(status: 200, body: Array("token".utf8))))
    }

    func end() {}
  }

  private static let own = Subrequest(
    method: MethodName(service: "test.Echo", method: "Token"), message: TestMessages.bytes("own"))

  @Test func interceptorMakesOwnCallsAndFetches() async {
    let network = Network()
    let call = call(.unary, network: network) { request, next in
      let response = try await request.call(Self.own)
      let token = try await request.fetch(HTTPFetch(url: "http://tokens"))
      request.headers["own"] = response.headers["own"]
      request.headers["message"] = response.message.map(TestMessages.text)
      request.headers["token"] = String(decoding: token.body, as: UTF8.self)
      do {
        _ = try await request.fetch(HTTPFetch(url: "http://other"))
      } catch let error as RPCError {
        request.headers["error"] = error.message
      }
      return try await next(request)
    }
    await sendRequest(call)
    #expect(
      call.sentStart?.headers == [
        "own": "1", "message": "own", "token": "token", "error": "no http://other",
      ])
    #expect(network.calls.map(\.excluded) == [1])
    call.chain.cancel(refused)
  }

  @Test func ownCallThrowsWhenTheCallEnds() async {
    let network = Network()
    network.answers = false
    let (thrown, continuation) = AsyncStream<String>.makeStream()
    let call = call(.unary, network: network) { request, next in
      do {
        _ = try await request.call(Self.own)
      } catch {
        continuation.yield((error as? RPCError)?.message ?? "\(error)")
      }
      return try await next(request)
    }
    call.start()
    await run(call) { network.calls.count == 1 }
    call.chain.cancel(refused)
    var messages = thrown.makeAsyncIterator()
    #expect(await messages.next() == "the call has ended")
  }
}

private func stream(_ texts: [String]) -> AsyncMessages {
  AsyncThrowingStream { continuation in
    for text in texts { continuation.yield(TestMessages.make(text)) }
    continuation.finish()
  }
}

/// The same messages but those with the text `skip`, in a stream that reads as fast as it can.
private func ahead(_ messages: AsyncMessages) -> AsyncMessages {
  copy(messages) { TestMessages.text($0) == "skip" ? nil : $0 }
}

/// Other messages with the same texts.
private func changed(_ messages: AsyncMessages) -> AsyncMessages {
  copy(messages) { TestMessages.make(TestMessages.text($0)) }
}

private func copy(
  _ messages: AsyncMessages, _ change: @escaping @Sendable (Message) -> Message?
) -> AsyncMessages {
  AsyncThrowingStream<Message, any Error> { continuation in
    Task {
      do {
        try await forward(messages, to: continuation, change)
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }
}

private func forward(
  _ messages: some AsyncSequence<Message, any Error> & Sendable,
  to continuation: AsyncThrowingStream<Message, any Error>.Continuation,
  _ change: @Sendable (Message) -> Message?
) async throws {
  for try await message in messages {
    if let message = change(message) { continuation.yield(message) }
  }
}
