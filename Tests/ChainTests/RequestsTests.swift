import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

/// Requests of interceptors through their context.
@TestLoop @Suite struct RequestsTests {
  private let journal = Journal()

  @Test func timerForwardsAHeldValue() {
    let held = Holder<RequestStart, Outbound>()
    let probe = Probe("A", [.requestStart], journal)
    probe.onRequestStart = { start, token in
      held.keep(token)
      probe.context?.after(.seconds(1)) { held.take().use { $0.proceed(start) } }
    }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    call.clock.advance(by: .milliseconds(999))
    #expect(call.wireLines.isEmpty)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.wireLines == ["start"])
  }

  @Test func timerDoesNotFireAfterCancelOrTheEndOfTheCall() {
    let probe = Probe("A", [.requestStart], journal)
    probe.onRequestStart = { start, token in
      probe.context?.after(.seconds(1)) { self.journal.note("A first") }
      if let timer = probe.context?.after(.seconds(1), { self.journal.note("A second") }) {
        probe.context?.cancel(timer)
      }
      probe.context?.after(.seconds(3)) { self.journal.note("A third") }
      token.proceed(start)
    }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    call.clock.advance(by: .seconds(2))
    #expect(journal.lines(of: "A") == ["start", "first"])
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(call.clock.timerCount == 0)
    call.clock.advance(by: .seconds(2))
    #expect(journal.lines(of: "A") == ["start", "first", "finish canceled"])
  }

  @Test func postedWorkRunsOnTheLoopUnlessTheCallHasFinished() async {
    let probe = Probe("A", [.requestStart], journal)
    let call = TestCall(.unary, journal, [probe])
    call.start()
    guard let context = probe.context else { return }
    let (handle, posted) = (context.handle, LoopBound { self.journal.note("A posted") })
    await Task.detached { handle.post { posted.value() } }.value
    #expect(journal.lines(of: "A") == ["start"])
    #expect(call.wakes.count.load(ordering: .relaxed) == 1)
    call.work()
    #expect(journal.lines(of: "A") == ["start", "posted"])
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    context.post { self.journal.note("A too late") }
    call.work()
    #expect(journal.lines(of: "A") == ["start", "posted", "finish canceled"])
  }

  @Test func functionThatQueuesItselfForEverDoesNotPreventTheEnd() {
    let probe = Probe("A", [.requestStart, .metrics], journal)
    let call = TestCall(.unary, journal, [probe])
    call.start()
    var count = 0
    func repeatForEver() {
      count += 1
      // More than the loop runs in this test; without a limit it would not end.
      if count < 1_000_000 { probe.context?.post(repeatForEver) }
    }
    repeatForEver()
    let error = RPCError(.canceled, "Ctrl-C", origin: .client)
    for _ in 0..<2 {
      call.chain.cancel(error)
      call.giveMetrics()
      for _ in 0..<10 { call.work() }
    }
    #expect(call.outcome?.end.error == error)
    #expect(journal.lines(of: "A").suffix(1) == ["finish canceled"])
    #expect(count < 1_000_000)
  }

  @Test(arguments: [false, true])
  func functionThatQueuesItselfForEverLetsTheLoopContinue(_ waitsForRoom: Bool) {
    let probe = Probe("A", [.requestStart], journal)
    let call = TestCall(.bidiStreaming, journal, [probe])
    call.start()
    var count = 0
    func repeatForEver() {
      count += 1
      // More than one round of the loop allows; without a limit the test would not end.
      guard count < 100_000 else { return }
      if waitsForRoom {
        probe.context?.whenResponseWanted(repeatForEver)
      } else {
        probe.context?.post(repeatForEver)
      }
    }
    repeatForEver()
    call.work()
    let first = count
    #expect((2..<1000).contains(first))
    call.work()
    #expect((first + 1..<2000).contains(count))
    call.chain.cancel(RPCError(.deadlineExceeded, "late", origin: .client))
    #expect(call.end?.code == .deadlineExceeded)
  }

  @Test func postedWorkMayPostAgain() {
    let probe = Probe("A", [.requestStart], journal)
    let call = TestCall(.unary, journal, [probe])
    call.start()
    let context = probe.context
    context?.post {
      self.journal.note("A first")
      context?.post { self.journal.note("A second") }
    }
    call.work()
    #expect(journal.lines(of: "A") == ["start", "first", "second"])
  }

  // MARK: Subrequests

  private final class Network: SubrequestTransport {
    var calls: [(Subrequest, Set<RegistrationID>, (SubrequestResponse) -> Void)] = []
    var fetches: [(HTTPFetch, (Result<HTTPFetchResponse, RPCError>) -> Void)] = []
    func call(
      _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
      completion: @escaping (SubrequestResponse) -> Void
    ) {
      calls.append((call, excluded, completion))
    }
    func open(
      _ call: Subrequest, _ kind: CallKind, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
      receive: @escaping (SubrequestEvent) -> Void
    ) -> (any SubrequestStream)? { nil }
    func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
      fetches.append((fetch, completion))
    }
  }

  @Test func subrequestsDoNotPassThroughTheirInterceptor() {
    let network = Network()
    let held = Holder<RequestStart, Outbound>()
    let probe = Probe("A", [.requestStart], journal)
    probe.onRequestStart = { start, token in
      held.keep(token)
      probe.context?.call(Subrequest(method: start.method)) { answer in
        held.take().use { $0.proceed(start) }
        self.journal.note("A answered \(answer.end.code.name)")
      }
    }
    let registration = TestCall.registration(probe)
    let other = TestCall.registration(Probe("B", .requestStart, journal))
    let call = TestCall(.unary, journal, [registration, other], network: network)
    call.start()
    #expect(network.calls.map(\.1) == [[registration.id]])
    // The subrequest, made as a client makes it.
    let own = TestCall(.unary, Journal(), [registration, other], excluded: network.calls[0].1)
    own.start()
    #expect(own.sentStart != nil)
    #expect(journal.lines == ["A start", "B start"])
    network.calls[0].2(SubrequestResponse(end: ResponseEnd()))
    #expect(journal.lines(of: "A") == ["start", "answered ok"])
    #expect(call.wireLines == ["start"])
  }

  @Test func subrequestResponseAfterTheCallHasFinishedIsIgnored() {
    let network = Network()
    let probe = Probe("A", [.requestStart], journal)
    probe.onRequestStart = { start, token in
      probe.context?.fetch(HTTPFetch(url: "http://token")) { _ in self.journal.note("A fetched") }
      token.proceed(start)
    }
    let call = TestCall(.unary, journal, [TestCall.registration(probe)], network: network)
    call.start()
    #expect(network.fetches.map(\.0.url) == ["http://token"])
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    network.fetches[0].1(.success(HTTPFetchResponse(status: 200)))
    #expect(journal.lines(of: "A") == ["start", "finish canceled"])
  }

  @Test func lingeringSubrequestCompletesAfterTheCallHasFinished() {
    let network = Network()
    let probe = Probe("A", [.requestStart], journal)
    probe.onRequestStart = { start, token in
      var own = Subrequest(method: start.method)
      own.lingering = .seconds(1)
      probe.context?.call(own) { _ in self.journal.note("A answered") }
      token.proceed(start)
    }
    let call = TestCall(.unary, journal, [TestCall.registration(probe)], network: network)
    call.start()
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    network.calls[0].2(SubrequestResponse(end: ResponseEnd()))
    #expect(journal.lines(of: "A") == ["start", "finish canceled", "answered"])
  }

  // MARK: Findings

  @Test func findingsAreReported() {
    let probe = Probe("A", [.requestStart], journal)
    let call = TestCall(.unary, journal, [probe])
    call.start()
    probe.context?.report(.failure, "too slow")
    #expect(call.found == [Finding(interceptor: "A", kind: .failure, text: "too slow")])
  }
}
