import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

/// How a call's interceptors are made.
@Suite struct SetupTests {
  private let journal = Journal()

  private func noted(_ name: String, _ stages: Stages = .all) -> InterceptorRegistration {
    TestCall.registration(name) { [journal] _, _ in
      journal.note("\(name) made")
      return Probe(name, stages, journal)
    }
  }

  @Test func eachInterceptorIsMadeWhenTheStartReachesIt() {
    let call = TestCall(.unary, journal, [noted("A"), noted("B")])
    #expect(journal.lines.isEmpty)
    call.start()
    #expect(journal.lines == ["A made", "A start", "B made", "B start", "wire start"])
  }

  @Test func interceptorsAfterAFailureAreNeverMade() {
    let refuser = Probe("R", .requestStart, journal)
    refuser.onRequestStart = { _, token in token.fail(refused) }
    let call = TestCall(.unary, journal, [noted("A"), TestCall.registration(refuser), noted("C")])
    call.run()
    #expect(call.end?.error == refused)
    #expect(journal.lines(of: "C").isEmpty)
  }

  @Test func interceptorsAfterALaterLocalResponseAreNeverMade() {
    let held = Holder<RequestStart, Outbound>()
    let answerer = Probe("R", .requestStart, journal)
    answerer.onRequestStart = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [TestCall.registration(answerer), noted("C")])
    call.start()
    held.take().use { $0.respond(LocalResponse(messages: [.bytes(TestMessages.bytes("mine"))])) }
    call.chain.processCommands()
    #expect(call.callerLines.prefix(3) == ["headers", "mine", "end ok"])
    #expect(journal.lines(of: "C").isEmpty)
  }

  @Test func messageAfterAHeldStartMakesNoInterceptor() {
    let held = Holder<RequestStart, Outbound>()
    let holder = Probe("R", [.requestStart, .requestMessage], journal, messages: .bytes)
    holder.onRequestStart = { _, token in held.keep(token) }
    let call = TestCall(
      .clientStreaming, journal,
      [TestCall.registration(holder), noted("C", [.requestStart, .requestMessage])])
    call.start()
    #expect(journal.lines == ["R start"])
    call.send("1")
    #expect(journal.lines == ["R start", "R bytes 1"])
    held.take().use { $0.proceed(call.request) }
    call.chain.processCommands()
    #expect(
      journal.lines == ["R start", "R bytes 1", "C made", "C start", "wire start", "C message 1", "wire 1"])
  }

  /// Copies the request's bytes to a header.
  private final class Signer: StagedInterceptor {
    let stages: Stages = [.requestStart, .requestMessage]
    let messages = MessageAccesses(request: .readBytes)
    private var start: (RequestStart, HeldToken<RequestStart, Outbound>)?
    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
      self.start = (start, HeldToken(token))
    }
    func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
      if let (given, held) = start {
        var start = given
        start.headers.set("signature", message.text)
        held.use { $0.proceed(start) }
      }
      token.proceed(message)
    }
  }

  @Test func signerThatHoldsTheStartReceivesTheBytesIfNoInnerInterceptorWantsMessages() {
    let signer = TestCall.registration("S") { _, _ in Signer() }
    let call = TestCall(
      .unary, journal, [noted("A", .requestMessage), signer, noted("B", .requestStart)])
    call.start()
    call.send("body")
    call.close()
    #expect(call.sentStart?.headers.first("signature") == "body")
    #expect(call.wireLines == ["start", "body", "half-close"])
  }

  @Test func declinedAndUninterestedInterceptorsHaveNoNodes() {
    let call = TestCall(
      .bidiStreaming, journal,
      [TestCall.registration("D") { _, _ in nil }, noted("N", [])])
    call.start()
    call.receiveHeaders()
    call.receive(span: "straight through")
    #expect(call.callerLines == ["headers", "span straight through"])
  }

  @Test func changingTheRegistrationsDoesNotAffectARunningCall() {
    var builder = ChainBuilder([noted("A", .requestMessage), noted("B", .requestMessage)])
    let first = TestCall(.clientStreaming, journal, builder.registrations)
    first.start()
    builder.registrations.swapAt(0, 1)
    builder.registrations.remove(at: 1)
    builder.registrations.append(noted("C", .requestMessage))
    let second = TestCall(.clientStreaming, journal, builder.registrations)
    second.start()
    journal.lines = []
    first.send("1")
    #expect(journal.lines == ["A message 1", "B message 1", "wire 1"])
    journal.lines = []
    second.send("2")
    #expect(journal.lines == ["B message 2", "C message 2", "wire 2"])
  }

  @Test func changedDeadlineAppliesAtOnce() {
    let held = Holder<RequestStart, Outbound>()
    let changer = Probe("A", .requestStart, journal)
    let holder = Probe("B", .requestStart, journal)
    holder.onRequestStart = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [changer, holder])
    let deadline = call.clock.now + .seconds(3)
    changer.onRequestStart = { start, token in
      var start = start
      start.deadline = deadline
      token.proceed(start)
    }
    call.start()
    #expect(call.deadlines == [deadline])
    held.take().use { token in
      var start = call.request
      start.deadline = nil
      token.proceed(start)
    }
    call.chain.processCommands()
    #expect(call.deadlines == [deadline, nil])
    #expect(call.wireStarts == 1)
  }
}
