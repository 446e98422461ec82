import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct LimitTests {
  private let services = TestServices()

  /// Calls that share an interceptor and a clock.
  private final class Calls {
    let clock = ManualClock()
    let registration: InterceptorRegistration
    private(set) var all: [TestCall] = []

    init(_ registration: InterceptorRegistration) { self.registration = registration }

    /// Starts a call.
    @discardableResult
    func start(_ kind: CallKind = .unary, isSubrequest: Bool = false, inside: [InterceptorRegistration] = [])
      -> TestCall
    {
      let call = TestCall(
        kind, Journal(), inside + [registration], excluded: isSubrequest ? [RegistrationID()] : [],
        clock: clock)
      all.append(call)
      call.start()
      return call
    }

    func advance(by duration: Duration) {
      clock.advance(by: duration)
      work()
    }

    /// Runs the work that calls have scheduled for others.
    func work() {
      for _ in all { for call in all { call.work() } }
    }

    func end(_ index: Int) {
      all[index].receiveEnd()
      work()
    }

    /// The indexes of the calls that have started on the wire.
    var started: [Int] { all.indices.filter { all[$0].wireStarts > 0 } }
  }

  private func calls(_ text: String) throws -> Calls { Calls(try services.registration(text)) }

  // MARK: Rate

  @Test func spacesCallsEvenly() throws {
    let calls = try calls("limit,rate=4")
    for _ in 0..<4 { calls.start() }
    #expect(calls.started == [0])
    for number in 1...3 {
      calls.advance(by: .milliseconds(249))
      #expect(calls.started == Array(0..<number))
      calls.advance(by: .milliseconds(1))
      #expect(calls.started == Array(0...number))
    }
  }

  @Test func admitsBurstAfterPause() throws {
    let calls = try calls("limit,rate=1,burst=3")
    for _ in 0..<4 { calls.start() }
    #expect(calls.started == [0, 1, 2])
    calls.advance(by: .seconds(1))
    #expect(calls.started == [0, 1, 2, 3])
    calls.advance(by: .seconds(3600))
    for _ in 0..<4 { calls.start() }
    #expect(calls.started == Array(0..<7))
  }

  @Test(arguments: [("60/m", 1000), ("3600/h", 1000), ("2/s", 500), ("0.5", 2000)])
  func ratesHaveUnits(_ rate: String, _ milliseconds: Int) throws {
    let calls = try calls("limit,rate=\(rate)")
    calls.start()
    calls.start()
    calls.advance(by: .milliseconds(milliseconds - 1))
    #expect(calls.started == [0])
    calls.advance(by: .milliseconds(1))
    #expect(calls.started == [0, 1])
  }

  @Test func canceledCallGivesItsTurnToTheNext() throws {
    let calls = try calls("limit,rate=1")
    for _ in 0..<3 { calls.start() }
    calls.advance(by: .milliseconds(500))
    calls.all[1].chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    calls.work()
    calls.advance(by: .milliseconds(500))
    #expect(calls.started == [0, 2])
  }

  @Test func failsCallsOverTheRate() throws {
    let calls = try calls("limit,rate=2,when-full=fail")
    calls.start()
    let error = calls.start().end?.error
    #expect(error?.code == .resourceExhausted)
    #expect(error?.origin == .interceptor("limit"))
    #expect(
      error?.message == "the limit of 2 calls per second is reached; the next call can start in 0.5 seconds")
    calls.advance(by: .milliseconds(500))
    calls.start()
    #expect(calls.started == [0, 2])
  }

  // MARK: Concurrency

  @Test(arguments: CallKind.allCases)
  func callsWaitUntilOthersEnd(_ kind: CallKind) throws {
    let calls = try calls("limit,concurrency=2")
    for _ in 0..<5 { calls.start(kind) }
    #expect(calls.started == [0, 1])
    calls.end(1)
    #expect(calls.started == [0, 1, 2])
    calls.end(0)
    calls.end(2)
    #expect(calls.started == [0, 1, 2, 3, 4])
  }

  @Test func longWaitIsNoWarning() throws {
    let calls = try calls("limit,concurrency=1")
    calls.start()
    let waiting = calls.start()
    calls.advance(by: .seconds(60))
    #expect(waiting.logged.map(\.level) == [.debug])
  }

  @Test func placeIsReleasedHoweverACallEnds() throws {
    let calls = try calls("limit,concurrency=1")
    let refused = RPCError(.permissionDenied, "refused", origin: .server)
    let ends: [(TestCall) -> Void] = [
      { $0.receiveEnd(refused) },
      { $0.chain.cancel(RPCError(.deadlineExceeded, "late", origin: .client)) },
      { $0.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client)) },
    ]
    for end in ends {
      let call = calls.start()
      #expect(call.wireStarts == 1)
      end(call)
    }
    // Canceled while it waits.
    let running = calls.start()
    let waiting = calls.start()
    waiting.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    running.receiveEnd()
    calls.work()
    #expect(calls.start().wireStarts == 1)
    #expect(waiting.wireStarts == 0)
  }

  @Test func attemptsWaitWithoutAPlace() throws {
    let calls = try calls("limit,concurrency=1")
    let retry = try services.registration("retry,initial=1s,jitter=0")
    let first = calls.start(inside: [retry])
    calls.start()
    first.receiveEnd(RPCError(.unavailable, "busy", origin: .server))
    calls.work()
    #expect(calls.started == [0, 1])
    calls.advance(by: .seconds(1))
    #expect(first.wireStarts == 1)
    calls.end(1)
    #expect(first.wireStarts == 2)
  }

  @Test func failsCallsOverTheConcurrency() throws {
    let calls = try calls("limit,concurrency=1,when-full=fail")
    calls.start()
    let error = calls.start().end?.error
    #expect(error?.code == .resourceExhausted)
    #expect(error?.message == "the limit of 1 concurrent call is reached")
    calls.end(0)
    #expect(calls.start().wireStarts == 1)
  }

  @Test func deadlineErrorNamesTheInterceptor() throws {
    let calls = try calls("limit,concurrency=1")
    calls.start()
    let late = calls.start()
    late.chain.cancel(RPCError(.deadlineExceeded, "late", origin: .client))
    #expect(late.end?.error?.message == "late (held by limit at request_start)")
  }

  @Test func bothLimitsApply() throws {
    let calls = try calls("limit,rate=1,burst=2,concurrency=1")
    for _ in 0..<4 { calls.start() }
    calls.end(0)
    #expect(calls.started == [0, 1])
    calls.end(1)
    #expect(calls.started == [0, 1])
    calls.advance(by: .seconds(1))
    #expect(calls.started == [0, 1, 2])
    calls.advance(by: .seconds(5))
    #expect(calls.started == [0, 1, 2])
    calls.end(2)
    #expect(calls.started == [0, 1, 2, 3])
  }

  // MARK: Calls of interceptors

  @Test func subrequestsDoNotWaitForTheirCall() throws {
    let calls = try calls("limit,concurrency=1")
    calls.start()
    calls.start()
    calls.start(isSubrequest: true)
    #expect(calls.started == [0, 2])
    // It counts: the waiting call starts after both.
    calls.end(0)
    #expect(calls.started == [0, 2])
    calls.end(2)
    #expect(calls.started == [0, 1, 2])
  }

  @Test func subrequestsCountForTheRateAndComeFirst() throws {
    let calls = try calls("limit,rate=1,concurrency=1")
    calls.start()
    calls.start()
    calls.start(isSubrequest: true)
    #expect(calls.started == [0])
    calls.advance(by: .seconds(1))
    #expect(calls.started == [0, 2])
  }

  @Test func subrequestsWaitInOrderOfArrival() throws {
    let calls = try calls("limit,rate=1")
    calls.start()
    for _ in 0..<3 { calls.start(isSubrequest: true) }
    for index in 1...3 {
      calls.advance(by: .seconds(1))
      #expect(calls.started == Array(0...index))
    }
  }

  // MARK: Configuration

  @Test(arguments: [
    ("limit", "limit: no limit is given"),
    ("limit,rate=0", "limit: rate: must be a number of calls such as 10, 10/s, 100/m, 1000/h"),
    ("limit,rate=5/d", "limit: rate: must be a number of calls such as 10, 10/s, 100/m, 1000/h"),
    ("limit,rate=5/s/s", "limit: rate: must be a number of calls such as 10, 10/s, 100/m, 1000/h"),
    ("limit,rate=nan", "limit: rate: must be a number of calls such as 10, 10/s, 100/m, 1000/h"),
    ("limit,rate=5,burst=0", "limit: burst: must be a whole number from 1 to 1000000"),
    ("limit,concurrency=5,burst=2", "limit: burst: requires rate"),
    ("limit,concurrency=0", "limit: concurrency: must be a whole number from 1 to 1000000"),
    ("limit,rate=5,when-full=drop", "limit: when-full: must be one of wait, fail"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description == message)
  }
}
