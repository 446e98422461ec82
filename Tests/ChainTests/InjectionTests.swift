import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@Suite struct InjectionTests {
  private let journal = Journal()
  private func bytes(_ text: String) -> Payload { .bytes(TestMessages.bytes(text)) }

  @Test func messagesThatWaitForTheStartLeaveRoomForIt() {
    let probe = Probe("A", [], journal)
    let call = TestCall(.serverStreaming, journal, [probe], windowBytes: 100)
    call.start()
    for text in ["one", "two", "three"] { probe.context?.inject(response: bytes(text)) }
    #expect(call.chain.wantsMoreResponse)
    call.receiveHeaders()
    #expect(call.callerLines == ["headers", "one", "two", "three"])
  }

  @Test func messagesInjectedByATokenPrecedeItsValue() {
    let probe = Probe(
      "A", [.requestMessage, .requestEnd, .responseMessage, .responseEnd], journal, messages: .bytes)
    probe.onRequestMessage = { value, token in
      token.inject(self.bytes("before \(value.text)"))
      token.proceed(value)
    }
    probe.onRequestEnd = { token in
      token.inject(.typed(TestMessages.make("last")))
      token.proceed()
    }
    probe.onResponseMessage = { message, token in
      token.inject(.typed(TestMessages.make("first")))
      token.inject(self.bytes("second"))
      token.drop()
    }
    probe.onResponseEnd = { end, token in
      token.inject(self.bytes("bye"))
      token.proceed(end)
    }
    let call = TestCall(.bidiStreaming, journal, [probe])
    call.start()
    call.send("1")
    call.send("2")
    call.close()
    call.receiveHeaders()
    call.receive("x")
    call.receiveEnd()
    #expect(call.wireLines == ["start", "before 1", "1", "before 2", "2", "last", "half-close"])
    #expect(call.callerLines.prefix(5) == ["headers", "typed first", "second", "bye", "end ok"])
  }

  /// A call whose only interceptor holds the messages of the request, and has received one.
  private func callWithHeldMessage() -> (TestCall, Probe, Holder<MessageValue, Outbound>) {
    let held = Holder<MessageValue, Outbound>()
    let probe = Probe("A", [.requestMessage], journal, messages: .bytes)
    probe.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    call.send("1")
    return (call, probe, held)
  }

  @Test func messageInjectedAfterAnOwnHalfCloseIsIgnored() {
    let (call, probe, held) = callWithHeldMessage()
    probe.context?.endRequest()
    call.send("2")
    // The half-close waits for the first message, and another value follows it.
    probe.context?.inject(request: bytes("late"))
    probe.context?.endRequest()
    call.chain.processCommands()
    held.take().use { $0.proceed(.bytes("1")) }
    held.take().use { $0.drop() }
    call.chain.processCommands()
    #expect(call.wireLines == ["start", "1", "half-close"])
    #expect(call.logged.map(\.text) == ["ignored: a message injected after the half-close"])
  }

  @Test func messageInjectedBeforeAHeldValueLeavesAtOnce() {
    let held = Holder<Void, Outbound>()
    let probe = Probe("A", [.requestEnd], journal)
    probe.onRequestEnd = { token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    call.close()
    let token = held.take()
    token.look { $0.inject(self.bytes("1")) }
    call.chain.processCommands()
    #expect(call.wireLines == ["start", "1"])
    token.look { $0.inject(self.bytes("2")) }
    token.use { $0.proceed() }
    call.chain.processCommands()
    #expect(call.wireLines == ["start", "1", "2", "half-close"])
  }

  @Test func injectedMessagesReachOnlyLaterInterceptors() {
    let first = Probe("A", [.requestMessage], journal)
    let second = Probe("B", [.requestMessage, .responseMessage], journal)
    let third = Probe("C", [.requestMessage, .responseMessage], journal)
    let call = TestCall(.bidiStreaming, journal, [first, second, third])
    call.start()
    second.context?.inject(request: bytes("out"))
    call.receiveHeaders()
    second.context?.inject(response: bytes("in"))
    call.chain.processCommands()
    #expect(journal.lines(of: "A").isEmpty)
    #expect(journal.lines(of: "B").isEmpty)
    #expect(journal.lines(of: "C") == ["message out"])
    #expect(call.wireLines == ["start", "out"])
    #expect(call.callerLines == ["headers", "in"])
  }

  @Test func injectedMessagesFollowWhatTheInterceptorHasReceived() {
    let (call, probe, held) = callWithHeldMessage()
    probe.context?.inject(request: bytes("mine"))
    call.send("2")
    call.close()
    call.chain.processCommands()
    #expect(call.wireLines == ["start"])
    for text in ["1", "2"] { held.take().use { $0.proceed(.bytes(text)) } }
    call.chain.processCommands()
    #expect(call.wireLines == ["start", "1", "mine", "2", "half-close"])
  }

  @Test func messagesInjectedWhileTheEndIsHeldPrecedeIt() {
    let held = Holder<ResponseEnd, Inbound>()
    let probe = Probe("A", [.responseEnd], journal)
    probe.onResponseEnd = { _, token in held.keep(token) }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    call.receiveEnd()
    probe.context?.inject(response: bytes("late"))
    call.chain.processCommands()
    #expect(call.callerLines == ["headers", "late"])
    held.take().use { $0.proceed(ResponseEnd()) }
    call.chain.processCommands()
    #expect(call.callerLines.prefix(3) == ["headers", "late", "end ok"])
    probe.context?.inject(response: bytes("too late"))
    call.chain.processCommands()
    #expect(call.received.count == 1)
  }

  @Test func messageInjectedBeforeTheHeadersFollowsThem() {
    let probe = Probe("A", [], journal)
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    probe.context?.inject(response: bytes("early"))
    call.chain.processCommands()
    #expect(call.callerLines.isEmpty)
    call.receiveHeaders()
    call.receive("1")
    #expect(call.callerLines == ["headers", "early", "1"])
  }

  @Test(arguments: [Stages(), .responseEnd])
  func messageInjectedBeforeTheEndOfAResponseWithoutAStartMakesOne(_ stages: Stages) {
    let probe = Probe("A", stages, journal)
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    probe.context?.inject(response: bytes("early"))
    call.work()
    call.receiveEnd(RPCError(.unavailable, "none", origin: .server))
    #expect(call.callerLines.prefix(3) == ["headers", "early", "end unavailable"])
  }

  @Test func messageInjectedAfterTheHalfCloseIsIgnoredAndLogged() {
    let probe = Probe("A", [], journal)
    let call = TestCall(.bidiStreaming, journal, [probe])
    call.start()
    call.close()
    probe.context?.inject(request: bytes("late"))
    call.chain.processCommands()
    #expect(call.wireLines == ["start", "half-close"])
    #expect(call.logged.map(\.text) == ["ignored: a message injected after the half-close"])
  }

  @Test func unaryMessageMayBeReplacedButNotDoubled() {
    let replacer = Probe("A", [.requestMessage, .responseMessage], journal, messages: .bytes)
    replacer.onRequestMessage = { _, token in
      token.inject(self.bytes("new"))
      token.drop()
    }
    replacer.onResponseMessage = { _, token in
      token.inject(self.bytes("other"))
      token.drop()
    }
    let call = TestCall(.unary, journal, [replacer])
    call.run()
    #expect(call.wireLines == ["start", "new", "half-close"])
    #expect(call.callerLines.prefix(3) == ["headers", "other", "end ok"])

    let doubler = Probe("B", [.requestMessage], Journal(), messages: .bytes)
    doubler.onRequestMessage = { value, token in
      token.inject(self.bytes("new"))
      token.proceed(value)
    }
    let second = TestCall(.unary, Journal(), [doubler])
    second.run()
    #expect(
      second.end?.error?.message == "interceptors put a second message into a request that has exactly one")
  }

  @Test func errorMayBecomeAnEmptyResponse() {
    let probe = Probe("A", [.responseEnd], journal)
    probe.onResponseEnd = { _, token in
      token.inject(self.bytes(""))
      token.proceed(ResponseEnd())
    }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    call.send("x")
    call.close()
    call.receiveHeaders()
    call.receiveEnd(RPCError(.notFound, "none", origin: .server))
    #expect(call.callerLines.prefix(3) == ["headers", "", "end ok"])
  }

  /// Commands for one token in several turns of the loop have the effect of commands in one turn.
  @Test func unaryMessageMayBeReplacedInTwoSteps() {
    let requests = Holder<MessageValue, Outbound>()
    let responses = Holder<MessageValue, Inbound>()
    let probe = Probe("A", [.requestMessage, .responseMessage], journal, messages: .bytes)
    probe.onRequestMessage = { _, token in requests.keep(token) }
    probe.onResponseMessage = { _, token in responses.keep(token) }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    call.send("old")
    call.close()
    let request = requests.take()
    request.look { $0.inject(self.bytes("new")) }
    call.chain.processCommands()
    #expect(call.wireLines == ["start", "new"])
    request.use { $0.drop() }
    call.chain.processCommands()
    #expect(call.wireLines == ["start", "new", "half-close"])
    call.receiveHeaders()
    call.receive("old")
    call.receiveEnd()
    let response = responses.take()
    response.look { $0.inject(self.bytes("other")) }
    call.chain.processCommands()
    response.use { $0.drop() }
    call.chain.processCommands()
    #expect(call.callerLines.prefix(3) == ["headers", "other", "end ok"])
  }

  @Test(arguments: [Stages(), .requestStart])
  func messageInjectedWhenTheInterceptorIsMadeFollowsTheStart(_ stages: Stages) {
    let injector = TestCall.registration("B") { [journal, bytes] _, context in
      context.inject(request: bytes("early"))
      return Probe("B", stages, journal)
    }
    let last = Probe("C", [.requestStart, .requestMessage], journal, messages: .bytes)
    let call = TestCall(.bidiStreaming, journal, [injector, TestCall.registration(last)])
    call.start()
    call.send("1")
    #expect(journal.lines(of: "C") == ["start", "bytes early", "bytes 1"])
    #expect(call.wireLines == ["start", "early", "1"])
  }

  @Test func messageInjectedWhileTheStartIsHeldFollowsWhatTheInterceptorHasReceived() {
    let held = Holder<RequestStart, Outbound>()
    let injector = Probe("B", .requestStart, journal)
    injector.onRequestStart = { _, token in held.keep(token) }
    let last = Probe("C", [.requestStart, .requestMessage], journal, messages: .bytes)
    let call = TestCall(.bidiStreaming, journal, [injector, last])
    call.start()
    injector.context?.inject(request: bytes("first"))
    call.work()
    call.send("1")
    injector.context?.inject(request: bytes("second"))
    call.work()
    call.send("2")
    #expect(journal.lines(of: "C").isEmpty)
    held.take().use { $0.proceed(call.request) }
    call.work()
    #expect(journal.lines(of: "C") == ["start", "bytes first", "bytes 1", "bytes second", "bytes 2"])
    #expect(call.wireLines == ["start", "first", "1", "second", "2"])
  }

  @Test func messageInjectedBeforeAFailingMessageIsNotSent() {
    let injector = Probe("A", [.requestMessage], journal, messages: .bytes)
    injector.onRequestMessage = { value, token in
      token.inject(self.bytes("bad"))
      token.inject(self.bytes("good"))
      token.proceed(value)
    }
    let judge = Probe("B", [.requestMessage], journal, messages: .bytes)
    judge.onRequestMessage = { value, token in
      if value.text == "bad" { token.fail(refused) } else { token.proceed(value) }
    }
    let call = TestCall(.clientStreaming, journal, [injector, judge])
    call.start()
    call.send("1")
    #expect(journal.lines(of: "B") == ["bytes bad", "finish permission_denied"])
    #expect(call.wireLines == ["start", "cancel"])
  }

  @Test func messagesThatWaitForHeadersAreDiscardedIfTheHeadersFail() {
    let injector = Probe("B", [], journal)
    let judge = Probe("A", [.responseStart, .responseMessage], journal, messages: .bytes)
    judge.onResponseStart = { _, token in token.fail(refused) }
    let call = TestCall(.serverStreaming, journal, [judge, injector])
    call.start()
    injector.context?.inject(response: bytes("early"))
    injector.context?.inject(response: bytes("too"))
    call.chain.processCommands()
    call.receiveHeaders()
    #expect(journal.lines(of: "A") == ["headers", "finish permission_denied"])
    #expect(call.end?.error == refused)
    #expect(call.received.isEmpty)
  }

  @Test func messageInjectedBeforeTheEndOfACallWithoutHeadersFollowsHeaders() {
    let journal = Journal()
    let outer = Probe("A", [.responseStart, .responseEnd], journal)
    let fallback = Probe("F", .responseEnd, journal)
    fallback.onResponseEnd = { _, token in
      token.inject(.bytes(TestMessages.bytes("cached")))
      token.proceed(ResponseEnd())
    }
    let inner = Probe("B", .requestStart, journal)
    inner.onRequestStart = { _, token in token.fail(refused) }
    let call = TestCall(.unary, journal, [outer, fallback, inner])
    call.start()
    #expect(journal.lines(of: "A").prefix(2) == ["headers", "end ok"])
    #expect(call.callerLines.prefix(3) == ["headers", "cached", "end ok"])
  }

  /// The response has no headers: they come from the interceptor, by a start or before a message.
  @Test(arguments: [true, false])
  func messageInjectedBeforeTheStartFollowsTheStartAtAHeldEnd(_ startsResponse: Bool) {
    let held = Holder<ResponseEnd, Inbound>()
    let probe = Probe("A", .responseEnd, journal)
    probe.onResponseEnd = { _, token in held.keep(token) }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    for text in ["early", "second"] { probe.context?.inject(response: bytes(text)) }
    call.chain.processCommands()
    call.receiveEnd(RPCError(.unavailable, "none", origin: .server))
    #expect(call.callerLines.isEmpty)
    if startsResponse { probe.context?.start(response: ResponseStart()) }
    probe.context?.inject(response: bytes("late"))
    call.work()
    #expect(call.callerLines == ["headers", "early", "second", "late"])
    held.take().use { $0.proceed(ResponseEnd()) }
    call.work()
    #expect(call.callerLines.prefix(5) == ["headers", "early", "second", "late", "end ok"])
  }
}
