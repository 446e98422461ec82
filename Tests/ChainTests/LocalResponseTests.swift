import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// Interceptors that respond to a call piece by piece, while the request continues.
@Suite struct LocalResponseTests {
  private let journal = Journal()
  private let held = Holder<RequestStart, Outbound>()

  /// Responds to the call: holds the start, and drops every message.
  private func answerer() -> Probe {
    let probe = Probe("B", [.requestStart, .requestMessage, .requestEnd], journal)
    probe.onRequestStart = { [held] _, token in held.keep(token) }
    probe.onRequestMessage = { _, token in token.drop() }
    return probe
  }

  @Test func responseStartsWhileTheRequestGoesOn() {
    let outer = Probe("A", .response, journal)
    let answerer = answerer()
    let call = TestCall(.bidiStreaming, journal, [outer, answerer])
    call.start()
    answerer.context?.start(response: ResponseStart(headers: Headers([("x", "1")])))
    answerer.context?.inject(response: .bytes(TestMessages.bytes("one")))
    call.work()
    #expect(call.callerLines == ["headers", "one"])
    #expect(journal.lines(of: "A") == ["headers", "got-message one"])
    call.send("ping")
    #expect(journal.lines(of: "B").contains("message ping"))
    answerer.context?.inject(response: .bytes(TestMessages.bytes("two")))
    call.work()
    held.take().use { $0.respond(LocalResponse(headers: Headers([("x", "2")]))) }
    call.work()
    #expect(call.callerLines == ["headers", "one", "two", "end ok", "metrics 0", "finished"])
    #expect(call.receivedStart?.headers.first("x") == "1")
    #expect(call.wireLines == [])
  }

  /// As from a server.
  @Test(arguments: [CallKind.unary, .clientStreaming, .serverStreaming, .bidiStreaming])
  func singleResponseComesOnlyWithTheStatusOK(_ kind: CallKind) {
    let responder = Probe("B", [.requestStart], journal)
    responder.onRequestStart = { _, token in
      let error = RPCError(.notFound, "no item", origin: .server)
      token.respond(LocalResponse(messages: [.bytes(TestMessages.bytes("one"))], error: error))
    }
    let call = TestCall(kind, journal, [responder])
    call.start()
    #expect(call.callerLines.contains("one") == kind.serverStreams)
    #expect(call.end?.code == .notFound)
  }

  @Test func responderDoesNotReceiveItsOwnMessages() {
    let outer = Probe("A", .all, journal)
    let responder = Probe("B", .all, journal)
    responder.onRequestStart = { [held] _, token in held.keep(token) }
    let call = TestCall(.serverStreaming, journal, [outer, responder])
    call.start()
    responder.context?.start(response: ResponseStart())
    for text in ["one", "two"] { responder.context?.inject(response: .typed(TestMessages.make(text))) }
    call.work()
    held.take().use { $0.respond(LocalResponse()) }
    call.work()
    #expect(
      journal.lines(of: "A") == [
        "start", "headers", "got-message one", "got-message two", "end ok",
        "metrics 0", "finish ok",
      ])
    #expect(journal.lines(of: "B") == ["start", "metrics 0", "finish ok"])
    #expect(call.callerLines.contains("end ok"))
  }

  @Test func startOfAResponseArrivesAlthoughItsInterceptorFailsTheCallAtOnce() {
    let (outer, answerer) = (Probe("A", .requestStart, journal), answerer())
    outer.onRequestStart = { [held] _, token in held.keep(token) }
    answerer.onRequestStart = { [held] _, token in
      held.keep(token)
      answerer.context?.start(response: ResponseStart())
    }
    answerer.onRequestMessage = { _, token in token.fail(refused) }
    let call = TestCall(.bidiStreaming, journal, [outer, answerer])
    call.start()
    call.send("ping")
    // The start and the message leave the outer interceptor in one turn.
    held.take().use { $0.proceed(call.request) }
    call.work()
    #expect(call.callerLines.prefix(2) == ["headers", "end permission_denied"])
  }

  @Test func secondResponseStartIsIgnored() {
    let answerer = answerer()
    let call = TestCall(.bidiStreaming, journal, [answerer])
    call.start()
    for _ in 0..<2 { answerer.context?.start(response: ResponseStart()) }
    call.work()
    #expect(call.callerLines == ["headers"])
    #expect(call.logged.map(\.text) == ["ignored: the response has already started"])
  }

  @Test func noHoldWarningForAnInterceptorThatResponds() {
    let answerer = answerer()
    let call = TestCall(.bidiStreaming, journal, [answerer])
    call.start()
    answerer.context?.start(response: ResponseStart())
    call.work()
    call.clock.advance(by: .seconds(60))
    #expect(call.logged == [])
  }

  @Test func valuesDroppedAfterAHeldStartTakeNoPlace() {
    let answerer = answerer()
    let call = TestCall(.bidiStreaming, journal, [answerer])
    call.start()
    for _ in 0..<1000 { call.send("x") }
    #expect(call.chain.outbound.waitingCount == 1)
  }

  @Test func commandsOfATimerTakeEffect() {
    let probe = answerer()
    let call = TestCall(.bidiStreaming, journal, [probe])
    call.start()
    probe.context?.after(.seconds(1)) {
      probe.context?.start(response: ResponseStart())
      probe.context?.after(.seconds(1)) {
        probe.context?.inject(response: .bytes(TestMessages.bytes("late")))
      }
    }
    call.work()
    call.clock.advance(by: .seconds(2))
    #expect(call.callerLines == ["headers", "late"])
  }
}
