import RPCurlBase
import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport
import RPCurlTransportSupport
import Testing

@testable import RPCurlCall

/// A call that fails without a response: further connections find its cause after it has ended.
struct CallDiagnosisTests {
  private let fake = FakeLibcurl()
  private let client: LoopClient
  private let reports = Reports()

  init() throws {
    client = try LoopClient()
    client.loop.roundTime = .seconds(60)
  }

  /// A unary call whose connection is closed after the request.
  private func failedCall(_ interceptor: InterceptorRegistration) throws -> Call {
    var request = CallRequest(
      method: try OpaqueMethod.descriptor(of: try #require(MethodName("pkg.S/M")), .unary),
      target: "http://h",
      userAgent: "test")
    request.connection.diagnosisTime = .seconds(600)
    request.interceptors = [interceptor]
    let call = client.makeCall(request, observer: reports)
    call.start()
    call.send(.bytes([7]))
    call.finishSending()
    try fake.run(client.loop, { fake_complete(fake.handle(), CURLE_GOT_NOTHING, "Empty reply") })
    return call
  }

  @Test func theCallEndsBeforeItsCauseIsLookedFor() throws {
    let outcome = Locked<Outcome?>(nil)
    let call = try failedCall(
      InterceptorRegistration(name: "watch", factory: ClosureFactory { _, _ in OutcomeWatcher(outcome) }))
    #expect(outcome.withLock { $0 }?.end.code == .unavailable)
    #expect(reports.ends.isEmpty && reports.metrics == 0 && !call.isFinished)

    // The first connection, which looks for TLS, and the second, which reads what the server sends.
    for _ in 1...2 {
      try fake.run(client.loop, {})
      try fake.run(client.loop, { fake_complete(fake.handle(), CURLE_COULDNT_CONNECT, "refused") })
    }
    #expect(reports.ends.map(\.code) == [.unavailable] && reports.metrics == 1 && call.isFinished)
    #expect(fake.handle() == nil && fake_violations() == 0)
  }

  @Test func cancellationReportsTheErrorAsItIsKnown() throws {
    let outcome = Locked<Outcome?>(nil)
    let call = try failedCall(
      InterceptorRegistration(name: "watch", factory: ClosureFactory { _, _ in OutcomeWatcher(outcome) }))
    call.cancel("the user has enough")
    #expect(reports.ends.map(\.code) == [.unavailable] && reports.metrics == 1 && call.isFinished)
    #expect(reports.ends.first?.error?.cause == .closed("Empty reply"))
    try fake.run(client.loop, {})
    #expect(fake.handle() == nil && fake_violations() == 0)
  }

  @Test func noCauseIsLookedForIfAttemptsAreMade() throws {
    let call = try failedCall(
      InterceptorRegistration(name: "retry", factory: ClosureFactory { _, _ in NeverRetries() }))
    #expect(reports.ends.map(\.code) == [.unavailable] && reports.metrics == 1 && call.isFinished)
    #expect(fake.handle() == nil && fake_violations() == 0)
  }
}

/// Notes how the call ends for interceptors.
private final class OutcomeWatcher: StagedInterceptor {
  let stages: Stages = [.responseEnd]
  private let outcome: Locked<Outcome?>

  init(_ outcome: Locked<Outcome?>) { self.outcome = outcome }

  func finish(_ outcome: Outcome) { self.outcome.withLock { $0 = outcome } }
}

/// May retry, and does not.
private final class NeverRetries: StagedInterceptor {
  let stages: Stages = [.responseEnd]
  var requirements: InterceptorRequirements { InterceptorRequirements(replayLimitBytes: 10) }
}

private final class Reports: CallObserver {
  private(set) var ends: [ResponseEnd] = []
  private(set) var metrics = 0

  func receive(_ event: CallEvent<Payload>) throws(RPCError) {
    switch event {
    case .responseEnd(let end): ends.append(end)
    case .metrics: metrics += 1
    default: break
    }
  }
}
