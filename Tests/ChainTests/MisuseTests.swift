import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

/// Interceptors that break the rules.
@Suite struct MisuseTests {
  private let journal = Journal()
  private struct Broken: Error, CustomStringConvertible { var description: String { "out of cheese" } }

  /// Throws at one stage, after a test's action with the token.
  private final class Thrower: StagedInterceptor {
    enum Before { case nothing, proceed, keep, fail }
    let stages: Stages
    let error: any Error
    let before: Before
    private var kept: [HeldToken<RequestStart, Outbound>] = []
    init(_ stages: Stages, _ error: any Error, _ before: Before = .nothing) {
      self.stages = stages
      self.error = error
      self.before = before
    }
    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
      switch before {
      case .nothing: break
      case .proceed: token.proceed(start)
      case .keep: kept.append(HeldToken(token))
      case .fail: token.fail(RPCError(.aborted, "said first", origin: .interceptor("T")))
      }
      throw error
    }
    func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
      throw error
    }
    func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
      throw error
    }
    func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws { throw error }
    func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) throws { throw error }
  }

  private func call(_ thrower: Thrower) -> TestCall {
    TestCall(
      .unary, journal,
      [
        TestCall.registration(Probe("A", [.responseEnd], journal)),
        TestCall.registration("T") { _, _ in thrower },
      ])
  }

  @Test(arguments: [Stages.requestStart, .requestMessage, .responseMessage, .responseEnd])
  func throwFailsTheCallWithTheError(_ stage: Stages) {
    let call = call(Thrower(stage, Broken()))
    call.run()
    #expect(call.end?.error == RPCError(.internal, "out of cheese", origin: .interceptor("T")))
    #expect(journal.lines(of: "A") == ["end internal", "finish internal"])
  }

  @Test(arguments: [Thrower.Before.proceed, .keep])
  private func throwingCountsForMoreThanTheToken(_ before: Thrower.Before) {
    let error = RPCError(.permissionDenied, "no", origin: .interceptor("T"))
    let call = call(Thrower(.requestStart, error, before))
    call.run()
    #expect(call.end?.error == error)
    #expect(call.wireLines.isEmpty)
    #expect(call.chain.isFinished)
  }

  @Test func throwAfterFailKeepsTheFirstError() {
    let call = call(Thrower(.requestStart, Broken(), .fail))
    call.run()
    #expect(call.end?.error?.message == "said first")
  }

  @Test func throwAtMetricsIsOnlyLogged() {
    let call = call(Thrower(.metrics, Broken()))
    call.run()
    #expect(call.end == ResponseEnd())
    #expect(call.outcome?.end == ResponseEnd())
    #expect(call.logged == [LogRecord(level: .error, source: "T", text: "failed at metrics: out of cheese")])
  }

  // MARK: Delays

  @Test func blockingCallbackIsLogged() {
    let probe = Probe("A", [.requestStart], journal)
    let call = TestCall(.unary, journal, [probe])
    probe.onRequestStart = { start, token in
      call.clock.coarseNanoseconds += 250_000_000
      token.proceed(start)
    }
    call.run()
    #expect(
      call.logged == [
        LogRecord(level: .warning, source: "A", text: "blocked the loop for 250 ms at request_start")
      ])
  }

  /// A machine under load may run other processes meanwhile.
  @Test(arguments: [100, 200]) func timeWithoutProcessorIsNotThatOfACallback(milliseconds: Int64) {
    let probe = Probe("A", [.requestStart], journal)
    let call = TestCall(.unary, journal, [probe])
    call.clock.preemption = milliseconds * 1_000_000
    probe.onRequestStart = { start, token in
      call.clock.coarseNanoseconds += 250_000_000
      token.proceed(start)
    }
    call.run()
    let own = 250 - milliseconds
    #expect(call.logged.map(\.text) == (own > 100 ? ["blocked the loop for \(own) ms at request_start"] : []))
  }

  @Test func longHoldIsLoggedOnce() {
    let held = Holder<MessageValue, Outbound>()
    let probe = Probe("A", [.requestMessage], journal, messages: .bytes)
    probe.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    call.clock.advance(by: .seconds(60))
    #expect(call.logged.isEmpty)
    call.send("1")
    call.clock.advance(by: .milliseconds(4999))
    #expect(call.logged.isEmpty)
    call.clock.advance(by: .milliseconds(1))
    let warning = LogRecord(
      level: .warning, source: "A", text: "has held the call at request_message for 5 seconds")
    #expect(call.logged == [warning])
    call.clock.advance(by: .seconds(60))
    #expect(call.logged == [warning])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    #expect(call.clock.timerCount == 0)
  }

  @Test func noHoldWarningForTimelyVerdicts() {
    let held = Holder<MessageValue, Outbound>()
    let probe = Probe("A", [.requestMessage], journal, messages: .bytes)
    probe.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    for _ in 0..<5 {
      call.send("x")
      call.clock.advance(by: .seconds(4))
      held.take().use { $0.proceed(.bytes("x")) }
      call.chain.processCommands()
    }
    #expect(call.logged.isEmpty)
  }

  @Test func noHoldWarningForAnInterceptorWithATimer() {
    let held = Holder<RequestStart, Outbound>()
    let probe = Probe("A", [.requestStart], journal)
    probe.onRequestStart = { start, token in
      held.keep(token)
      probe.context?.after(.seconds(30)) { held.take().use { $0.proceed(start) } }
    }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    call.clock.advance(by: .seconds(30))
    #expect(call.logged.isEmpty)
    #expect(call.wireLines == ["start"])
  }

  @Test func warningExplainsHowToHoldMoreThanTheWindow() {
    let held = Holder<MessageValue, Outbound>()
    let probe = Probe("A", [.requestMessage], journal, messages: .bytes)
    probe.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe], windowBytes: 300)
    call.start()
    while call.chain.wantsMoreInput { call.send("0123456789") }
    call.clock.advance(by: .seconds(5))
    #expect(call.logged.first?.text.contains("it must declare a larger window") == true)

    let asking = Probe("B", [.requestMessage], Journal(), messages: .bytes)
    asking.requirements = InterceptorRequirements(windowBytes: 3000)
    asking.onRequestMessage = { _, token in held.keep(token) }
    let second = TestCall(.clientStreaming, Journal(), [asking], windowBytes: 300)
    second.start()
    var count = 0
    while second.chain.wantsMoreInput {
      second.send("0123456789")
      count += 1
    }
    #expect(count > 30)
  }

  @Test func overflowIsResourceExhaustedAndNamesTheHolder() {
    let held = Holder<MessageValue, Inbound>()
    let probe = Probe("A", [.responseMessage], journal, messages: .bytes)
    probe.onResponseMessage = { _, token in held.keep(token) }
    let call = TestCall(.serverStreaming, journal, [probe], windowBytes: 300)
    call.start()
    call.receiveHeaders()
    // A transport that ignores the pause.
    for _ in 0..<1000 where call.end == nil { call.receive("0123456789") }
    #expect(call.end?.error?.code == .resourceExhausted)
    #expect(
      call.end?.error?.message
        == "A holds the call at response_message, and more values arrived than the chain can hold")
    #expect(call.end?.error?.origin == .interceptor("A"))
    #expect(call.chain.isFinished)
  }

  @Test(arguments: [1, 3])
  func fullWindowOfACollectingInterceptorFailsTheCallAtOnce(_ count: Int) {
    let held = Holder<MessageValue, Outbound>()
    let probe = Probe("A", [.requestMessage, .requestEnd], journal, messages: .bytes)
    probe.requirements = InterceptorRequirements(collects: true)
    probe.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe], windowBytes: 100 * count)
    call.start()
    for _ in 1..<count { call.send("0123456789") }
    #expect(call.end == nil)
    call.send(String(repeating: "x", count: 200))
    #expect(
      call.end?.error
        == RPCError(
          .resourceExhausted,
          "A collects values at request_message, and they exceed the window of \(100 * count) bytes",
          origin: .interceptor("A")))
  }

  // MARK: One at a time

  @Test func serialInterceptorReceivesOneValueAtATime() {
    let held = Holder<MessageValue, Outbound>()
    let probe = Probe("A", [.requestMessage, .requestEnd], journal, messages: .bytes)
    probe.requirements = InterceptorRequirements(isSerial: true)
    probe.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    for text in ["1", "2", "3"] { call.send(text) }
    call.close()
    #expect(journal.lines(of: "A") == ["bytes 1"])
    held.take().use { $0.proceed(.bytes("1")) }
    call.chain.processCommands()
    #expect(journal.lines(of: "A") == ["bytes 1", "bytes 2"])
    #expect(call.wireLines == ["start", "1"])
    held.take().use { $0.drop() }
    call.chain.processCommands()
    held.take().use { $0.proceed(.bytes("3")) }
    call.chain.processCommands()
    #expect(journal.lines(of: "A") == ["bytes 1", "bytes 2", "bytes 3", "half-close"])
    #expect(call.wireLines == ["start", "1", "3", "half-close"])
  }

  @Test func otherInterceptorsAreNotSerial() {
    let held = Holder<MessageValue, Outbound>()
    let serial = Probe("A", [.requestMessage], journal, messages: .bytes)
    serial.requirements = InterceptorRequirements(isSerial: true)
    let other = Probe("B", [.requestMessage], journal, messages: .bytes)
    other.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [serial, other])
    call.start()
    call.send("1")
    call.send("2")
    #expect(journal.lines(of: "A") == ["bytes 1", "bytes 2"])
    #expect(journal.lines(of: "B") == ["bytes 1", "bytes 2"])
  }

  @Test func largestWindowIsAccepted() {
    let held = Holder<MessageValue, Outbound>()
    let probe = Probe("A", .requestMessage, journal, messages: .bytes)
    probe.requirements = InterceptorRequirements(windowBytes: .max, replayLimitBytes: .max)
    probe.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    call.send("1")
    #expect(held.count == 1)
    #expect(call.chain.wantsMoreInput)
    call.chain.cancel(refused)
  }
}
