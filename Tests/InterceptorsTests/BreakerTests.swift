import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct BreakerTests {
  private static let unavailable = RPCError(.unavailable, "busy", origin: .server)
  private static let notFound = RPCError(.notFound, "no such item", origin: .server)
  private let services = TestServices()

  /// Calls that share an interceptor and a clock.
  private final class Calls {
    let clock = ManualClock()
    let registration: InterceptorRegistration
    init(_ registration: InterceptorRegistration) { self.registration = registration }

    func start(_ kind: CallKind = .unary, target: String = "http://server") -> TestCall {
      let call = TestCall(kind, Journal(), [registration], clock: clock)
      call.request.target = target
      call.start()
      return call
    }

    /// Makes calls that end with these errors; nil is a success. Returns how many reached the wire.
    @discardableResult
    func run(_ ends: RPCError?..., target: String = "http://server") -> Int {
      var count = 0
      for end in ends {
        let call = start(target: target)
        count += call.wireStarts
        call.receiveEnd(end)
      }
      return count
    }
  }

  private func calls(_ text: String) throws -> Calls { Calls(try services.registration(text)) }

  @Test func opensAfterFailures() throws {
    let calls = try calls("breaker,failures=3,open=5")
    #expect(calls.run(Self.unavailable, Self.unavailable) == 2)
    #expect(calls.run(Self.unavailable) == 1)
    let call = calls.start()
    #expect(call.wireStarts == 0)
    #expect(call.end?.code == .unavailable)
    #expect(call.end?.error?.origin == .interceptor("breaker"))
    #expect(
      call.end?.error?.message
        == "the breaker is open for server:80: 3 of 3 calls failed within 10.0 seconds, last with "
        + "unavailable: busy; the next call is possible in 5.0 seconds")
  }

  @Test func countsOtherStatusesAsSuccess() throws {
    let calls = try calls("breaker,failures=2,ratio=0.5")
    calls.run(Self.notFound, nil, Self.notFound, Self.unavailable, Self.unavailable)
    #expect(calls.run(Self.unavailable) == 1)
    #expect(calls.run(nil) == 0)
  }

  @Test func ratioRequiresBothNumbers() throws {
    let calls = try calls("breaker,failures=3,ratio=0.5")
    for _ in 0..<4 { calls.run(nil) }
    // 3 of 7 are less than a half, 4 of 8 are not.
    #expect(calls.run(Self.unavailable, Self.unavailable, Self.unavailable) == 3)
    #expect(calls.run(Self.unavailable) == 1)
    #expect(calls.run(nil) == 0)
  }

  @Test func failuresOutsideTheWindowDoNotCount() throws {
    let calls = try calls("breaker,failures=2,window=10")
    calls.run(Self.unavailable)
    calls.clock.advance(by: .seconds(10))
    #expect(calls.run(Self.unavailable, nil) == 2)
    calls.clock.advance(by: .seconds(5))
    calls.run(Self.unavailable)
    #expect(calls.run(nil) == 0)
  }

  @Test func serversHaveBreakersOfTheirOwn() throws {
    let calls = try calls("breaker,failures=1")
    calls.run(Self.unavailable, target: "http://a:1")
    #expect(calls.run(nil, target: "http://a:1/prefix") == 0)
    #expect(calls.run(nil, target: "http://b:1") == 1)
  }

  // MARK: Half-open

  @Test func successfulProbeCloses() throws {
    let calls = try calls("breaker,failures=1,open=5")
    calls.run(Self.unavailable)
    calls.clock.advance(by: .milliseconds(4999))
    #expect(calls.run(nil) == 0)
    calls.clock.advance(by: .milliseconds(1))
    let probe = calls.start()
    #expect(probe.wireStarts == 1)
    let other = calls.start()
    #expect(other.wireStarts == 0)
    #expect(other.end?.error?.message.hasSuffix("unavailable: busy; a probe is in progress") == true)
    probe.receiveEnd()
    #expect(calls.run(nil, nil, nil) == 3)
    #expect(
      probe.logged.map(\.text) == [
        "half-open: probing server:80", "closed: server:80 responds again",
      ])
  }

  @Test func failedProbeOpensAgain() throws {
    let calls = try calls("breaker,failures=3,open=5")
    calls.run(Self.unavailable, Self.unavailable, Self.unavailable)
    calls.clock.advance(by: .seconds(5))
    #expect(calls.run(Self.unavailable) == 1)
    let call = calls.start()
    #expect(
      call.end?.error?.message
        == "the breaker is open for server:80: the probe failed with unavailable: busy; the next call is "
        + "possible in 5.0 seconds")
    calls.clock.advance(by: .seconds(5))
    #expect(calls.run(nil, nil) == 2)
  }

  @Test func severalProbesMustSucceed() throws {
    let calls = try calls("breaker,failures=1,probes=2")
    calls.run(Self.unavailable)
    calls.clock.advance(by: .seconds(5))
    let probes = [calls.start(), calls.start()]
    #expect(probes.map(\.wireStarts) == [1, 1])
    #expect(calls.start().wireStarts == 0)
    probes[0].receiveEnd()
    #expect(calls.start().wireStarts == 0)
    probes[1].receiveEnd()
    #expect(calls.start().wireStarts == 1)
  }

  @Test func canceledProbeIsReplacedByTheNext() throws {
    let calls = try calls("breaker,failures=1")
    calls.run(Self.unavailable)
    calls.clock.advance(by: .seconds(5))
    calls.start().chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(calls.run(nil, nil) == 2)
  }

  @Test(arguments: [RPCError.Origin.interceptor("auth"), .configuration("script")])
  func probeThatAnInterceptorFailsIsReplacedByTheNext(_ origin: RPCError.Origin) throws {
    let calls = try calls("breaker,failures=1")
    calls.run(Self.unavailable)
    calls.clock.advance(by: .seconds(5))
    calls.run(RPCError(.unauthenticated, "no token", origin: origin))
    #expect(calls.start().logged.map(\.text) == ["half-open: probing server:80"])
  }

  @Test func openStreamIsASuccessfulProbe() throws {
    let calls = try calls("breaker,failures=1")
    calls.run(Self.unavailable)
    calls.clock.advance(by: .seconds(5))
    let stream = calls.start(.serverStreaming)
    #expect(calls.run(nil) == 0)
    stream.receiveHeaders()
    #expect(calls.run(nil) == 1)
  }

  // MARK: What counts

  @Test func deadlineOfTheCallCounts() throws {
    let calls = try calls("breaker,failures=1")
    calls.start().chain.cancel(RPCError(.deadlineExceeded, "late", origin: .client))
    #expect(calls.run(nil) == 0)
  }

  @Test(arguments: [
    RPCError(.canceled, "Ctrl-C", origin: .client), RPCError(.unavailable, "untrusted", origin: .tls),
    RPCError(.unavailable, "invalid URL", origin: .request),
  ])
  func endsThatSayNothingAboutTheServerDoNotCount(_ error: RPCError) throws {
    let calls = try calls("breaker,failures=1,codes=unavailable+canceled")
    let call = calls.start()
    if error.origin == .client { call.chain.cancel(error) } else { call.receiveEnd(error) }
    #expect(calls.run(nil) == 1)
  }

  @Test func failureThatAnInterceptorMakesForTheServerCounts() throws {
    let calls = try calls("breaker,failures=1")
    calls.run(RPCError(.unavailable, "injected", origin: .interceptor("fault")))
    #expect(calls.run(nil) == 0)
  }

  @Test func callsOfAnEarlierStateDoNotCount() throws {
    let calls = try calls("breaker,failures=1")
    let slow = [calls.start(), calls.start()]
    calls.run(Self.unavailable)
    slow[0].receiveEnd()
    #expect(calls.run(nil) == 0)
    calls.clock.advance(by: .seconds(5))
    let probe = calls.start()
    slow[1].receiveEnd(Self.unavailable)
    probe.receiveEnd()
    #expect(calls.run(nil) == 1)
  }

  @Test func countsEachAttemptAfterRetry() throws {
    let clock = ManualClock()
    let call = TestCall(
      .unary, Journal(),
      [
        try services.registration("retry,attempts=3,initial=1s,jitter=0"),
        try services.registration("breaker,failures=1,open=10"),
      ], clock: clock)
    call.start()
    call.receiveEnd(Self.unavailable)
    clock.advance(by: .seconds(10))
    #expect(call.wireStarts == 1)
    #expect(call.end?.error?.origin == .interceptor("breaker"))
  }

  // MARK: Configuration

  @Test(arguments: [
    ("failures=0", "breaker: failures: must be a whole number from 1 to 1000000"),
    ("ratio=2", "breaker: ratio: must be a number from 0.0 to 1.0"),
    ("window=0", "breaker: window: must be at least 1ms"),
    ("open=0", "breaker: open: must be more than 0"),
    ("probes=0", "breaker: probes: must be a whole number from 1 to 1000"),
    ("codes=ok", "breaker: codes: ok is not a failure code such as unavailable"),
  ])
  func invalidConfigurationNamesKey(_ setting: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration("breaker,\(setting)") }
    #expect(error?.description == message)
  }
}
