import RPCurlBase
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// Several attempts at one call at once: races without a network.
@Suite struct HedgingTests {
  private let journal = Journal()
  private static let busy = RPCError(.unavailable, "busy", origin: .server)
  private static let delay = Duration.milliseconds(100)

  /// A policy that fails attempts with the status `unavailable`.
  private final class Policy: HedgingPolicy, @unchecked Sendable {
    var next: Duration? = .zero
    var reason: String?
    private(set) var ends: [StatusCode] = []

    func verdict(on end: ResponseEnd, headers: Headers?, of request: RequestStart) -> HedgingVerdict {
      ends.append(end.code)
      return end.code == .unavailable ? .failed(next: next) : .decided
    }
    func reasonAgainstAttempt(at request: RequestStart) -> String? { reason }
    func headers(ofAttempt number: Int) -> Headers { Headers([("previous", "\(number - 1)")]) }
  }

  private let policy = Policy()

  private final class Hedge: StagedInterceptor {
    let stages: Stages = []
    let requirements: InterceptorRequirements
    init(_ requirements: InterceptorRequirements) { self.requirements = requirements }
  }

  private func hedge(
    _ attempts: Int, delay: Duration, byHeaders: Bool, limitBytes: Int
  ) -> InterceptorRegistration {
    TestCall.registration("H") { [policy] _, _ in
      var requirements = InterceptorRequirements(replayLimitBytes: limitBytes)
      requirements.hedging = Hedging(
        attempts: attempts, delay: delay, isDecidedByHeaders: byHeaders, policy: policy)
      return Hedge(requirements)
    }
  }

  /// A call through a hedging interceptor, whose request was sent.
  private func call(
    _ kind: CallKind = .unary, attempts: Int = 3, delay: Duration = HedgingTests.delay,
    byHeaders: Bool = true, limitBytes: Int = 1000, outer: [InterceptorRegistration] = [],
    inner: [InterceptorRegistration] = [], isSent: Bool = true
  ) -> TestCall {
    let hedge = hedge(attempts, delay: delay, byHeaders: byHeaders, limitBytes: limitBytes)
    let call = TestCall(kind, journal, outer + [hedge] + inner)
    call.start()
    if isSent {
      call.send("ping")
      call.close()
    }
    return call
  }

  private func attempted(_ name: String) -> InterceptorRegistration {
    TestCall.registration(name) { [journal] facts, _ in Probe("\(name)\(facts.attempt)", .all, journal) }
  }

  private func headers(_ call: TestCall, _ attempt: Int, _ headers: [(String, String)] = []) {
    call.wireChains[attempt - 1].receive(.responseStart(ResponseStart(headers: Headers(headers))))
  }
  private func message(_ call: TestCall, _ attempt: Int, _ text: String) {
    call.wireChains[attempt - 1].receive(.responseMessage(.bytes(TestMessages.bytes(text))))
  }
  private func end(_ call: TestCall, _ attempt: Int, _ error: RPCError? = nil) {
    call.wireChains[attempt - 1].receive(.responseEnd(ResponseEnd(error: error)))
  }
  private func respond(_ call: TestCall, _ attempt: Int) {
    headers(call, attempt)
    message(call, attempt, "pong \(attempt)")
    end(call, attempt)
  }
  private func lines(of call: TestCall) -> [String] { Array(call.callerLines.dropLast(2)) }

  // MARK: - Which response the call has

  @Test func secondAttemptStartsAfterDelayAndItsResponseCancelsTheFirst() {
    let outer = Probe("A", .all, journal)
    let call = call(outer: [TestCall.registration(outer)], inner: [attempted("C")])
    call.clock.advance(by: .milliseconds(99))
    #expect(call.wireStarts == 1)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.wireStarts == 2)
    #expect(call.sentStart?.headers.values("previous") == ["1"])
    #expect(call.sent.map { TestMessages.text($0) } == ["ping", "ping"])
    respond(call, 2)
    #expect(call.cancelledAttempts == [1])
    #expect(call.clock.timerCount == 0)
    // The first is too late.
    respond(call, 1)
    #expect(lines(of: call) == ["headers", "pong 2", "end ok"])
    // The outer interceptor receives one call, and each attempt passes the inner ones.
    #expect(
      journal.lines(of: "A") == [
        "start", "message ping", "half-close", "headers", "got-message pong 2", "end ok", "metrics 14",
        "finish ok",
      ])
    #expect(
      journal.lines(of: "C1") == [
        "start", "message ping", "half-close", "end canceled", "metrics 7", "finish canceled",
      ])
    #expect(journal.lines(of: "C2").suffix(3) == ["end ok", "metrics 7", "finish ok"])
    #expect(call.outcome?.metrics.attempts == 2)
    #expect(call.outcome?.metrics.sentBytes == 14)
  }

  /// An interceptor further out does not repeat the call then.
  @Test func messageOfAnyAttemptIsOneOfTheCall() {
    let call = call()
    #expect(!call.chain.hasMessage)
    call.hasMessage = true
    #expect(call.chain.hasMessage)
    call.chain.cancel(RPCError(.deadlineExceeded, "late", origin: .client))
    #expect(call.chain.hasMessage)
  }

  @Test func fastResponseStartsNoOtherAttempt() {
    let call = call()
    respond(call, 1)
    call.clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 1)
    #expect(call.cancelledAttempts == [])
    #expect(call.outcome?.metrics.attempts == 1)
  }

  @Test func firstAttemptMayStillRespondFirst() {
    let call = call()
    call.clock.advance(by: .milliseconds(250))
    #expect(call.wireStarts == 3)
    headers(call, 1)
    #expect(call.cancelledAttempts == [2, 3])
    message(call, 1, "pong")
    end(call, 1)
    #expect(lines(of: call) == ["headers", "pong", "end ok"])
    #expect(
      call.attempts.map { "\($0.number) \($0.error?.code.name ?? "ok")" } == [
        "2 canceled", "3 canceled", "1 ok",
      ])
    #expect(call.attempts.map(\.wait) == [Self.delay, Self.delay, nil])
    #expect(call.attempts.map(\.peer) == Array(repeating: "192.0.2.1:443", count: 3))
  }

  @Test func noDelayStartsAllAttemptsAtOnce() {
    let call = call(attempts: 5, delay: .zero)
    call.clock.advance(by: .zero)
    #expect(call.wireStarts == 5)
    respond(call, 4)
    #expect(call.cancelledAttempts == [1, 2, 3, 5])
  }

  @Test func headersOfAnErrorDoNotDecide() {
    let call = call(attempts: 2)
    call.clock.advance(by: Self.delay)
    headers(call, 1, [("grpc-status", "14")])
    #expect(call.cancelledAttempts == [])
    end(call, 1, Self.busy)
    respond(call, 2)
    #expect(lines(of: call) == ["headers", "pong 2", "end ok"])
    #expect(policy.ends == [.unavailable, .ok])
  }

  @Test func headersDecideOnlyIfTheProtocolShowsErrorsInThem() {
    let call = call(attempts: 2, byHeaders: false)
    call.clock.advance(by: Self.delay)
    headers(call, 1)
    headers(call, 2)
    #expect(call.callerLines == [])
    message(call, 2, "pong")
    #expect(call.cancelledAttempts == [1])
    #expect(call.callerLines == ["headers", "pong"])
  }

  @Test func messageWithoutCopyDecides() {
    let call = call(attempts: 2, byHeaders: false)
    call.clock.advance(by: Self.delay)
    headers(call, 1)
    call.wireChains[0].receive(message: TestMessages.bytes("pong").span.bytes)
    #expect(call.cancelledAttempts == [2])
    #expect(call.callerLines == ["headers", "span pong"])
  }

  @Test func streamContinuesAfterItsFirstMessage() {
    let call = call(.serverStreaming, attempts: 2)
    call.clock.advance(by: Self.delay)
    headers(call, 2)
    for number in 1...3 { message(call, 2, "\(number)") }
    end(call, 2, Self.busy)
    #expect(lines(of: call) == ["headers", "1", "2", "3", "end unavailable"])
    #expect(call.wireStarts == 2)
  }

  // MARK: - Failures

  @Test func failureStartsTheNextAttemptAtOnce() {
    let call = call()
    end(call, 1, Self.busy)
    call.clock.advance(by: .zero)
    #expect(call.wireStarts == 2)
    // The delay counts from this attempt on.
    call.clock.advance(by: .milliseconds(99))
    #expect(call.wireStarts == 2)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.wireStarts == 3)
    end(call, 2, Self.busy)
    #expect(call.callerLines == [])
    respond(call, 3)
    #expect(lines(of: call) == ["headers", "pong 3", "end ok"])
    #expect(call.cancelledAttempts == [])
    #expect(call.outcome?.metrics.attempts == 3)
  }

  @Test func otherStatusEndsTheCall() {
    let call = call()
    call.clock.advance(by: Self.delay)
    end(call, 2, RPCError(.notFound, "no such thing", origin: .server))
    #expect(lines(of: call) == ["end not_found"])
    #expect(call.cancelledAttempts == [1])
  }

  @Test func latestFailureIsTheResultIfAllAttemptsFail() {
    let call = call(attempts: 2)
    call.clock.advance(by: Self.delay)
    headers(call, 2, [("grpc-status", "14"), ("attempt", "2")])
    end(call, 2, RPCError(.unavailable, "two", origin: .server))
    #expect(call.callerLines == [])
    end(call, 1, RPCError(.unavailable, "one", origin: .server))
    #expect(lines(of: call) == ["headers", "end unavailable"])
    #expect(call.end?.error?.message == "two")
    #expect(call.outcome?.metrics.attempts == 2)
    #expect(
      call.logged.filter { $0.level > .debug }.map(\.text) == [
        "attempt 2 of 2 failed: unavailable (two)", "attempt 1 of 2 failed: unavailable (one)",
      ])
  }

  @Test func policyDelaysTheNextAttempt() {
    let call = call()
    policy.next = .seconds(1)
    end(call, 1, Self.busy)
    call.clock.advance(by: .milliseconds(999))
    #expect(call.wireStarts == 1)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.wireStarts == 2)
    #expect(call.attempts.map(\.numbers) == [[1]])
    respond(call, 2)
    #expect(call.attempts.map(\.wait) == [nil, .seconds(1)])
  }

  @Test func refusalOfFurtherAttemptsLeavesThoseInFlight() {
    let call = call()
    call.clock.advance(by: Self.delay)
    policy.next = nil
    end(call, 2, Self.busy)
    call.clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 2)
    #expect(call.callerLines == [])
    respond(call, 1)
    #expect(lines(of: call) == ["headers", "pong 1", "end ok"])
  }

  @Test func policyMayPreventAttempts() {
    let call = call()
    policy.reason = "throttled"
    call.clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 1)
    #expect(call.logged.map(\.text) == ["no further attempt: throttled"])
    end(call, 1, Self.busy)
    #expect(lines(of: call) == ["end unavailable"])
  }

  @Test func failureIsTheResultIfThePolicyPreventsTheAttemptAfterIt() {
    let call = call()
    end(call, 1, Self.busy)
    policy.reason = "throttled"
    call.clock.advance(by: .zero)
    #expect(lines(of: call) == ["end unavailable"])
    #expect(call.isOver)
  }

  // MARK: - The request

  @Test func delayCountsFromTheEndOfTheRequest() {
    let call = call(.clientStreaming, isSent: false)
    call.send("1")
    call.clock.advance(by: .seconds(10))
    #expect(call.wireStarts == 1)
    call.send("2")
    call.close()
    call.clock.advance(by: Self.delay)
    #expect(call.wireStarts == 2)
    #expect(call.wireLines == ["start", "1", "2", "half-close", "start", "1", "2", "half-close"])
  }

  @Test func failureBeforeTheEndOfTheRequestIsFollowedByAnAttempt() {
    let call = call(.bidiStreaming, isSent: false)
    call.send("1")
    end(call, 1, Self.busy)
    call.send("2")
    call.clock.advance(by: .zero)
    call.send("3")
    call.close()
    #expect(call.wireLines == ["start", "1", "start", "1", "2", "3", "half-close"])
    respond(call, 2)
    #expect(lines(of: call) == ["headers", "pong 2", "end ok"])
  }

  @Test func largeRequestHasOneAttempt() {
    let call = call(limitBytes: 3)
    call.clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 1)
    #expect(call.logged.map(\.text) == ["no further attempt: the request is larger than the buffer"])
    end(call, 1, Self.busy)
    #expect(lines(of: call) == ["end unavailable"])
  }

  @Test func callerIsPausedOnlyByTheAttemptThatTakesTheRequest() {
    let call = call(.clientStreaming, isSent: false)
    call.wireChains[0].transportWants(input: false)
    #expect(!call.chain.wantsMoreInput)
    end(call, 1, Self.busy)
    #expect(call.chain.wantsMoreInput)
    call.clock.advance(by: .zero)
    call.wireChains[1].transportWants(input: false)
    #expect(!call.chain.wantsMoreInput)
  }

  @Test func pausedCallerPausesTheAttemptWithTheResponse() {
    let call = call(.serverStreaming, attempts: 2)
    call.clock.advance(by: Self.delay)
    call.chain.callerWants(response: false)
    headers(call, 2)
    #expect(call.wireLines.last == "pause")
    call.chain.callerWants(response: true)
    #expect(call.wireLines.last == "go on")
  }

  // MARK: - Endings

  @Test func cancellationCancelsAllAttempts() {
    let call = call()
    call.clock.advance(by: .milliseconds(200))
    call.chain.cancel(RPCError(.canceled, "interrupted", origin: .client))
    #expect(call.cancelledAttempts == [1, 2, 3])
    #expect(call.clock.timerCount == 0)
    #expect(call.callerLines == ["end canceled", "metrics 21", "finished"])
    #expect(call.outcome?.metrics.attempts == 3)
  }

  @Test func cancellationBetweenAttemptsStopsTheTimer() {
    let call = call()
    end(call, 1, Self.busy)
    call.chain.cancel(RPCError(.canceled, "interrupted", origin: .client))
    call.clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 1)
    #expect(call.isOver)
  }

  @Test func deadlineNamesTheInterceptorOfAnAttemptThatHoldsIt() {
    let starts = Holder<RequestStart, Outbound>()
    let holder = Probe("holder", [.requestStart], journal)
    holder.onRequestStart = { _, token in starts.keep(token) }
    let call = call(inner: [TestCall.registration(holder)])
    call.chain.cancel(RPCError(.deadlineExceeded, "too late", origin: .client))
    #expect(call.end?.error?.message == "too late (held by holder at request_start)")
  }

  @Test func attemptsWithinAttemptsAreNumberedThroughTheCall() {
    let retrier = TestCall.registration("R") { [journal] _, _ in
      let probe = Probe("R", .responseEnd, journal)
      probe.requirements = InterceptorRequirements(replayLimitBytes: 1000)
      probe.onResponseEnd = { _, token in token.retry() }
      return probe
    }
    let call = call(inner: [attempted("C"), retrier, attempted("D")])
    call.clock.advance(by: Self.delay)
    end(call, 1, Self.busy)
    call.clock.advance(by: .zero)
    #expect(
      journal.lines.filter { $0.hasSuffix(" start") && !$0.hasPrefix("wire") } == [
        "C1 start", "D1 start", "C2 start", "D2 start", "D3 start",
      ])
  }

  @Test func attemptMayRespondWithoutTheNetwork() {
    let inner = TestCall.registration("mock") { [journal] facts, _ in
      let probe = Probe("mock", [.requestStart], journal)
      probe.onRequestStart = { _, token in
        if facts.attempt == 1 {
          token.fail(Self.busy)
        } else {
          token.respond(LocalResponse(messages: [.bytes(TestMessages.bytes("local"))]))
        }
      }
      return probe
    }
    let call = call(inner: [inner])
    call.clock.advance(by: .zero)
    #expect(call.wireStarts == 0)
    #expect(lines(of: call) == ["headers", "local", "end ok"])
    #expect(call.attempts.map(\.numbers) == [[1], [2]])
  }

  @Test func responsesHeldByAnInterceptorOfOneAttemptDoNotDelayAnother() {
    let starts = Holder<ResponseStart, Inbound>()
    let inner = TestCall.registration("slow") { [journal] facts, _ in
      let probe = Probe("slow", [.responseStart], journal)
      if facts.attempt == 1 { probe.onResponseStart = { _, token in starts.keep(token) } }
      return probe
    }
    let call = call(inner: [inner])
    respond(call, 1)
    call.clock.advance(by: Self.delay)
    respond(call, 2)
    #expect(lines(of: call) == ["headers", "pong 2", "end ok"])
    starts.release()
    #expect(call.isOver)
  }

  @Test func attemptThatFailsLastIsMeasuredBeforeTheCallFinishes() {
    let call = call(attempts: 2, inner: [attempted("C")])
    call.clock.advance(by: Self.delay)
    end(call, 2, Self.busy)
    end(call, 1, Self.busy)
    #expect(call.isOver)
    #expect(call.outcome?.metrics.sentBytes == 14)
    #expect(journal.lines.suffix(3) == ["C1 finish unavailable", "caller metrics 14", "caller finished"])
  }

  @Test func metricsHeldInAnotherAttemptHoldThoseOfTheCall() {
    let held = Holder<CallMetrics, Report>()
    let inner = TestCall.registration("slow") { [journal] facts, _ in
      let probe = Probe("slow\(facts.attempt)", [.metrics], journal)
      if facts.attempt == 1 { probe.onMetrics = { _, token in held.keep(token) } }
      return probe
    }
    let call = call(attempts: 2, inner: [inner])
    call.clock.advance(by: Self.delay)
    end(call, 1, Self.busy)
    respond(call, 2)
    #expect(call.end == ResponseEnd() && call.outcome == nil)
    // A cancellation after the end gives them up.
    call.chain.cancel(RPCError(.canceled, "interrupted", origin: .client))
    #expect(call.isOver)
    #expect(call.outcome?.metrics.sentBytes == 14)
  }

  @Test func attemptCancelledWhileItStartsIsReported() {
    var cancel: (() -> Void)?
    let inner = TestCall.registration("C") { [journal] facts, _ in
      let probe = Probe("C\(facts.attempt)", [.requestStart], journal)
      probe.onRequestStart = { start, token in
        token.proceed(start)
        cancel?()
      }
      return probe
    }
    let call = call(attempts: 2, inner: [inner])
    cancel = { call.chain.cancel(RPCError(.canceled, "interrupted", origin: .client)) }
    call.clock.advance(by: Self.delay)
    #expect(call.isOver)
    #expect(call.attempts.map(\.numbers) == [[1], [2]])
    #expect(journal.lines.suffix(3) == ["C2 finish canceled", "caller metrics 7", "caller finished"])
  }

  // MARK: - Random races

  @Test(arguments: 0..<20)
  func everyRaceHasOneResponseAndLeavesNothing(_ block: UInt64) {
    for seed in block * 100..<(block + 1) * 100 {
      let failures = race(seed)
      guard failures.isEmpty else {
        Issue.record("seed \(seed): \(failures)")
        return
      }
    }
  }

  /// Gives attempts random events in random order; returns the rules that were broken.
  private func race(_ seed: UInt64) -> [String] {
    var dice = SeededGenerator(seed: seed)
    let kind = CallKind.allCases.randomElement(using: &dice) ?? .unary
    let policy = Policy()
    let journal = Journal()
    let registration = TestCall.registration("H") { _, _ in
      var requirements = InterceptorRequirements(replayLimitBytes: 1000)
      requirements.hedging = Hedging(
        attempts: Int.random(in: 2...5, using: &dice),
        delay: .milliseconds(Int.random(in: 0...3, using: &dice)),
        isDecidedByHeaders: Bool.random(using: &dice), policy: policy)
      return Hedge(requirements)
    }
    let call = TestCall(kind, journal, [registration])
    call.start()
    call.send("ping")
    call.close()
    // How far the response of each attempt has come: 0 is before the headers, 3 after the end.
    var stages: [Int] = []
    var steps = 0
    while !call.isOver, steps < 200 {
      steps += 1
      while stages.count < call.wireChains.count { stages.append(0) }
      policy.next = Bool.random(using: &dice) ? .milliseconds(Int.random(in: 0...3, using: &dice)) : nil
      policy.reason = Int.random(in: 0..<10, using: &dice) == 0 ? "throttled" : nil
      let attempt = Int.random(in: 1...stages.count, using: &dice)
      let stage = stages[attempt - 1]
      switch Int.random(in: 0..<20, using: &dice) {
      case 0..<6: call.clock.advance(by: .milliseconds(1))
      case 6..<10 where stage == 0:
        stages[attempt - 1] = 1
        headers(call, attempt)
      case 10..<14 where stage == 1:
        stages[attempt - 1] = 2
        message(call, attempt, "\(attempt)")
      case 14..<16 where stage == 2:
        stages[attempt - 1] = 3
        end(call, attempt)
      case 16..<19 where stage < 3:
        stages[attempt - 1] = 3
        end(call, attempt, Self.busy)
      case 19 where steps > 100: call.chain.cancel(RPCError(.canceled, "interrupted", origin: .client))
      default: break
      }
    }
    return broken(call, stages)
  }

  private func broken(_ call: TestCall, _ stages: [Int]) -> [String] {
    var failures: [String] = []
    if !call.isOver { failures.append("not over") }
    let lines = call.callerLines
    if lines.count(where: { $0.hasPrefix("end ") }) != 1 { failures.append("ends: \(lines)") }
    if lines.suffix(1) != ["finished"] { failures.append("end: \(lines)") }
    if lines.count(where: { $0 == "headers" }) > 1 || lines.count(where: { Int($0) != nil }) > 1 {
      failures.append("several responses: \(lines)")
    }
    if call.clock.timerCount > 0 { failures.append("timers") }
    if Set(call.cancelledAttempts).count != call.cancelledAttempts.count {
      failures.append("cancelled twice")
    }
    for (index, stage) in stages.enumerated() where stage < 3 {
      if !call.cancelledAttempts.contains(index + 1) { failures.append("attempt \(index + 1) is open") }
    }
    if call.outcome?.metrics.attempts != call.wireStarts { failures.append("number of attempts") }
    if call.attempts.count != call.wireStarts { failures.append("reports: \(call.attempts)") }
    return failures
  }
}

extension TestCall {
  /// Whether the caller has the end, and every interceptor has finished.
  fileprivate var isOver: Bool { outcome != nil }
}
