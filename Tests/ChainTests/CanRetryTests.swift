import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@Suite struct CanRetryTests {
  private func probe(replayLimitBytes: Int) -> Probe {
    let probe = Probe("A", .all, Journal())
    probe.requirements.replayLimitBytes = replayLimitBytes
    return probe
  }

  /// Runs a call; returns whether its probe could retry at the end, or nil if it received none.
  private func canRetryAtEnd(of probe: Probe, _ run: (TestCall) -> Void) -> Bool? {
    var canRetry: Bool?
    probe.onResponseEnd = { end, token in
      canRetry = token.canRetry
      token.proceed(end)
    }
    run(TestCall(.bidiStreaming, probe.journal, [probe]))
    return canRetry
  }

  @Test func canRetryIsTrueWhileTheCallMayBeRetried() {
    let probe = self.probe(replayLimitBytes: 1000)
    #expect(
      canRetryAtEnd(of: probe) { call in
        call.start()
        call.send("1")
        call.receiveEnd(refused)
      } == true)
  }

  @Test func canRetryIsFalseWithoutAReplayLimit() {
    #expect(canRetryAtEnd(of: Probe("A", .all, Journal())) { $0.run() } == false)
  }

  @Test func startedResponseCannotBeRetried() {
    let probe = self.probe(replayLimitBytes: 1000)
    #expect(canRetryAtEnd(of: probe) { $0.run() } == false)
  }

  @Test func tooLargeRequestCannotBeRetried() {
    let probe = self.probe(replayLimitBytes: 1)
    #expect(
      canRetryAtEnd(of: probe) { call in
        call.start()
        call.send("longer than that")
        call.receiveEnd(refused)
      } == false)
  }

  @Test func canceledCallCannotBeRetried() {
    let probe = self.probe(replayLimitBytes: 1000)
    #expect(
      canRetryAtEnd(of: probe) { call in
        call.start()
        call.chain.cancel(refused)
      } == false)
  }

  @Test func contextTimeIsTheLoopsTime() {
    let probe = Probe("A", .all, Journal())
    let call = TestCall(.unary, probe.journal, [probe])
    call.start()
    let begin = probe.context?.now
    call.clock.advance(by: .seconds(3))
    #expect(probe.context?.now == begin.map { $0 + .seconds(3) })
  }
}
