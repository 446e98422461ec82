import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct FaultTests {
  private func call(
    _ text: String, _ kind: CallKind = .unary, headers: [(String, String)] = []
  ) throws -> TestCall {
    let call = TestCall(kind, Journal(), [try TestServices().registration(text)])
    call.request.headers = Headers(headers)
    call.start()
    call.send("ping")
    call.close()
    return call
  }

  // MARK: Calls

  @Test(arguments: [
    ("abort=unavailable", "unavailable", "fault filter abort"),
    ("abort=5", "not_found", "fault filter abort"),
    ("abort=RESOURCE_EXHAUSTED", "resource_exhausted", "fault filter abort"),
    ("abort=503", "unavailable", "fault filter abort (HTTP 503)"),
    ("abort=401", "unauthenticated", "fault filter abort (HTTP 401)"),
    ("abort=418", "unknown", "fault filter abort (HTTP 418)"),
  ])
  func abortsBeforeSending(_ setting: String, _ code: String, _ message: String) throws {
    let call = try call("fault,\(setting)")
    #expect(call.end?.code.name == code)
    #expect(call.end?.error?.message == message)
    #expect(call.end?.error?.origin == .interceptor("fault"))
    #expect(call.wireLines.isEmpty)
  }

  @Test func delaysTheRequest() throws {
    let call = try call("fault,delay=2")
    call.clock.advance(by: .milliseconds(1999))
    #expect(call.wireLines.isEmpty)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.wireLines == ["start", "ping", "half-close"])
  }

  @Test func abortsAfterTheDelay() throws {
    let call = try call("fault,delay=2,abort=aborted")
    #expect(call.end == nil)
    call.clock.advance(by: .seconds(2))
    #expect(call.end?.code == .aborted)
    #expect(call.wireLines.isEmpty)
  }

  @Test func cancellingEndsTheDelay() throws {
    let call = try call("fault,delay=2")
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(call.end?.code == .canceled)
    #expect(call.clock.timerCount == 0)
  }

  @Test func seedRepeatsPercentages() throws {
    func outcomes(_ text: String) throws -> [Bool] {
      let registration = try TestServices().registration(text)
      return (1...400).map { _ in
        let call = TestCall(.unary, Journal(), [registration])
        call.start()
        return call.end != nil
      }
    }
    let first = try outcomes("fault,abort=unavailable,abort-percent=25,seed=1")
    #expect((60...140).contains(first.count { $0 }))
    #expect(first == (try outcomes("fault,abort=unavailable,abort-percent=25,seed=1")))
    #expect(first != (try outcomes("fault,abort=unavailable,abort-percent=25,seed=2")))
    #expect(try outcomes("fault,abort=unavailable,abort-percent=0").allSatisfy { !$0 })
    #expect(try outcomes("fault,abort=unavailable,abort-percent=100").allSatisfy { $0 })
  }

  @Test func declinesCallsWithoutFaults() throws {
    for text in ["fault,drop-request=50,drop-response=50", "fault,truncate-request=0"] {
      let call = try call(text)
      #expect(call.wireLines == ["start", "ping", "half-close"])
    }
  }

  // MARK: Headers

  @Test func headersRequestFaults() throws {
    let delay = ("x-envoy-fault-delay-request", "500")
    let other = ("x-other", "1")
    let delayed = try call("fault,headers=true", headers: [delay, other])
    #expect(delayed.wireLines.isEmpty)
    delayed.clock.advance(by: .milliseconds(500))
    #expect(delayed.sentStart?.headers == Headers([other]))
    for (headers, code) in [
      ([("x-envoy-fault-abort-request", "503")], "unavailable"),
      ([("x-envoy-fault-abort-grpc-request", "5")], "not_found"),
      ([("x-envoy-fault-abort-grpc-request", "99")], "unknown"),
      (
        [("x-envoy-fault-abort-grpc-request", "5"), ("x-envoy-fault-abort-request", "401")], "unauthenticated"
      ),
      (
        [("X-Envoy-Fault-Abort-Request", "403"), ("x-envoy-fault-abort-request", "401")], "permission_denied"
      ),
    ] {
      #expect(try call("fault,headers=true", headers: headers).end?.code.name == code)
      #expect(try call("fault,abort=internal", headers: headers).end?.code == .internal)
      #expect(try call("fault,headers=true,abort=internal", headers: headers).end?.code.name == code)
    }
  }

  @Test(arguments: [
    ("x-envoy-fault-abort-request", "199"), ("x-envoy-fault-abort-request", "600"),
    ("x-envoy-fault-abort-request", "x"), ("x-envoy-fault-abort-grpc-request", "0"),
    ("x-envoy-fault-abort-grpc-request", "-1"), ("x-envoy-fault-delay-request", "99999999999999999999"),
    ("x-envoy-fault-throughput-response", "0"), ("x-envoy-fault-abort-request-percentage", "100"),
  ])
  func ignoresInvalidHeaders(_ name: String, _ value: String) throws {
    let call = try call("fault,headers=true", headers: [(name, value)])
    #expect(call.wireLines == ["start", "ping", "half-close"])
    #expect(call.sentStart?.headers.isEmpty == true)
  }

  @Test func percentagesOfHeadersAreCappedByTheConfigured() throws {
    func aborted(_ text: String, _ percentage: String) throws -> Bool {
      let headers = [
        ("x-envoy-fault-abort-request", "503"), ("x-envoy-fault-abort-request-percentage", percentage),
      ]
      return try call(text, headers: headers).end != nil
    }
    #expect(try aborted("fault,headers=true", "100"))
    #expect(try !aborted("fault,headers=true", "0"))
    #expect(try !aborted("fault,headers=true,abort-percent=0", "100"))
  }

  // MARK: Messages

  @Test func dropsMessagesOfStreams() throws {
    let call = try call("fault,drop-request=100,drop-response=100", .bidiStreaming)
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    #expect(call.wireLines == ["start", "half-close"])
    #expect(call.callerLines.prefix(2) == ["headers", "end ok"])
    #expect(
      call.logged.map(\.text) == ["dropped message 0 of the request", "dropped message 0 of the response"])
  }

  @Test func truncatesAndCorruptsMessages() throws {
    let whole = TestMessages.bytes("ping")
    for seed in 0..<20 {
      let cut = try call("fault,truncate-request=100,seed=\(seed)").sent
      #expect(cut.count == 1 && cut[0].count < whole.count && whole.starts(with: cut[0]))
      let changed = try call("fault,corrupt-request=100,seed=\(seed)").sent
      #expect(changed.count == 1 && changed[0].count == whole.count)
      #expect(zip(changed[0], whole).count { $0 != $1 } == 1)
    }
    let pong = TestMessages.bytes("pong")
    #expect(try received("fault,truncate-response=100,seed=1").count < pong.count)
    let changed = try received("fault,corrupt-response=100,seed=1")
    #expect(zip(changed, pong).count { $0 != $1 } == 1 && changed.count == pong.count)
  }

  /// The bytes of a response of one message.
  private func received(_ text: String) throws -> [UInt8] {
    let call = try call(text)
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    #expect(call.end?.code == .ok)
    guard case .bytes(let bytes)? = call.received.first else { return [] }
    return bytes
  }

  @Test func directionsAreIndependent() {
    let plan = FaultPlan.Damage(drop: 20, truncate: 20, corrupt: 20)
    let messages = (0..<200).map { [UInt8](repeating: UInt8($0), count: 10) }
    func outcomes() -> [FaultDamage.Outcome] {
      var damage = FaultDamage(plan, SeededGenerator(seed: 3))
      return messages.map { damage.next($0) }
    }
    let first = outcomes()
    #expect(first == outcomes())
    #expect((20...60).contains(first.count { $0 == .dropped }))
    var empty = FaultDamage(FaultPlan.Damage(truncate: 100, corrupt: 100), SeededGenerator(seed: 3))
    #expect(empty.next([]) == .untouched)
  }

  @Test func limitsRateOfResponse() throws {
    // "x" takes 3 bytes as a StringValue.
    for (text, headers) in [
      ("fault,rate=3", []), ("fault,headers=true,rate=1000000", [("x-envoy-fault-throughput-response", "1")]),
    ] as [(String, [(String, String)])] {
      let call = try call(text, .serverStreaming, headers: headers)
      call.receiveHeaders()
      let size = headers.isEmpty ? "x" : String(repeating: "x", count: 1021)
      for _ in 1...3 { call.receive(size) }
      call.receiveEnd()
      #expect(call.received.count == 0)
      call.clock.advance(by: .milliseconds(1010))
      #expect(call.received.count == 1)
      call.clock.advance(by: .milliseconds(1010))
      #expect(call.received.count == 2)
      #expect(call.end == nil)
      call.clock.advance(by: .milliseconds(1010))
      #expect(call.received.count == 3)
      #expect(call.end?.code == .ok)
    }
  }

  @Test func limitsTheRateOfSomeCalls() throws {
    for (percent, isLimited) in [("0", false), ("100", true)] {
      let call = try call("fault,rate=3,rate-percent=\(percent)", .serverStreaming)
      call.receiveHeaders()
      call.receive("x")
      call.receiveEnd()
      #expect((call.end == nil) == isLimited)
    }
  }

  @Test func injectsFaultIntoEachAttemptAfterRetry() throws {
    let services = TestServices()
    let call = TestCall(
      .unary, Journal(),
      [
        try services.registration("retry,attempts=3,jitter=0"), try services.registration("fault,abort=14"),
      ])
    call.start()
    call.send("ping")
    call.close()
    call.clock.advance(by: .seconds(1))
    call.clock.advance(by: .seconds(1))
    #expect(call.end?.error?.message == "fault filter abort")
    #expect(call.outcome?.metrics.attempts == 3)
    #expect(call.wireLines.isEmpty)
  }

  @Test(arguments: [
    ("abort=ok", "fault: abort: must be a failure code, such as unavailable, or an HTTP status"),
    ("abort=199", "fault: abort: must be a failure code, such as unavailable, or an HTTP status"),
    ("delay=long", "fault: delay: must be a duration such as 1.5, 250ms, 2m"),
    ("delay-percent=50", "fault: delay-percent: requires delay or headers=true"),
    ("abort=14,abort-percent=101", "fault: abort-percent: must be a number from 0.0 to 100.0"),
    ("rate=0", "fault: rate: must be more than 0"),
    ("rate=fast", "fault: rate: must be a number of bytes such as 65536, 64k, 1m"),
    ("headers=x", "fault: headers: must be true or false"),
    ("drop-request=-1", "fault: drop-request: must be a number from 0.0 to 100.0"),
    ("truncate-response=nan", "fault: truncate-response: must be a number from 0.0 to 100.0"),
    ("abort=14,seed=x", "fault: seed: must be a whole number of at least 0"),
    ("seed=1", "fault: no fault is given"),
  ])
  func invalidConfigurationNamesKey(_ setting: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try TestServices().registration("fault,\(setting)")
    }
    #expect(error?.description == message)
  }
}
