import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@Suite struct RetryTests {
  private let journal = Journal()
  private let gone = RPCError(.unavailable, "gone", origin: .server)

  /// An interceptor that retries at the end of a response, up to `times` times.
  private func retrier(
    _ name: String = "R", times: Int = 1, after delay: Duration = .zero, headers: Headers = Headers(),
    limit: Int = 1000
  ) -> Probe {
    let probe = Probe(name, [.responseStart, .responseEnd, .metrics], journal)
    probe.requirements = InterceptorRequirements(replayLimitBytes: limit)
    var left = times
    let starts = Holder<ResponseStart, Inbound>()
    probe.onResponseStart = { _, token in starts.keep(token) }
    probe.onResponseEnd = { end, token in
      if end.error != nil, left > 0 {
        left -= 1
        token.retry(after: delay, headers: headers)
        starts.release()
      } else {
        if starts.count > 0 { starts.take().use { $0.proceed(ResponseStart()) } }
        token.proceed(end)
      }
    }
    return probe
  }

  /// A registration that makes a new probe for each attempt.
  private func attempted(_ name: String, _ stages: Stages) -> InterceptorRegistration {
    TestCall.registration(name) { [journal] facts, _ in Probe("\(name)\(facts.attempt)", stages, journal) }
  }

  @Test func retryMakesNewInnerInterceptorsAndSendsTheRequestAgain() {
    let outer = Probe("A", .all, journal)
    let call = TestCall(
      .unary, journal, [TestCall.registration(outer), TestCall.registration(retrier()), attempted("C", .all)])
    call.start()
    call.send("ping")
    call.close()
    call.receiveEnd(gone)
    call.clock.advance(by: .zero)
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    // The outer interceptor receives one call.
    #expect(
      journal.lines(of: "A") == [
        "start", "message ping", "half-close", "headers", "got-message pong",
        "end ok", "metrics 14", "finish ok",
      ])
    #expect(
      journal.lines(of: "C1") == [
        "start", "message ping", "half-close", "end unavailable", "metrics 7",
        "finish unavailable",
      ])
    #expect(
      journal.lines(of: "C2") == [
        "start", "message ping", "half-close", "headers", "got-message pong",
        "end ok", "metrics 7", "finish ok",
      ])
    #expect(call.wireLines == ["start", "ping", "half-close", "start", "ping", "half-close"])
    #expect(call.end?.error == nil)
    #expect(call.outcome?.metrics.attempts == 2)
  }

  /// An interceptor that makes attempts, and does nothing else.
  private func recorder(_ name: String) -> Probe {
    let probe = Probe(name, [], journal)
    probe.requirements = InterceptorRequirements(replayLimitBytes: 1000)
    return probe
  }

  @Test func retryInTheCallbackCountsTheMetricsOfAttemptsWithinTheOneGivenUp() {
    let call = TestCall(.unary, journal, [retrier(), recorder("S")])
    call.start()
    call.send("ping")
    call.close()
    call.receiveEnd(gone)
    call.clock.advance(by: .zero)
    call.receiveEnd()
    #expect(call.outcome?.metrics.sentBytes == 14)
    #expect(call.outcome?.metrics.attempts == 2)
  }

  @Test func reportCountsAttemptsWithinThatEndAfterIt() {
    let outer = Probe("A", [.responseMessage], journal)
    outer.onResponseMessage = { _, token in
      token.fail(RPCError(.aborted, "enough", origin: .interceptor("A")))
    }
    let call = TestCall(.bidiStreaming, journal, [outer, recorder("R"), recorder("S")])
    call.start()
    call.receiveHeaders()
    call.receive("pong")
    #expect(call.attempts.map(\.numbers) == [[1], [1, 1]])
    #expect(call.attempts.map(\.nestedCount) == [1, 0])
  }

  @Test func retryWaitsAndChangesHeaders() {
    let call = TestCall(
      .unary, journal,
      [retrier(after: .seconds(2), headers: Headers([("previous", "1")]))])
    call.request.headers = Headers([("a", "1"), ("previous", "0")])
    call.start()
    call.receiveEnd(gone)
    #expect(call.wireLines == ["start"])
    call.clock.advance(by: .milliseconds(1999))
    #expect(call.wireLines == ["start"])
    call.clock.advance(by: .milliseconds(1))
    #expect(call.wireLines == ["start", "start"])
    #expect(call.sentStart?.headers == Headers([("a", "1"), ("previous", "1")]))
  }

  @Test func retryAfterTheDeadlineIsNotWaitedFor() {
    let call = TestCall(.unary, journal, [retrier(after: .seconds(2))])
    call.request.deadline = call.clock.now + .seconds(2)
    call.start()
    call.receiveEnd(gone)
    #expect(call.end?.error == gone)
    #expect(
      call.logged.map(\.text) == ["the call cannot be retried: the deadline is before the next attempt"])
  }

  @Test func messagesBetweenAttemptsAreSentInTheNext() {
    let call = TestCall(.bidiStreaming, journal, [retrier(after: .seconds(1))])
    call.start()
    call.send("1")
    call.receiveEnd(gone)
    call.send("2")
    call.clock.advance(by: .seconds(1))
    call.send("3")
    call.close()
    call.receiveHeaders()
    call.receiveEnd()
    #expect(call.wireLines == ["start", "1", "start", "1", "2", "3", "half-close"])
    #expect(call.end == ResponseEnd())
  }

  @Test func requestLargerThanTheLimitCannotBeRetried() {
    let call = TestCall(.clientStreaming, journal, [retrier(limit: 20)])
    call.start()
    for _ in 0..<5 { call.send("0123456789") }
    call.receiveEnd(gone)
    #expect(call.end?.error == gone)
    #expect(call.wireLines.filter { $0 == "start" }.count == 1)
    #expect(call.logged.map(\.text) == ["the call cannot be retried: the request was too large to be kept"])
  }

  @Test func inputIsPausedWhileTheNextAttemptIsAwaitedAndTheRecordIsFull() {
    let call = TestCall(.clientStreaming, journal, [retrier(after: .seconds(1), limit: 20)])
    call.start()
    call.receiveEnd(gone)
    call.send("0123456789")
    #expect(call.chain.wantsMoreInput)
    call.send("0123456789")
    #expect(!call.chain.wantsMoreInput)
    #expect(call.callerLines == ["pause"])
    call.clock.advance(by: .seconds(1))
    #expect(call.chain.wantsMoreInput)
    #expect(call.wireLines == ["start", "start", "0123456789", "0123456789"])
  }

  @Test func responseCannotBeRetriedAfterTheCallerHasReceivedSome() {
    let probe = Probe("R", [.responseEnd], journal)
    probe.requirements = InterceptorRequirements(replayLimitBytes: 1000)
    probe.onResponseEnd = { _, token in token.retry() }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    call.receive("1")
    call.receiveEnd(gone)
    #expect(call.end?.error == gone)
    #expect(call.logged.map(\.text) == ["the call cannot be retried: the response is under way"])
  }

  @Test func retryRequiresADeclaredReplayLimit() {
    let probe = Probe("R", [.responseEnd], journal)
    probe.onResponseEnd = { _, token in token.retry() }
    let call = TestCall(.unary, journal, [probe, Probe("B", [], journal)])
    call.start()
    call.receiveEnd(gone)
    #expect(call.end?.error == gone)
    #expect(
      call.logged.map(\.text) == ["the call cannot be retried: the interceptor declared no replay limit"])
  }

  @Test func cancelEndsTheWaitForARetry() {
    let call = TestCall(
      .unary, journal,
      [TestCall.registration(retrier(after: .seconds(60))), attempted("C", .responseEnd)])
    call.start()
    call.receiveEnd(gone)
    call.chain.cancel(RPCError(.deadlineExceeded, "after 1 s", origin: .client))
    #expect(call.end?.error?.code == .deadlineExceeded)
    #expect(call.clock.timerCount == 0)
    #expect(call.outcome?.metrics.attempts == 1)
    #expect(journal.lines(of: "C1") == ["end unavailable", "finish unavailable"])
    #expect(call.chain.isFinished)
  }

  @Test func retryDuringAnAttemptCancelsItsTransport() {
    let probe = Probe("R", [.responseStart], journal)
    probe.requirements = InterceptorRequirements(replayLimitBytes: 1000)
    var left = 1
    probe.onResponseStart = { start, token in
      left -= 1
      if left >= 0 { token.retry() } else { token.proceed(start) }
    }
    let call = TestCall(
      .bidiStreaming, journal, [TestCall.registration(probe), attempted("C", [.responseEnd])])
    call.start()
    call.receiveHeaders()
    call.receive("lost")
    call.clock.advance(by: .zero)
    call.receiveHeaders()
    call.receive("kept")
    call.receiveEnd()
    #expect(call.wireLines == ["start", "cancel", "start"])
    #expect(journal.lines(of: "C1") == ["end canceled", "finish canceled"])
    #expect(journal.lines(of: "C2") == ["end ok", "finish ok"])
    #expect(
      call.callerLines.filter { !$0.hasPrefix("metrics") } == ["headers", "kept", "end ok", "finished"])
  }

  @Test func retriesNest() {
    let call = TestCall(
      .unary, journal,
      [
        TestCall.registration(retrier("R")),
        TestCall.registration("S") { facts, _ in self.retrier("S\(facts.attempt)") },
        attempted("C", .responseEnd),
      ])
    call.start()
    call.send("x")
    call.close()
    for _ in 0..<4 {
      call.receiveEnd(gone)
      call.clock.advance(by: .zero)
    }
    #expect(call.end?.error == gone)
    #expect(call.wireLines.filter { $0 == "start" }.count == 4)
    #expect(call.wireLines.filter { $0 == "x" }.count == 4)
    #expect(journal.lines.filter { $0.hasPrefix("C") && $0.contains("finish") }.count == 4)
    #expect(call.chain.isFinished)
  }

  @Test func attemptsOfNestedRetriersAreNumberedThroughTheCall() {
    let inner = TestCall.registration("S") { _, _ in self.retrier("S") }
    let call = TestCall(
      .unary, journal,
      [
        attempted("A", .requestStart), TestCall.registration(retrier()), attempted("C", .requestStart), inner,
        attempted("D", .requestStart),
      ])
    call.start()
    call.send("x")
    call.close()
    for _ in 0..<4 {
      call.receiveEnd(gone)
      call.clock.advance(by: .zero)
    }
    #expect(
      journal.lines.filter { $0.hasSuffix(" start") && !$0.hasPrefix("wire") } == [
        "A1 start", "C1 start", "D1 start", "D2 start", "C3 start", "D3 start", "D4 start",
      ])
  }

  @Test func localResponseOfAnInnerInterceptorCanBeRetried() {
    let mock = TestCall.registration("M") { [journal] facts, _ in
      let probe = Probe("M\(facts.attempt)", .requestStart, journal)
      probe.onRequestStart = { start, token in
        if facts.attempt == 1 {
          token.respond(LocalResponse(error: RPCError(.unavailable, "down", origin: .interceptor("M"))))
        } else {
          token.proceed(start)
        }
      }
      return probe
    }
    let call = TestCall(.unary, journal, [TestCall.registration(retrier()), mock])
    call.start()
    call.send("x")
    call.close()
    #expect(call.wireLines.isEmpty)
    call.clock.advance(by: .zero)
    #expect(call.wireLines == ["start", "x", "half-close"])
  }

  @Test func nothingOfAGivenUpAttemptFollows() {
    let outer = Probe("R", [.responseStart, .responseMessage, .responseEnd], journal)
    outer.requirements = InterceptorRequirements(replayLimitBytes: 1000)
    let starts = Holder<ResponseStart, Inbound>()
    outer.onResponseStart = { _, token in starts.keep(token) }
    outer.onResponseMessage = { message, token in
      let start = starts.take()
      if message.text == "1" { return token.retry() }
      start.use { $0.proceed(ResponseStart()) }
      token.proceed(message)
    }
    let inner = TestCall.registration("C") { [journal] facts, _ in
      let probe = Probe("C", .requestStart, journal)
      probe.onRequestStart = { _, token in
        token.respond(LocalResponse(messages: [.bytes(TestMessages.bytes("\(facts.attempt)"))]))
      }
      return probe
    }
    let call = TestCall(.unary, journal, [TestCall.registration(outer), inner])
    call.start()
    call.clock.advance(by: .zero)
    #expect(
      journal.lines(of: "R").prefix(5) == ["headers", "got-message 1", "headers", "got-message 2", "end ok"])
    #expect(call.callerLines.prefix(3) == ["headers", "2", "end ok"])
  }

  @Test func invalidRequestFailsWhileTheEndOfAnAttemptIsHeld() {
    let outer = Probe("A", .requestMessage, journal)
    let messages = Holder<MessageValue, Outbound>()
    outer.onRequestMessage = { _, token in
      token.inject(.typed(TestMessages.make("first")))
      messages.keep(token)
    }
    let inner = Probe("R", .responseEnd, journal)
    inner.requirements = InterceptorRequirements(replayLimitBytes: 1000)
    let ends = Holder<ResponseEnd, Inbound>()
    inner.onResponseEnd = { _, token in ends.keep(token) }
    let call = TestCall(.unary, journal, [outer, inner])
    call.start()
    call.send("second")
    call.receiveEnd(gone)
    messages.take().use { $0.proceed(.typed("second")) }
    call.chain.processCommands()
    #expect(
      call.end?.error?.message == "interceptors put a second message into a request that has exactly one")
  }

  @Test func deadlineErrorNamesTheInterceptorThatHoldsTheAttempt() {
    let held = Holder<RequestStart, Outbound>()
    let holder = TestCall.registration("H") { [journal] _, _ in
      let probe = Probe("H", .requestStart, journal)
      probe.onRequestStart = { _, token in held.keep(token) }
      return probe
    }
    let call = TestCall(.unary, journal, [TestCall.registration(retrier(times: 0)), holder])
    call.start()
    call.chain.cancel(RPCError(.deadlineExceeded, "after 1 s", origin: .client))
    #expect(call.end?.error?.message == "after 1 s (held by H at request_start)")
  }

  @Test func failureFurtherOutCancelsTheInterceptorsOfAnAttempt() {
    let outer = Probe("A", .requestMessage, journal)
    outer.onRequestMessage = { _, token in token.fail(refused) }
    let call = TestCall(
      .unary, journal, [TestCall.registration(outer), TestCall.registration(retrier()), attempted("C", .all)])
    call.start()
    call.send("ping")
    #expect(journal.lines(of: "C1").prefix(2) == ["start", "end canceled"])
    #expect(call.end?.error == refused)
  }

  @Test func messageInjectedFurtherOutSurvivesARetry() {
    let outer = Probe("A", .requestStart, journal)
    let call = TestCall(.serverStreaming, journal, [outer, retrier()])
    call.start()
    outer.context?.inject(response: .bytes(TestMessages.bytes("early")))
    call.work()
    call.send("ping")
    call.close()
    call.receiveEnd(gone)
    call.clock.advance(by: .zero)
    call.receiveHeaders()
    call.receiveEnd()
    #expect(call.callerLines.prefix(3) == ["headers", "early", "end ok"])
  }

  @Test func pausesReachEveryAttempt() {
    let call = TestCall(.serverStreaming, journal, [retrier()])
    call.start()
    call.chain.callerWants(response: false)
    call.receiveEnd(gone)
    call.clock.advance(by: .zero)
    #expect(call.wireLines == ["start", "pause", "start", "pause"])
    call.chain.callerWants(response: true)
    #expect(call.wireLines.last == "go on")
  }

  /// An interceptor that holds the end of a failed attempt until a test retries it.
  private func undecided(_ stages: Stages, _ ends: Holder<ResponseEnd, Inbound>) -> Probe {
    let probe = Probe("R", stages.union(.responseEnd), journal)
    probe.requirements = InterceptorRequirements(replayLimitBytes: 1000)
    probe.onResponseEnd = { end, token in
      if end.error != nil { ends.keep(token) } else { token.proceed(end) }
    }
    return probe
  }

  @Test(arguments: [Stages(), .requestMessage, [.requestMessage, .requestEnd]])
  func requestSentWhileTheEndOfAnAttemptIsHeldIsSentInTheNext(_ stages: Stages) {
    let ends = Holder<ResponseEnd, Inbound>()
    let outer = Probe("A", [.requestMessage, .requestEnd], journal, messages: .bytes)
    let call = TestCall(.bidiStreaming, journal, [outer, undecided(stages, ends)])
    call.start()
    call.send("1")
    call.receiveEnd(gone)
    call.send("2")
    call.send("3")
    call.close()
    ends.take().use { $0.retry() }
    call.chain.processCommands()
    call.clock.advance(by: .zero)
    #expect(call.wireLines == ["start", "1", "start", "1", "2", "3", "half-close"])
    call.receiveHeaders()
    call.receiveEnd()
    #expect(call.end == ResponseEnd())
    #expect(call.chain.isFinished)
  }

  @Test(arguments: [0, 1])
  func requestHeldWhenAnAttemptEndsIsSentInTheNext(_ position: Int) {
    let ends = Holder<ResponseEnd, Inbound>()
    let held = Holder<MessageValue, Outbound>()
    let retrier = undecided(.requestMessage, ends)
    let outer = Probe("A", .requestMessage, journal, messages: .bytes)
    let holder = position == 0 ? outer : retrier
    holder.onRequestMessage = { bytes, token in
      if bytes.text == "2" { held.keep(token) } else { token.proceed(bytes) }
    }
    let call = TestCall(.clientStreaming, journal, [outer, retrier])
    call.start()
    call.send("1")
    call.send("2")
    call.receiveEnd(gone)
    call.send("3")
    held.take().use { $0.proceed(.bytes("2")) }
    call.chain.processCommands()
    ends.take().use { $0.retry() }
    call.chain.processCommands()
    call.clock.advance(by: .zero)
    call.close()
    #expect(call.wireLines == ["start", "1", "start", "1", "2", "3", "half-close"])
  }

  @Test func holderOfTheEndOfAnAttemptMayFailTheRequest() {
    let ends = Holder<ResponseEnd, Inbound>()
    let held = Holder<MessageValue, Outbound>()
    let retrier = undecided(.requestMessage, ends)
    retrier.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [retrier])
    call.start()
    call.send("1")
    call.receiveEnd(gone)
    held.take().use { $0.fail(refused) }
    call.chain.processCommands()
    #expect(call.end?.error == refused)
    #expect(call.chain.isFinished)
  }

  @Test func responseIsWantedAgainBetweenAttempts() {
    let ends = Holder<ResponseEnd, Inbound>()
    let call = TestCall(.serverStreaming, journal, [undecided([], ends)])
    call.start()
    call.chain.callerWants(response: false)
    call.receiveEnd(gone)
    call.chain.callerWants(response: true)
    ends.take().use { $0.retry() }
    call.chain.processCommands()
    call.clock.advance(by: .zero)
    #expect(call.wireLines == ["start", "pause", "start"])
  }

  @Test func metricsOfAnAttemptAreCountedOnce() {
    let starts = Holder<ResponseStart, Inbound>()
    let probe = Probe("R", [.responseStart, .metrics], journal)
    probe.requirements = InterceptorRequirements(replayLimitBytes: 1000)
    probe.onResponseStart = { _, token in starts.keep(token) }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    call.receiveHeaders()
    starts.take().use { $0.retry() }
    call.chain.processCommands()
    call.clock.advance(by: .zero)
    call.receiveEnd(gone)
    #expect(journal.lines(of: "R").suffix(2) == ["metrics 14", "finish unavailable"])
  }

  @Test func timesOfEveryAttemptCountFromTheStartOfTheCall() {
    let call = TestCall(.unary, journal, [TestCall.registration(retrier())])
    (call.metrics.resolve, call.metrics.connect) = (.milliseconds(1), .milliseconds(2))
    call.metrics.firstByte = .milliseconds(3)
    call.start()
    call.clock.advance(by: .seconds(1))
    call.receiveEnd(gone)
    call.clock.advance(by: .zero)
    // The second attempt uses the connection of the first.
    (call.metrics.resolve, call.metrics.connect) = (nil, nil)
    call.receiveEnd(gone)
    let metrics = call.outcome?.metrics
    #expect(metrics?.attempts == 2)
    #expect(metrics?.resolve == .milliseconds(1))
    #expect(metrics?.connect == .milliseconds(2))
    #expect(metrics?.firstByte == .milliseconds(1003))
    #expect(metrics?.total == .seconds(1))
  }

  @Test func largestMetricsDoNotOverflow() {
    let liar = TestCall.registration("L") { [journal] _, _ in
      let probe = Probe("L", .metrics, journal)
      probe.onMetrics = { metrics, token in
        var metrics = metrics
        metrics.sentBytes = .max
        metrics.receivedBytes = .max
        token.proceed(metrics)
      }
      return probe
    }
    let call = TestCall(.unary, journal, [TestCall.registration(retrier()), liar])
    call.start()
    for _ in 0..<2 {
      call.receiveEnd(gone)
      call.clock.advance(by: .zero)
    }
    #expect(call.outcome?.metrics.sentBytes == .max)
  }

  @Test func deadlineSetForAnAttemptDoesNotChangeTheCalls() {
    let changer = TestCall.registration("D") { [journal] _, context in
      let probe = Probe("D", .requestStart, journal)
      probe.onRequestStart = { start, token in
        var start = start
        start.deadline = context.now + .seconds(1)
        token.proceed(start)
      }
      return probe
    }
    let call = TestCall(.unary, journal, [TestCall.registration(retrier()), changer])
    call.start()
    let first = call.sentStart?.deadline
    call.clock.advance(by: .seconds(1))
    call.receiveEnd(gone)
    call.clock.advance(by: .zero)
    #expect(call.wireStarts == 2)
    #expect(call.sentStart?.deadline == first.map { $0 + .seconds(1) })
    #expect(call.deadlines.isEmpty)
  }
}
