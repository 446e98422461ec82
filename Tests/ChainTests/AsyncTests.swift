import RPCurlChain
import RPCurlChainSupport
import RPCurlClient
import RPCurlProtobuf
import RPCurlProtocols
import Synchronization
import Testing

/// Interceptors written as one asynchronous function.
@TestLoop @Suite struct AsyncTests {
  /// An interceptor that calls a closure.
  private struct Closure: Interceptor {
    var replayLimitBytes = 0
    let body: @Sendable (InterceptedRequest, NextInterceptor) async throws -> InterceptedResponse
    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      try await body(request, next)
    }
  }

  private func call(
    _ kind: CallKind, replayLimitBytes: Int = 0,
    _ body: @escaping @Sendable (InterceptedRequest, NextInterceptor) async throws -> InterceptedResponse
  ) -> TestCall {
    let interceptor = Closure(replayLimitBytes: replayLimitBytes, body: body)
    return TestCall(
      kind, Journal(), [InterceptorRegistration(name: "async", factory: AsyncFactory(interceptor))])
  }

  /// Runs the work that the function's threads schedule, until a condition holds or two seconds have passed.
  private func wait(_ call: TestCall, until holds: () -> Bool) async throws {
    for _ in 0..<2000 where !holds() {
      call.work()
      call.clock.advance(by: .milliseconds(1))
      if !holds() { try await Task.sleep(for: .milliseconds(1)) }
    }
  }

  /// Sends a message to a server that is not available.
  private func runUnavailable(_ call: TestCall) async throws {
    call.start()
    call.send("x")
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    call.receiveEnd(RPCError(.unavailable, "down", origin: .server))
    try await wait(call) { call.outcome != nil }
  }

  private func texts(_ call: TestCall) -> [String] {
    call.callerLines.filter { !$0.hasPrefix("metrics") && $0 != "finished" }.map {
      $0.replacing("typed ", with: "")
    }
  }

  @Test func changesHeadersAndForwardsTheRest() async throws {
    let call = call(.unary) { request, next in
      var request = request
      request.start.headers.set("x", "1")
      var response = try await next(request)
      response.start.headers.set("y", "2")
      response.changeTrailers = { _ in Headers([("t", "3")]) }
      return response
    }
    call.start()
    call.send("ping")
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    #expect(call.sentStart?.headers.first("x") == "1")
    #expect(call.wireLines == ["start", "ping", "half-close"])
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    try await wait(call) { call.outcome != nil }
    #expect(call.receivedStart?.headers.first("y") == "2")
    #expect(texts(call) == ["headers", "pong", "end ok"])
    #expect(call.end?.trailers.first("t") == "3")
  }

  @Test func streamsAreWrapped() async throws {
    let call = call(.bidiStreaming) { request, next in
      var request = request
      let given = request.messages
      request.messages = doubled(given, "out")
      var response = try await next(request)
      response.messages = doubled(response.messages, "in")
      return response
    }
    call.start()
    call.send("1")
    try await wait(call) { call.wireLines.count == 3 }
    call.send("2")
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    #expect(call.wireLines == ["start", "1", "out 1", "2", "out 2", "half-close"])
    call.receiveHeaders()
    call.receive("a")
    try await wait(call) { call.received.count == 2 }
    call.receive("b")
    call.receiveEnd()
    try await wait(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "a", "in a", "b", "in b", "end ok"])
  }

  @Test func respondsWithoutTheServer() async throws {
    let call = call(.serverStreaming) { _, _ in
      InterceptedResponse(
        start: ResponseStart(headers: Headers([("from", "async")])),
        messages: [TestMessages.make("1"), TestMessages.make("2")])
    }
    call.start()
    try await wait(call) { call.outcome != nil }
    #expect(call.wireLines.isEmpty)
    #expect(call.receivedStart?.headers.first("from") == "async")
    #expect(texts(call) == ["headers", "1", "2", "end ok"])
  }

  @Test func localResponseIsStreamedWhileTheRequestArrives() async throws {
    let call = call(.bidiStreaming) { request, _ in
      let messages = request.messages
      return InterceptedResponse(messages: messages)
    }
    call.start()
    for text in ["1", "2", "3"] {
      call.send(text)
      try await wait(call) { texts(call).last == text }
    }
    call.close()
    try await wait(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "1", "2", "3", "end ok"])
    #expect(call.wireLines.isEmpty)
  }

  @Test func endlessLocalResponseFollowsTheCallersBackpressure() async throws {
    let made = Atomic(0)
    let call = call(.serverStreaming) { _, _ in
      InterceptedResponse(
        messages: AsyncThrowingStream {
          made.add(1, ordering: .relaxed)
          return TestMessages.make("more")
        })
    }
    call.chain.callerWants(response: false)
    call.start()
    try await wait(call) { !texts(call).isEmpty && made.load(ordering: .relaxed) > 0 }
    for _ in 0..<200 {
      call.work()
      await Task.yield()
    }
    // One has been forwarded, and the next is not requested.
    #expect(made.load(ordering: .relaxed) == 1)
    call.chain.callerWants(response: true)
    try await wait(call) { texts(call).count > 20 }
    call.chain.cancel(AsyncTests.enough)
    try await wait(call) { call.outcome != nil }
    #expect(texts(call).last == "end canceled")
  }

  private static let enough = RPCError(.canceled, "enough", origin: .client)

  @Test func throwFailsTheCall() async throws {
    let call = call(.unary) { _, _ in throw RPCError(.permissionDenied, "no", origin: .interceptor("async")) }
    call.start()
    try await wait(call) { call.outcome != nil }
    #expect(call.wireLines.isEmpty)
    #expect(call.end?.error?.message == "no")
  }

  @Test func errorOfTheServerIsThrownAndMayBeCaught() async throws {
    let call = call(.serverStreaming) { request, next in
      var response = try await next(request)
      let messages = response.messages
      response.messages = AsyncThrowingStream { continuation in
        Task {
          do {
            try await forward(messages, to: continuation)
          } catch let error as RPCError where error.code == .notFound {
            continuation.yield(TestMessages.make("nothing"))
          }
          continuation.finish()
        }
      }
      return response
    }
    call.start()
    call.send("x")
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    call.receiveHeaders()
    call.receive("1")
    call.receiveEnd(RPCError(.notFound, "gone", origin: .server))
    try await wait(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "1", "nothing", "end ok"])
  }

  @Test func errorBeforeTheResponseIsThrownByNext() async throws {
    let call = call(.unary) { request, next in
      do {
        return try await next(request)
      } catch let error as RPCError {
        throw RPCError(.aborted, "saw \(error.code.name)", origin: .interceptor("async"))
      }
    }
    try await runUnavailable(call)
    #expect(call.end?.error?.message == "saw unavailable")
  }

  @Test(arguments: [["1", "2"], []]) func responseAfterAFailedNextHasItsHeaders(_ messages: [String])
    async throws
  {
    let call = call(.serverStreaming) { request, next in
      do {
        return try await next(request)
      } catch {
        let start = ResponseStart(headers: Headers([("from", "async")]))
        return InterceptedResponse(start: start, messages: messages.map { TestMessages.make($0) })
      }
    }
    try await runUnavailable(call)
    #expect(call.receivedStart?.headers == Headers([("from", "async")]))
    #expect(texts(call) == ["headers"] + messages + ["end ok"])
  }

  @Test func nextMayBeCalledAgain() async throws {
    let call = call(.unary, replayLimitBytes: 1000) { request, next in
      var request = request
      for attempt in 1...3 {
        do {
          return try await next(request)
        } catch let error as RPCError where error.code == .unavailable {
          request.start.headers.set("previous", "\(attempt)")
        }
      }
      throw RPCError(.unavailable, "gave up", origin: .interceptor("async"))
    }
    call.start()
    call.send("x")
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    call.receiveEnd(RPCError(.unavailable, "down", origin: .server))
    try await wait(call) { call.wireStarts == 2 }
    #expect(call.sentStart?.headers.first("previous") == "1")
    call.receiveHeaders()
    call.receive("y")
    call.receiveEnd()
    try await wait(call) { call.outcome != nil }
    #expect(call.wireLines == ["start", "x", "half-close", "start", "x", "half-close"])
    #expect(texts(call) == ["headers", "y", "end ok"])
  }

  @Test func nextThrowsNoErrorOfAnEarlierAttempt() async throws {
    let call = call(.clientStreaming, replayLimitBytes: 100) { request, next in
      _ = try? await next(request)
      _ = try await next(request)
      return try await next(request)
    }
    call.start()
    call.send("x")
    try await wait(call) { call.wireLines.contains("x") }
    call.receiveEnd(RPCError(.unavailable, "down", origin: .server))
    try await wait(call) { call.wireStarts == 2 }
    // More than is kept for another attempt.
    call.send(String(repeating: "y", count: 200))
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    call.receiveHeaders()
    call.receive("z")
    try await wait(call) { call.outcome != nil }
    #expect(call.end?.error?.code == .internal)
    #expect(call.end?.error?.message.contains("cannot be retried") == true)
  }

  /// Without a limit for another attempt.
  @Test func nextThrowsTheErrorOfTheAttemptBeforeIt() async throws {
    let call = call(.unary) { request, next in
      _ = try? await next(request)
      return try await next(request)
    }
    try await runUnavailable(call)
    #expect(call.end?.error?.message == "down")
  }

  @Test func functionIsCancelledWhenTheCallEnds() async throws {
    let (seen, continuation) = AsyncStream<String>.makeStream()
    let call = call(.bidiStreaming) { request, next in
      do {
        return try await next(request)
      } catch {
        continuation.yield((error as? RPCError)?.code.name ?? "\(error)")
        throw error
      }
    }
    call.start()
    try await wait(call) { call.wireStarts == 1 }
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(call.outcome != nil)
    var iterator = seen.makeAsyncIterator()
    #expect(await iterator.next() == "canceled")
  }

  /// A function that reads the whole request of a unary call before it decides.
  @Test func consumedUnaryRequestMayBeSentOrReplaced() async throws {
    for replacement in [nil, "changed"] {
      let call = call(.unary) { request, next in
        var request = request
        let message = try await all(request.messages)[0]
        let sent = replacement.map(TestMessages.make) ?? message
        request.messages = stream([sent])
        return try await next(request)
      }
      call.start()
      call.send("ping")
      call.close()
      try await wait(call) { call.wireLines.contains("half-close") || call.end != nil }
      #expect(call.end == nil)
      #expect(call.wireLines == ["start", replacement ?? "ping", "half-close"])
      call.chain.cancel(refused)
    }
  }

  @Test func consumedUnaryRequestMayBeRespondedTo() async throws {
    let call = call(.unary) { request, _ in
      let message = try await all(request.messages)[0]
      return InterceptedResponse(messages: [TestMessages.make("hello \(TestMessages.text(message))")])
    }
    call.start()
    call.send("Ada")
    call.close()
    try await wait(call) { call.outcome != nil }
    #expect(call.wireLines.isEmpty)
    #expect(texts(call) == ["headers", "hello Ada", "end ok"])
  }

  @Test func consumedUnaryResponseMayBeReplaced() async throws {
    let call = call(.unary) { request, next in
      var response = try await next(request)
      let message = try await all(response.messages)[0]
      response.messages = stream([TestMessages.make("changed \(TestMessages.text(message))")])
      return response
    }
    call.start()
    call.send("ping")
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    try await wait(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "changed pong", "end ok"])
  }

  @Test func consumedUnaryMessageFailsTheCall() async throws {
    let call = call(.unary) { request, next in
      let response = try await next(request)
      _ = try await all(response.messages)
      return response
    }
    call.start()
    call.send("ping")
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    try await wait(call) { call.outcome != nil }
    #expect(call.end?.error?.message == "async dropped the only message of a unary response")
  }

  @Test func endedMessagesEndAgain() async throws {
    for error in [nil, RPCError(.notFound, "gone", origin: .server)] {
      let call = call(.serverStreaming) { request, next in
        let response = try await next(request)
        _ = try? await all(response.messages)
        return response
      }
      call.start()
      try await wait(call) { call.wireStarts == 1 }
      call.receiveHeaders()
      call.receive("1")
      call.receiveEnd(error)
      try await wait(call) { call.outcome != nil }
      #expect(call.outcome != nil)
      #expect(texts(call) == ["headers", "end \(error?.code.name ?? "ok")"])
      call.chain.cancel(refused)
    }
  }

  @Test func secondConcurrentConsumerIsRefused() async throws {
    let call = call(.serverStreaming) { request, next in
      let response = try await next(request)
      async let first = all(response.messages).count
      async let second = all(response.messages).count
      let counts = [try? await first, try? await second]
      return InterceptedResponse(messages: [TestMessages.make("\(counts.compactMap { $0 }.count)")])
    }
    call.start()
    try await wait(call) { call.wireStarts == 1 }
    call.receiveHeaders()
    for _ in 0..<20 {
      try await Task.sleep(for: .milliseconds(1))
      call.work()
    }
    call.receive("1")
    call.receiveEnd()
    try await wait(call) { call.outcome != nil }
    #expect(texts(call).last == "end ok")
    call.chain.cancel(refused)
  }

  @Test func concurrentNextThrowsAndDoesNotAffectTheFirst() async throws {
    let call = call(.unary) { request, next in
      async let first = next(request)
      async let second = next(request)
      var failures = 0
      var response: InterceptedResponse?
      do { response = try await first } catch { failures += 1 }
      do { response = try await second } catch { failures += 1 }
      guard failures == 1, let response else {
        throw RPCError(.internal, "\(failures) failures", origin: .interceptor("async"))
      }
      return response
    }
    call.start()
    call.send("ping")
    call.close()
    try await wait(call) { call.wireLines.contains("half-close") }
    for _ in 0..<20 {
      try await Task.sleep(for: .milliseconds(1))
      call.work()
    }
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    try await wait(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "pong", "end ok"])
    call.chain.cancel(refused)
  }

  @Test func nextThrowsIfTheCallCannotBeRetried() async throws {
    let call = call(.serverStreaming) { request, next in
      let response = try await next(request)
      do {
        return try await next(request)
      } catch {
        return response
      }
    }
    call.start()
    try await wait(call) { call.wireStarts == 1 }
    call.receiveHeaders()
    call.receive("1")
    call.receiveEnd()
    try await wait(call) { call.outcome != nil }
    #expect(texts(call) == ["headers", "1", "end ok"])
    call.chain.cancel(refused)
  }

  @Test func errorThrownWhileAwaitingTheServerFailsTheCall() async throws {
    let call = call(.unary) { request, next in
      try await withThrowingTaskGroup(of: InterceptedResponse.self) { group in
        group.addTask { try await next(request) }
        group.addTask {
          try await Task.sleep(for: .milliseconds(50))
          throw RPCError(.resourceExhausted, "too slow", origin: .interceptor("async"))
        }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
      }
    }
    call.start()
    call.send("ping")
    call.close()
    try await wait(call) { call.outcome != nil }
    #expect(call.end?.error?.code == .resourceExhausted)
    #expect(call.end?.error?.message == "too slow")
    call.chain.cancel(refused)
  }
}

/// Returns all messages when the sequence has ended.
private func all(_ messages: some AsyncSequence<Message, any Error> & Sendable) async throws -> [Message] {
  var all: [Message] = []
  for try await message in messages { all.append(message) }
  return all
}

private func stream(_ messages: [Message]) -> AsyncMessages {
  AsyncThrowingStream { continuation in
    for message in messages { continuation.yield(message) }
    continuation.finish()
  }
}

/// Each message, followed by another.
private func doubled(_ messages: AsyncMessages, _ word: String) -> AsyncMessages {
  AsyncThrowingStream<Message, any Error> { continuation in
    Task {
      do {
        try await double(messages, word, to: continuation)
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }
}

private func double(
  _ messages: some AsyncSequence<Message, any Error> & Sendable, _ word: String,
  to continuation: AsyncThrowingStream<Message, any Error>.Continuation
) async throws {
  for try await message in messages {
    continuation.yield(message)
    continuation.yield(TestMessages.make("\(word) \(TestMessages.text(message))"))
  }
}

private func forward(
  _ messages: some AsyncSequence<Message, any Error> & Sendable,
  to continuation: AsyncThrowingStream<Message, any Error>.Continuation
) async throws {
  for try await message in messages { continuation.yield(message) }
}
