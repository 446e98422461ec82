import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// The commands of interceptors take effect in the order given, with tokens or with contexts, in one callback or
/// between two turns of the loop.
@Suite struct ProgramOrderTests {
  private let journal = Journal()
  private let starts = Holder<RequestStart, Outbound>()

  private func text(_ words: String) -> Payload { .bytes(TestMessages.bytes(words)) }
  private var response: LocalResponse { LocalResponse(messages: [text("local")]) }

  // MARK: Several endings at once

  @Test func responseArrivesAlthoughAnotherInterceptorFailsTheCallInTheSameRound() {
    let outer = Probe("A", .requestMessage, journal)
    let messages = Holder<MessageValue, Outbound>()
    outer.onRequestMessage = { _, token in messages.keep(token) }
    let inner = Probe("B", .requestStart, journal)
    inner.onRequestStart = { [starts] _, token in starts.keep(token) }
    let call = TestCall(.bidiStreaming, journal, [outer, inner])
    call.start()
    call.send("1")
    starts.take().use { $0.respond(response) }
    messages.take().use { $0.fail(refused) }
    call.chain.processCommands()
    #expect(call.callerLines == ["headers", "local", "end ok", "metrics 0", "finished"])
  }

  @Test(arguments: ["release", "fail", "drop", "respond", "throw"])
  func responseArrivesWhateverTheVerdictOnItsRequestMessage(_ other: String) {
    let call = TestCall(
      .unary, journal,
      [TestCall.registration("A") { _, _ in Answering(other, LocalResponse(messages: [self.text("local")])) }]
    )
    call.start()
    call.send("1")
    #expect(call.callerLines == ["headers", "local", "end ok", "metrics 0", "finished"])
  }

  /// Responds with the token of the start while it is called with a message, and then gives a verdict on the message.
  private final class Answering: StagedInterceptor {
    let stages: Stages = [.requestStart, .requestMessage]
    private let other: String
    private let response: LocalResponse
    private var start: HeldToken<RequestStart, Outbound>?

    init(_ other: String, _ response: LocalResponse) {
      (self.other, self.response) = (other, response)
    }

    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
      self.start = HeldToken(token)
    }

    func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
      start?.use { $0.respond(response) }
      switch other {
      case "fail": token.fail(refused)
      case "drop": token.drop()
      case "respond": token.respond(LocalResponse())
      case "throw": throw refused
      default: break
      }
    }
  }

  // MARK: Messages before an ending

  @Test(arguments: [true, false])
  func injectedMessagesArriveBeforeTheResponse(_ isInCallback: Bool) {
    let probe = Probe("B", [.requestStart], journal)
    func answer(_ token: consuming RequestToken<RequestStart>) {
      probe.context?.start(response: ResponseStart())
      for number in 0..<5 { probe.context?.inject(response: text("\(number)")) }
      token.respond(response)
    }
    probe.onRequestStart = { [starts] _, token in
      if isInCallback { answer(token) } else { starts.keep(token) }
    }
    let call = TestCall(.serverStreaming, journal, [Probe("A", .response, journal), probe])
    call.start()
    if !isInCallback { starts.take().use(answer) }
    call.work()
    #expect(call.callerLines.prefix(8) == ["headers", "0", "1", "2", "3", "4", "local", "end ok"])
    #expect(journal.lines(of: "A").contains("got-message 4"))
  }

  @Test func injectedMessageArrivesBeforeTheError() {
    let probe = Probe("A", .responseMessage, journal, messages: .bytes)
    probe.onResponseMessage = { [text] _, token in
      probe.context?.inject(response: text("last"))
      token.fail(refused)
    }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    call.receive("1")
    #expect(call.callerLines.prefix(3) == ["headers", "last", "end permission_denied"])
  }

  @Test func messageInjectedAfterTheErrorIsIgnored() {
    let probe = Probe("A", .responseMessage, journal, messages: .bytes)
    probe.onResponseMessage = { [text] _, token in
      token.fail(refused)
      probe.context?.inject(response: text("late"))
    }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    call.receive("1")
    #expect(call.callerLines.prefix(2) == ["headers", "end permission_denied"])
  }

  @Test(arguments: [true, false])
  func messageForwardedAfterTheContextFailedTheCallIsDropped(_ isInCallback: Bool) {
    let probe = Probe("A", .responseMessage, journal)
    let held = Holder<MessageValue, Inbound>()
    probe.onResponseMessage = { message, token in
      guard isInCallback else { return held.keep(token) }
      probe.context?.fail(refused)
      token.proceed(message)
    }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    call.receive("1")
    if !isInCallback {
      probe.context?.fail(refused)
      held.take().use { $0.proceed(.typed("1")) }
      call.work()
    }
    #expect(call.callerLines.prefix(2) == ["headers", "end permission_denied"])
  }

  @Test func contextDoesNotFailACallAfterItsInterceptorHasForwardedTheEnd() {
    let probe = Probe("A", .responseEnd, journal)
    probe.onResponseEnd = { end, token in
      token.proceed(end)
      probe.context?.fail(refused)
    }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.run()
    #expect(call.end == ResponseEnd())
  }

  @Test func releasedMessageArrivesBeforeTheErrorOfTheNext() {
    let probe = Probe("A", .responseMessage, journal, messages: .bytes)
    let held = Holder<MessageValue, Inbound>()
    probe.onResponseMessage = { _, token in held.keep(token) }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    for text in ["1", "2", "3"] { call.receive(text) }
    held.take().use { $0.proceed(.bytes("1")) }
    held.take().use { $0.fail(refused) }
    call.chain.processCommands()
    #expect(call.callerLines.prefix(3) == ["headers", "1", "end permission_denied"])
  }

  @Test func messagesInjectedAtAnEndPrecedeIt() {
    let probe = Probe("A", [.requestEnd, .responseEnd], journal)
    probe.onRequestEnd = { [text] token in
      probe.context?.inject(request: text("more"))
      token.proceed()
    }
    probe.onResponseEnd = { [text] end, token in
      probe.context?.inject(response: text("more"))
      token.proceed(end)
    }
    let call = TestCall(.bidiStreaming, journal, [probe])
    call.run()
    #expect(call.wireLines == ["start", "ping", "more", "half-close"])
    #expect(call.callerLines.prefix(4) == ["headers", "pong", "more", "end ok"])
  }

  @Test func messageInjectedAfterTheForwardedHalfCloseIsIgnored() {
    let probe = Probe("A", .requestEnd, journal)
    probe.onRequestEnd = { [text] token in
      token.proceed()
      probe.context?.inject(request: text("late"))
    }
    let call = TestCall(.bidiStreaming, journal, [probe])
    call.run()
    #expect(call.wireLines == ["start", "ping", "half-close"])
    #expect(call.logged.map(\.text) == ["ignored: a message injected after the half-close"])
  }

  // MARK: Cancelling

  @Test func cancelStopsAStartThatIsForwardedAfterIt() {
    let probe = Probe("A", .requestStart, journal)
    probe.onRequestStart = { start, token in
      probe.context?.cancel("enough")
      token.proceed(start)
    }
    let inner = TestCall.registration("B") { _, _ in
      Issue.record("made behind one that canceled the call")
      return nil
    }
    let call = TestCall(.bidiStreaming, journal, [TestCall.registration(probe), inner])
    call.start()
    #expect(call.callerLines == ["end canceled", "metrics 0", "finished"])
    #expect(call.wireLines == [])
  }

  @Test func factoryThatCancelsStopsTheStart() {
    let inner = Probe("A", .requestStart, journal)
    let call = TestCall(
      .bidiStreaming, journal,
      [
        TestCall.registration("A") { _, context in
          context.cancel("enough")
          return inner
        }
      ])
    call.start()
    #expect(journal.lines(of: "A") == ["finish canceled"])
    #expect(call.callerLines == ["end canceled", "metrics 0", "finished"])
  }

  @Test func cancelingAtTheStartOfALocalResponseIsEffective() {
    let outer = Probe("A", .responseStart, journal)
    outer.onResponseStart = { start, token in
      outer.context?.cancel("enough")
      token.proceed(start)
    }
    let inner = Probe("B", .requestStart, journal)
    inner.onRequestStart = { [response] _, token in token.respond(response) }
    let call = TestCall(.unary, journal, [outer, inner])
    call.start()
    #expect(call.callerLines == ["end canceled", "metrics 0", "finished"])
  }

  // MARK: One value at a time

  @Test func queuedMessagesAreNotLostAtTheEnd() {
    let probe = Probe("A", .responseMessage, journal)
    probe.requirements.isSerial = true
    let held = Holder<MessageValue, Inbound>()
    probe.onResponseMessage = { _, token in held.keep(token) }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    for text in ["1", "2"] { call.receive(text) }
    call.receiveEnd()
    for text in ["1", "2"] {
      held.take().use { $0.proceed(.typed(text)) }; call.chain.processCommands()
    }
    #expect(call.callerLines.prefix(4) == ["headers", "typed 1", "typed 2", "end ok"])
  }
}
