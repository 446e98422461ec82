import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlChain

@Suite struct EndingTests {
  // MARK: Failing

  @Test func failBeforeSendingReachesNeitherInnerInterceptorsNorTheTransport() {
    let journal = Journal()
    let middle = Probe("B", .all, journal)
    middle.onRequestStart = { _, token in token.fail(refused) }
    let call = TestCall(.unary, journal, [Probe("A", .all, journal), middle, Probe("C", .all, journal)])
    call.run()
    #expect(
      journal.lines == [
        "A start", "B start", "A end permission_denied", "caller end permission_denied",
        "B metrics 0", "A metrics 0", "caller metrics 0",
        "B finish permission_denied", "A finish permission_denied",
        "caller finished",
      ])
    #expect(call.end?.error == refused)
  }

  @Test func failAfterTheStartCancelsTheTransportAndInnerInterceptors() {
    let journal = Journal()
    let middle = Probe("B", .all, journal)
    middle.onRequestMessage = { _, token in token.fail(refused) }
    let probes = [
      Probe("A", .all, journal), middle, Probe("C", .all, journal), Probe("D", .responseEnd, journal),
    ]
    let call = TestCall(.unary, journal, probes)
    call.start()
    call.send("1")
    #expect(
      journal.lines.dropFirst(4) == [
        "A message 1", "B message 1", "wire cancel", "D end canceled", "C end canceled",
        "A end permission_denied", "caller end permission_denied",
        "C metrics 7", "B metrics 7", "A metrics 7", "caller metrics 7",
        "D finish permission_denied", "C finish permission_denied", "B finish permission_denied",
        "A finish permission_denied", "caller finished",
      ])
  }

  @Test func outerInterceptorsMayChangeOrHoldAFailure() {
    let journal = Journal()
    let inner = Probe("B", .all, journal)
    inner.onRequestStart = { _, token in token.fail(refused) }
    let outer = Probe("A", .responseEnd, journal)
    let held = Holder<ResponseEnd, Inbound>()
    outer.onResponseEnd = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [outer, inner])
    call.start()
    #expect(call.end == nil)
    held.take().use { $0.proceed(ResponseEnd()) }
    call.chain.processCommands()
    #expect(call.end?.error == nil)
  }

  @Test func failOnAResponseReachesOuterInterceptorsOnly() {
    let journal = Journal()
    let middle = Probe("B", [.responseMessage, .responseEnd], journal)
    middle.onResponseMessage = { message, token in
      if message.text == "2" { token.fail(refused) } else { token.proceed(message) }
    }
    let stages: Stages = [.responseMessage, .responseEnd]
    let call = TestCall(
      .serverStreaming, journal, [Probe("A", stages, journal), middle, Probe("C", stages, journal)])
    call.start()
    call.receiveHeaders()
    for text in ["1", "2", "3"] { call.receive(text) }
    call.receiveEnd()
    #expect(
      journal.lines(of: "C") == [
        "got-message 1", "got-message 2", "end canceled", "finish permission_denied",
      ])
    #expect(journal.lines(of: "B") == ["got-message 1", "got-message 2", "finish permission_denied"])
    #expect(
      journal.lines(of: "A") == ["got-message 1", "end permission_denied", "finish permission_denied"])
    #expect(call.callerLines.prefix(3) == ["headers", "1", "end permission_denied"])
    #expect(call.wireLines == ["start", "cancel"])
  }

  @Test func valuesForwardedBeforeAFailureOfTheResponseArrive() {
    let journal = Journal()
    let outer = Probe("A", .responseMessage, journal)
    let held = Holder<MessageValue, Inbound>()
    outer.onResponseMessage = { _, token in held.keep(token) }
    let inner = Probe("B", .responseMessage, journal)
    inner.onResponseMessage = { message, token in
      if message.text == "2" { token.fail(refused) } else { token.proceed(message) }
    }
    let call = TestCall(.serverStreaming, journal, [outer, inner])
    call.start()
    call.receiveHeaders()
    call.receive("1")
    call.receive("2")
    #expect(call.end == nil)
    held.take().use { $0.proceed(.typed("1x")) }
    call.chain.processCommands()
    #expect(call.callerLines.prefix(3) == ["headers", "typed 1x", "end permission_denied"])
  }

  @Test func forwardedValuesDoNotPassOtherInterceptorsAgain() {
    let journal = Journal()
    let held = Holder<MessageValue, Inbound>()
    let inner = Probe("B", .responseMessage, journal)
    inner.onResponseMessage = { message, token in
      guard held.count == 1 else { return held.keep(token) }
      held.take().use { $0.proceed(.typed("1")) }
      token.fail(refused)
    }
    let outer = Probe("A", .responseMessage, journal)
    let call = TestCall(.serverStreaming, journal, [outer, inner])
    call.start()
    call.receiveHeaders()
    for text in ["1", "2"] { call.receive(text) }
    #expect(
      journal.lines(of: "A").filter { $0.hasPrefix("got") } == ["got-message 1"])
    #expect(call.callerLines.prefix(3) == ["headers", "typed 1", "end permission_denied"])
  }

  @Test func endingWaitsAfterValuesHeldFurtherOut() {
    let journal = Journal()
    let outer = Probe("A", .responseMessage, journal, messages: .bytes)
    let outerHeld = Holder<MessageValue, Inbound>()
    outer.onResponseMessage = { message, token in
      if message.text == "1" { outerHeld.keep(token) } else { token.proceed(message) }
    }
    let inner = Probe("B", [.requestMessage, .responseMessage], journal, messages: .bytes)
    let (request, held) = (Holder<MessageValue, Outbound>(), Holder<MessageValue, Inbound>())
    inner.onRequestMessage = { _, token in request.keep(token) }
    inner.onResponseMessage = { message, token in
      switch message.text {
      case "1": token.proceed(message)
      case "2": held.keep(token)
      default:
        held.take().use { $0.proceed(.bytes("2")) }
        request.take().use { $0.fail(refused) }
        token.proceed(message)
      }
    }
    let call = TestCall(.bidiStreaming, journal, [outer, inner])
    call.start()
    call.send("request")
    call.receiveHeaders()
    for text in ["1", "2", "3"] { call.receive(text) }
    #expect(call.callerLines == ["headers"])
    #expect(journal.lines(of: "A") == ["got-bytes 1", "got-bytes 2"])
    outerHeld.take().use { $0.proceed(.bytes("1")) }
    call.chain.processCommands()
    // The inner interceptor forwarded the third message after it had failed the call.
    #expect(call.callerLines.prefix(4) == ["headers", "1", "2", "end permission_denied"])
  }

  @Test func contextDoesNotFailACallWhoseEndHasLeftItsInterceptor() {
    let journal = Journal()
    let outer = Probe("A", [.responseMessage, .responseEnd], journal)
    outer.requirements = InterceptorRequirements(isSerial: true)
    let held = Holder<MessageValue, Inbound>()
    outer.onResponseMessage = { _, token in held.keep(token) }
    let inner = Probe("B", [], journal)
    let call = TestCall(.bidiStreaming, journal, [Probe("O", .responseEnd, journal), outer, inner])
    call.start()
    call.receiveHeaders()
    call.receive("1")
    // The end waits for the serial interceptor.
    call.receiveEnd()
    inner.context?.fail(refused)
    call.work()
    held.take().use { $0.proceed(.typed("1")) }
    call.work()
    #expect(call.callerLines.prefix(3) == ["headers", "typed 1", "end ok"])
  }

  @Test func unparsableRequestAfterTheEndThatAnInterceptorHasReceivedIsIgnored() {
    let journal = Journal()
    let starts = Holder<ResponseStart, Inbound>()
    let inner = Probe("B", [.requestMessage, .responseStart], journal)
    inner.onResponseStart = { _, token in starts.keep(token) }
    let call = TestCall(.bidiStreaming, journal, [Probe("A", .response, journal), inner])
    call.start()
    call.receiveHeaders()
    call.receive("1")
    call.receiveEnd()
    call.chain.send(.bytes(Array("garbage".utf8)))
    starts.take().use { $0.proceed(ResponseStart()) }
    call.work()
    #expect(journal.lines(of: "A").prefix(3) == ["headers", "got-message 1", "end ok"])
    #expect(call.callerLines.prefix(3) == ["headers", "1", "end ok"])
  }

  @Test func failAtTheEndReplacesIt() {
    let journal = Journal()
    let inner = Probe("B", .responseEnd, journal)
    inner.onResponseEnd = { _, token in token.fail(refused) }
    let call = TestCall(
      .unary, journal, [Probe("A", .responseEnd, journal), inner, Probe("C", .responseEnd, journal)])
    call.run()
    #expect(journal.lines(of: "C") == ["end ok", "finish permission_denied"])
    #expect(journal.lines(of: "A") == ["end permission_denied", "finish permission_denied"])
    #expect(!call.wireLines.contains("cancel"))
  }

  @Test func firstOfTwoFailuresCounts() {
    let journal = Journal()
    let probe = Probe("A", [.requestMessage], journal)
    let held = Holder<MessageValue, Outbound>()
    probe.onRequestMessage = { _, token in
      held.keep(token)
      guard held.count == 2 else { return }
      held.take(1).use { $0.fail(RPCError(.aborted, "second message", origin: .client)) }
      held.take(0).use { $0.fail(RPCError(.aborted, "first message", origin: .client)) }
    }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    call.send("1")
    call.send("2")
    #expect(call.end?.error?.message == "second message")
    #expect(call.callerLines.filter { $0.hasPrefix("end") }.count == 1)
  }

  @Test func tokenIsVoidAfterAnotherInterceptorFailedTheCall() {
    let journal = Journal()
    let outer = Probe("A", .responseEnd, journal)
    let ends = Holder<ResponseEnd, Inbound>()
    outer.onResponseEnd = { _, token in ends.keep(token) }
    let middle = Probe("B", .responseMessage, journal, messages: .bytes)
    let held = Holder<MessageValue, Inbound>()
    middle.onResponseMessage = { bytes, token in
      held.keep(token)
      guard held.count == 3 else { return }
      held.take(2).use { $0.fail(RPCError(.aborted, "third", origin: .client)) }
      held.take(1).use { $0.fail(RPCError(.aborted, "second", origin: .client)) }
    }
    let call = TestCall(.serverStreaming, journal, [outer, middle])
    call.start()
    for text in ["1", "2", "3"] { call.receive(text) }
    #expect(journal.lines(of: "A") == ["end aborted"])
    let (late, end) = (held.take(), ends.take())
    #expect(late.isVoid)
    #expect(!end.isVoid)
    end.use { $0.proceed(ResponseEnd(error: refused)) }
    call.chain.processCommands()
    #expect(call.callerLines.prefix(1) == ["end permission_denied"])
  }

  @Test func failStopsTheValueForwardedAfterIt() {
    let journal = Journal()
    let probe = Probe("A", [.requestMessage, .responseStart], journal)
    let held = Holder<MessageValue, Outbound>()
    probe.onRequestMessage = { _, token in held.keep(token) }
    probe.onResponseStart = { start, token in
      held.take().use { $0.fail(refused) }
      token.proceed(start)
    }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    call.send("1")
    call.receiveHeaders()
    #expect(call.callerLines.first == "end permission_denied")
  }

  // MARK: Responding

  @Test func localResponsePassesOuterInterceptorsAsAServersDoes() {
    let journal = Journal()
    let mock = Probe("B", [.requestEnd], journal)
    mock.onRequestEnd = { token in
      token.respond(
        LocalResponse(
          headers: Headers([("from", "mock")]),
          messages: [.bytes(TestMessages.bytes("one")), .typed(TestMessages.make("two"))],
          trailers: Headers([("t", "1")])))
    }
    let call = TestCall(.serverStreaming, journal, [Probe("A", .all, journal), mock])
    call.run()
    #expect(
      journal.lines(of: "A") == [
        "start", "message ping", "half-close", "headers", "got-message one",
        "got-message two", "end ok", "metrics 7", "finish ok",
      ])
    #expect(call.callerLines.prefix(4) == ["headers", "one", "typed two", "end ok"])
    #expect(call.receivedStart?.headers.first("from") == "mock")
    #expect(call.end?.trailers.first("t") == "1")
  }

  @Test func localResponseAtTheStartSendsNothing() {
    let journal = Journal()
    let mock = Probe("A", [.requestStart], journal)
    mock.onRequestStart = { _, token in token.respond(LocalResponse(error: refused)) }
    let call = TestCall(.unary, journal, [mock, Probe("B", .all, journal)])
    call.run()
    #expect(call.wireLines.isEmpty)
    #expect(journal.lines(of: "B") == [])
    #expect(call.callerLines == ["headers", "end permission_denied", "metrics 0", "finished"])
  }

  @Test func localResponseAfterTheHeadersHasNoSecondHeaders() {
    let journal = Journal()
    let mock = Probe("A", [.requestMessage], journal)
    mock.onRequestMessage = { _, token in
      token.respond(LocalResponse(messages: [.bytes(TestMessages.bytes("mine"))]))
    }
    let call = TestCall(.bidiStreaming, journal, [mock, Probe("B", .responseEnd, journal)])
    call.start()
    call.receiveHeaders()
    call.receive("theirs")
    call.send("1")
    #expect(call.callerLines.prefix(4) == ["headers", "theirs", "mine", "end ok"])
    #expect(journal.lines(of: "B") == ["end canceled", "finish ok"])
    #expect(call.wireLines == ["start", "cancel"])
  }

  // MARK: Cancelling

  @Test func cancelReachesEveryInterceptorThatReceivedTheStartOnce() {
    let journal = Journal()
    let held = Holder<RequestStart, Outbound>()
    let middle = Probe("B", .all, journal)
    middle.onRequestStart = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [Probe("A", .all, journal), middle, Probe("C", .all, journal)])
    call.start()
    call.send("1")
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    call.chain.cancel(RPCError(.canceled, "Ctrl-C again", origin: .client))
    #expect(
      journal.lines == [
        "A start", "B start", "A message 1", "B message 1",
        "B end canceled", "A end canceled", "caller end canceled",
        "B metrics 0", "A metrics 0", "caller metrics 0",
        "B finish canceled", "A finish canceled", "caller finished",
      ])
    // Too late: has no effect.
    let token = held.take()
    #expect(token.isVoid)
    token.use { $0.proceed(call.request) }
    call.chain.processCommands()
    #expect(call.wireLines.isEmpty)
  }

  @Test func interceptorPastTheEndDoesNotReceiveCanceled() {
    let journal = Journal()
    let outer = Probe("A", .responseEnd, journal)
    let held = Holder<ResponseEnd, Inbound>()
    let middle = Probe("B", .responseEnd, journal)
    middle.onResponseEnd = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [outer, middle, Probe("C", .responseEnd, journal)])
    call.run()
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(journal.lines(of: "C") == ["end ok", "finish canceled"])
    #expect(journal.lines(of: "B") == ["end ok", "finish canceled"])
    #expect(journal.lines(of: "A") == ["end canceled", "finish canceled"])
    #expect(call.wireLines.last == "half-close")
  }

  @Test func deadlineErrorNamesTheInterceptorThatHeldTheCall() {
    let journal = Journal()
    let held = Holder<ResponseStart, Inbound>()
    let probe = Probe("slow", .all, journal)
    probe.onResponseStart = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    call.receiveHeaders()
    call.chain.cancel(RPCError(.deadlineExceeded, "after 1 s", origin: .client))
    #expect(call.end?.error?.message == "after 1 s (held by slow at response_start)")
    #expect(call.end?.code == .deadlineExceeded)
  }

  @Test func cancelFinishesWithoutWaitingForHeldMetrics() {
    let journal = Journal()
    let held = Holder<CallMetrics, Report>()
    let probe = Probe("A", .metrics, journal)
    probe.onMetrics = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [probe])
    call.run()
    #expect(call.outcome == nil)
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(call.outcome?.end.error == nil)
    #expect(journal.lines.suffix(3) == ["caller metrics 7", "A finish ok", "caller finished"])
  }

  @Test func cancelBeforeTheStartFinishes() {
    let journal = Journal()
    let call = TestCall(.unary, journal, [Probe("A", .all, journal)])
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    call.start()
    #expect(journal.lines.isEmpty)
    #expect(call.chain.isFinished)
  }

  // MARK: Misuse

  @Test func releasedTokenFailsTheCallAndNamesTheInterceptor() {
    let journal = Journal()
    let probe = Probe("careless", .all, journal)
    probe.onRequestMessage = { _, token in _ = consume token }
    let call = TestCall(.unary, journal, [probe])
    call.run()
    #expect(call.end?.error?.message == "careless dropped the call at request_message")
    #expect(call.end?.error?.origin == .interceptor("careless"))
  }

  @Test func heldTokenThatIsReleasedFailsTheCall() {
    let journal = Journal()
    let probe = Probe("careless", .all, journal)
    let held = Holder<ResponseEnd, Inbound>()
    probe.onResponseEnd = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [probe])
    call.run()
    held.release()
    call.chain.processCommands()
    #expect(call.end?.error?.message == "careless dropped the call at response_end")
  }

  @Test func releasedMetricsTokenStillFinishes() {
    let journal = Journal()
    let probe = Probe("careless", .metrics, journal)
    probe.onMetrics = { _, token in _ = consume token }
    let call = TestCall(.unary, journal, [probe])
    call.run()
    #expect(call.callerLines.last == "finished")
  }

  @Test(arguments: [CallKind.unary, .clientStreaming, .serverStreaming, .bidiStreaming])
  func droppingTheOnlyMessageFailsTheCall(_ kind: CallKind) {
    for stage in [Stages.requestMessage, .responseMessage] {
      let journal = Journal()
      let probe = Probe("A", stage, journal)
      probe.onRequestMessage = { _, token in token.drop() }
      probe.onResponseMessage = { _, token in token.drop() }
      let call = TestCall(kind, journal, [probe])
      call.run()
      let isStream = stage == .requestMessage ? kind.clientStreams : kind.serverStreams
      #expect((call.end?.error == nil) == isStream)
      let side = stage == .requestMessage ? "request" : "response"
      if !isStream {
        #expect(call.end?.error?.message == "A dropped the only message of a unary \(side)")
      }
    }
  }

  @Test(arguments: CallKind.allCases, [false, true])
  func halfCloseWithoutTheOnlyMessageFailsTheCall(_ kind: CallKind, _ isBeforeStart: Bool) {
    let journal = Journal()
    // An interceptor that waits for the message, as `mock` does.
    let probe = Probe("A", .requestStart, journal)
    let call = TestCall(kind, journal, [probe])
    let held = Holder<RequestStart, Outbound>()
    probe.onRequestStart = { _, token in held.keep(token) }
    if isBeforeStart { call.close() }
    call.start()
    if !isBeforeStart { call.close() }
    #expect(
      call.end?.error
        == (kind.clientStreams
          ? nil
          : RPCError(
            .invalidArgument, "the request has no message, but the method requires exactly one",
            origin: .client)))
    call.chain.cancel(RPCError(.canceled, "the test ends", origin: .client))
  }

  @Test func verdictsAfterTheEndHaveNoEffect() {
    let journal = Journal()
    let call = TestCall(.bidiStreaming, journal, [Probe("A", .all, journal)])
    call.run()
    let lines = journal.lines
    call.send("late")
    call.receive("late")
    call.receiveEnd()
    call.chain.cancel(RPCError(.canceled, "late", origin: .client))
    call.giveMetrics()
    #expect(journal.lines == lines)
    #expect(call.chain.isFinished)
  }

  @Test func earlyEndOfTheServerStopsTheRequest() {
    let journal = Journal()
    let call = TestCall(
      .clientStreaming, journal, [Probe("A", [.requestMessage, .responseEnd], journal, messages: .bytes)])
    call.start()
    call.send("1")
    call.receiveEnd()
    call.send("2")
    #expect(journal.lines(of: "A") == ["bytes 1", "end ok", "finish ok"])
    #expect(call.wireLines == ["start", "1"])
  }

  /// An interceptor that ends a call at one stage of the request.
  private func ending(
    at stage: Stage, _ name: String, _ journal: Journal, fail: Bool
  ) -> Probe {
    let probe = Probe(name, stage.set, journal)
    let answer = LocalResponse(
      headers: Headers([("from", name)]), messages: [.bytes(TestMessages.bytes("mine"))],
      trailers: Headers([("t", "1")]))
    probe.onRequestStart = { _, token in if fail { token.fail(refused) } else { token.respond(answer) } }
    probe.onRequestMessage = { _, token in if fail { token.fail(refused) } else { token.respond(answer) } }
    probe.onRequestMessage = { _, token in if fail { token.fail(refused) } else { token.respond(answer) } }
    probe.onRequestEnd = { token in if fail { token.fail(refused) } else { token.respond(answer) } }
    return probe
  }

  @Test(arguments: [Stage.requestStart, .requestMessage, .requestEnd])
  func anyStageOfTheRequestMayRespond(_ stage: Stage) {
    let journal = Journal()
    let call = TestCall(
      .unary, journal, [Probe("A", .response, journal), ending(at: stage, "B", journal, fail: false)])
    call.run()
    #expect(
      journal.lines(of: "A") == ["headers", "got-message mine", "end ok", "finish ok"])
    #expect(call.receivedStart?.headers.first("from") == "B")
    #expect(call.end == ResponseEnd(trailers: Headers([("t", "1")])))
    #expect(!call.wireLines.contains("half-close"))
  }

  @Test(arguments: [Stage.requestStart, .requestMessage, .requestEnd])
  func anyStageOfTheRequestMayFailTheCall(_ stage: Stage) {
    let journal = Journal()
    let call = TestCall(
      .unary, journal, [Probe("A", .response, journal), ending(at: stage, "B", journal, fail: true)])
    call.run()
    #expect(journal.lines(of: "A") == ["end permission_denied", "finish permission_denied"])
    #expect(call.end?.error == refused)
    #expect(!call.wireLines.contains("half-close"))
  }
}
