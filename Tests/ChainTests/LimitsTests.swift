import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// The limits of a call: before its start, after its end, and in its subrequests.
@Suite struct LimitsTests {
  private let journal = Journal()

  @Test func messagesSentBeforeTheStartFollowIt() {
    let call = TestCall(.clientStreaming, journal, [Probe("A", .request, journal)])
    call.send("1")
    call.close()
    #expect(journal.lines.isEmpty)
    call.start()
    #expect(call.wireLines == ["start", "1", "half-close"])
  }

  @Test func typedMessagesFillTheWindow() {
    let held = Holder<RequestStart, Outbound>()
    let probe = Probe("A", .requestStart, journal)
    probe.onRequestStart = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe], windowBytes: 1000)
    call.start()
    call.chain.send(.typed(TestMessages.make(String(repeating: "x", count: 1000))))
    #expect(!call.chain.wantsMoreInput)
  }

  @Test func directionWithOneMessageIsNeverPaused() {
    let held = Holder<RequestStart, Outbound>()
    let probe = Probe("A", .requestStart, journal)
    probe.requirements = InterceptorRequirements(collects: true)
    probe.onRequestStart = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [probe], windowBytes: 1000)
    call.start()
    call.chain.send(.typed(TestMessages.make(String(repeating: "x", count: 2000))))
    #expect(call.chain.wantsMoreInput)
    call.close()
    held.take().use { $0.proceed(call.request) }
    call.chain.processCommands()
    #expect(call.wireLines.count == 3)
    #expect(call.wireLines.last == "half-close")
  }

  @Test func changingTheCodecHasNoEffectAndIsLogged() {
    let probe = Probe("A", .requestStart, journal)
    probe.onRequestStart = { start, token in
      var start = start
      start.codec = .json
      token.proceed(start)
    }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    #expect(call.sentStart?.codec == .proto)
    #expect(
      call.logged == [LogRecord(level: .warning, source: "A", text: "the codec of a call cannot be changed")])
  }

  @Test func heldMetricsReachOuterInterceptorsAfterCancel() {
    let held = Holder<CallMetrics, Report>()
    let holder = Probe("B", .metrics, journal)
    holder.onMetrics = { _, token in held.keep(token) }
    let probes = [Probe("A", .metrics, journal), holder, Probe("C", .metrics, journal)]
    let call = TestCall(.unary, journal, probes)
    call.run()
    #expect(call.outcome == nil)
    call.chain.cancel(RPCError(.canceled, "given up", origin: .client))
    #expect(
      journal.lines.suffix(8) == [
        "C metrics 7", "B metrics 7", "A metrics 7", "caller metrics 7", "C finish ok", "B finish ok",
        "A finish ok", "caller finished",
      ])
    #expect(call.logged.map(\.source) == ["B"])
  }

  // MARK: Attempts

  /// Retries each failed call, once.
  private final class Retrier: StagedInterceptor {
    let stages: Stages = .responseEnd
    let requirements = InterceptorRequirements(replayLimitBytes: 1000)
    private var isLeft = true
    func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
      guard isLeft, end.error != nil, token.canRetry else { return token.proceed(end) }
      isLeft = false
      token.retry()
    }
  }

  @Test func attemptsOfNestedRetriersAreCountedTogether() {
    let registrations = ["R", "S"].map { TestCall.registration($0) { _, _ in Retrier() } }
    let call = TestCall(.unary, journal, registrations)
    call.start()
    call.send("1")
    call.close()
    for _ in 0..<4 {
      call.receiveEnd(RPCError(.unavailable, "no", origin: .server))
      call.clock.advance(by: .seconds(1))
    }
    #expect(call.wireStarts == 4)
    #expect(call.outcome?.metrics.attempts == 4)
  }

  // MARK: Subrequests

  /// Makes a subrequest at each start.
  private final class Caller: StagedInterceptor {
    let stages: Stages = .requestStart
    private let context: CallContext
    init(_ context: CallContext) { self.context = context }
    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
      context.call(Subrequest(method: start.method)) { _ in }
      token.proceed(start)
    }
  }

  /// Starts each subrequest, through the interceptors that are not excluded.
  private final class CountingNetwork: SubrequestTransport {
    var registrations: [InterceptorRegistration] = []
    private(set) var calls: [TestCall] = []
    func call(
      _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
      completion: @escaping (SubrequestResponse) -> Void
    ) {
      let made = TestCall(.unary, Journal(), registrations, network: self, excluded: excluded)
      calls.append(made)
      made.start()
    }
    func open(
      _ call: Subrequest, _ kind: CallKind, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
      receive: @escaping (SubrequestEvent) -> Void
    ) -> (any SubrequestStream)? { nil }
    func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {}
    func end() { calls = [] }
  }

  @Test(arguments: 1...6)
  func subrequestsGrowNoFasterThanTheSquareOfTheInterceptors(_ count: Int) {
    let network = CountingNetwork()
    defer { network.end() }
    network.registrations = (0..<count).map { number in
      TestCall.registration("I\(number)") { _, context in Caller(context) }
    }
    let call = TestCall(.unary, journal, network.registrations, network: network)
    call.start()
    #expect(network.calls.count == count * count)
  }
}
