import Interception
import InterceptionSupport
import RPCProtocols
import Testing

@Suite struct CanRetryTests {
  private func probe(replayLimitBytes: Int) -> Probe {
    let probe = Probe("A", .all, Journal())
    probe.requirements.replayLimitBytes = replayLimitBytes
    return probe
  }

  /// What a probe is told at the response's end, and whether it could have retried then.
  private func canRetryAtEnd(of probe: Probe, _ run: (TestCall) -> Void) -> Bool? {
    var answer: Bool?
    probe.onResponseEnd = { end, token in
      answer = token.canRetry
      token.proceed(end)
    }
    run(TestCall(.bidiStreaming, probe.journal, [probe]))
    return answer
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
