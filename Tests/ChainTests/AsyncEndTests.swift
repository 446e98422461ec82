import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlClient
import RPCurlProtobuf
import RPCurlProtocols
import Testing

/// Asynchronous interceptors that end a direction, fail the call, or change the request of a further attempt.
@TestLoop @Suite(.timeLimit(.minutes(5))) struct AsyncEndTests {
  /// An interceptor that calls a closure.
  private struct Closure: Interceptor {
    var replayLimitBytes = 0
    let body: @Sendable (inout Request, Next) async throws -> Response
    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      try await body(&request, next)
    }
  }

  private func call(
    _ kind: CallKind, replayLimitBytes: Int = 0,
    _ body:
      @escaping @Sendable (inout InterceptedRequest, NextInterceptor) async throws -> InterceptedResponse
  ) -> TestCall {
    let interceptor = Closure(replayLimitBytes: replayLimitBytes, body: body)
    return TestCall(
      kind, Journal(), [InterceptorRegistration(name: "async", factory: AsyncFactory(interceptor))])
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

  private func texts(_ call: TestCall) -> [String] {
    call.callerLines.filter { !$0.hasPrefix("metrics") && $0 != "finished" }.map {
      $0.replacing("typed ", with: "")
    }
  }

  private let down = RPCError(.unavailable, "down", origin: .server)

  // MARK: Further attempts

  @Test func furtherCallOfNextReplacesTheWholeStart() async {
    let deadline = MonotonicClock.now + .seconds(3600)
    let call = call(.unary, replayLimitBytes: 1000) { request, next in
      do {
        return try await next(request)
      } catch {
        request.target = "http://backup"
        request.headers = ["new": "2"]
        request.deadline = deadline
        request.codec = .json
        return try await next(request)
      }
    }
    call.request.headers = ["old": "1"]
    await sendRequest(call)
    call.receiveEnd(down)
    await run(call) { call.wireStarts == 2 }
    #expect(call.sentStart?.target == "http://backup")
    #expect(call.sentStart?.headers == ["new": "2"])
    #expect(call.sentStart?.deadline == deadline)
    #expect(call.deadlines == [deadline])
    #expect(call.sentStart?.codec == .proto)
    #expect(call.logged.map(\.text) == ["the codec of a call cannot be changed"])
    call.chain.cancel(refused)
  }

  // MARK: Messages that end early

  @Test func endedRequestMessagesHalfCloseTheStream() async {
    let call = call(.bidiStreaming) { request, next in
      request.messages = InterceptedResponse(messages: [TestMessages.make("only")]).messages
      return try await next(request)
    }
    call.start()
    call.send("1")
    await run(call) { call.wireLines.contains("half-close") }
    call.send("2")
    call.close()
    #expect(call.wireLines == ["start", "only", "half-close"])
    call.receiveHeaders()
    call.receive("a")
    call.receiveEnd()
    await run(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "a", "end ok"])
  }

  @Test func endedResponseMessagesEndTheCallOfAStream() async {
    let call = call(.serverStreaming) { request, next in
      var response = try await next(request)
      response.messages = First(messages: response.messages)
      response.changeTrailers = { _ in ["t": "own"] }
      return response
    }
    await sendRequest(call)
    call.receiveHeaders()
    call.receive("1")
    call.receive("2")
    await run(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "1", "end ok"])
    #expect(call.end?.trailers == ["t": "own"])
    #expect(call.wireLines.last == "cancel")
  }

  @Test(arguments: [CallKind.unary, .serverStreaming])
  func responseThatIsReturnedWhileNextWaitsEndsTheCall(_ kind: CallKind) async {
    let (isSent, sent) = AsyncStream<Void>.makeStream()
    let call = call(kind) { request, next in
      let given = request
      let waiting = Task { try await next(given) }
      for await _ in isSent { break }
      waiting.cancel()
      return InterceptedResponse(
        start: ResponseStart(headers: ["from": "async"]), messages: [TestMessages.make("fallback")])
    }
    await sendRequest(call)
    sent.yield()
    await run(call) { call.outcome != nil }
    #expect(call.receivedStart?.headers == ["from": "async"])
    #expect(texts(call) == ["headers", "fallback", "end ok"])
    #expect(call.wireLines.last == "cancel")
  }

  /// The server ends the call without a start while the messages of the returned response are not all there.
  @Test func responseThatIsReturnedWhileNextWaitsReplacesAFailure() async {
    let (isSent, sent) = AsyncStream<Void>.makeStream()
    let (hasFailed, failed) = AsyncStream<Void>.makeStream()
    let count = Locked(0)
    let call = call(.serverStreaming) { request, next in
      let given = request
      let waiting = Task { try await next(given) }
      for await _ in isSent { break }
      waiting.cancel()
      let messages = AsyncThrowingStream<Message, any Error> {
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == 1 { return TestMessages.make("fallback") }
        for await _ in hasFailed { break }
        return nil
      }
      return InterceptedResponse(start: ResponseStart(headers: ["from": "async"]), messages: messages)
    }
    await sendRequest(call)
    sent.yield()
    // The message arrives after the response.
    await run(call) { count.withLock { $0 > 0 } }
    call.wireChain.receive(.responseEnd(ResponseEnd(error: down)))
    failed.yield()
    await run(call) { call.outcome != nil }
    #expect(call.receivedStart?.headers == ["from": "async"])
    #expect(texts(call) == ["headers", "fallback", "end ok"])
  }

  // MARK: Trailers

  /// Ends the call on the server, with a trailer.
  private func fail(_ call: TestCall) async {
    await sendRequest(call)
    call.wireChain.receive(.responseEnd(ResponseEnd(error: down, trailers: ["t": "server"])))
    await run(call) { call.outcome != nil }
  }

  @Test(arguments: [Headers(), ["t": "own"]])
  func metadataOfAnErrorAfterTheServersAreTheTrailers(_ metadata: Headers) async {
    let call = call(.unary) { request, next in
      do {
        return try await next(request)
      } catch {
        var error = RPCError(.aborted, "no", origin: .interceptor("async"))
        error.metadata = metadata
        throw error
      }
    }
    await fail(call)
    #expect(call.end?.error == RPCError(.aborted, "no", origin: .interceptor("async")))
    #expect(call.end?.trailers == (metadata.isEmpty ? ["t": "server"] : metadata))
  }

  @Test func errorOfNextHasTheTrailersAndKeepsThem() async {
    let call = call(.unary) { request, next in
      do {
        return try await next(request)
      } catch var error as RPCError {
        error.message += " \(error.metadata["t"] ?? "")"
        throw error
      }
    }
    await fail(call)
    #expect(call.end?.error == RPCError(.unavailable, "down server", origin: .server))
    #expect(call.end?.trailers == ["t": "server"])
  }

  @Test func metadataOfAnErrorWhileNextWaitsAreTheTrailers() async {
    let (isSent, sent) = AsyncStream<Void>.makeStream()
    let call = call(.unary) { request, next in
      let given = request
      let waiting = Task { try await next(given) }
      for await _ in isSent { break }
      waiting.cancel()
      var error = RPCError(.resourceExhausted, "too slow", origin: .interceptor("async"))
      error.metadata = ["retry-after": "1"]
      throw error
    }
    await sendRequest(call)
    sent.yield()
    await run(call) { call.outcome != nil }
    #expect(
      call.end?.error == RPCError(.resourceExhausted, "too slow", origin: .interceptor("async")))
    #expect(call.end?.trailers == ["retry-after": "1"])
  }

  @Test func metadataOfAnErrorOfTheMessagesAreTheTrailers() async {
    let call = call(.serverStreaming) { request, next in
      var response = try await next(request)
      response.messages = AsyncThrowingStream {
        var error = RPCError(.dataLoss, "broken", origin: .interceptor("async"))
        error.metadata = ["t": "own"]
        throw error
      }
      return response
    }
    await sendRequest(call)
    call.receiveHeaders()
    await run(call) { call.outcome != nil }
    #expect(call.end?.error == RPCError(.dataLoss, "broken", origin: .interceptor("async")))
    #expect(call.end?.trailers == ["t": "own"])
  }
}

/// The first of some messages.
private struct First: AsyncSequence, Sendable {
  typealias Failure = any Error

  let messages: AsyncMessages

  struct AsyncIterator: AsyncIteratorProtocol {
    var messages: any AsyncIteratorProtocol<Message, any Error>
    var isDone = false

    mutating func next() async throws -> Message? {
      guard !isDone else { return nil }
      isDone = true
      return try await messages.next(isolation: #isolation)
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(messages: messages.makeAsyncIterator()) }
}
