import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct RetryTests {
  private let services = TestServices()

  private func call(
    _ text: String, _ kind: CallKind = .unary, _ protocolName: ProtocolName = .grpc,
    isIdempotent: Bool = false, further: String? = nil
  ) throws -> TestCall {
    let registrations = try [text, further].compactMap(\.self).map { try services.registration($0) }
    let call = TestCall(
      kind, Journal(), registrations, typed: true, isIdempotent: isIdempotent, protocolName: protocolName)
    call.start()
    call.send("ping")
    call.close()
    return call
  }

  private static let unavailable = RPCError(.unavailable, "busy", origin: .server)

  /// Ends an attempt like a gRPC server that fails: with the status in the headers.
  private func fail(_ call: TestCall, _ error: RPCError = unavailable, trailers: [(String, String)] = []) {
    let status = [("grpc-status", "\(error.code.rawValue)")] + trailers
    call.wireChain.receive(.responseStart(ResponseStart(headers: Headers(status))))
    call.wireChain.receive(.responseEnd(ResponseEnd(error: error, trailers: Headers(trailers))))
  }

  private func attempts(_ call: TestCall) -> Int { call.wireLines.count { $0 == "start" } }

  // MARK: Retrying

  @Test func retriesWithExponentialBackoff() throws {
    let call = try call("retry,attempts=4,initial=1,max=3,multiplier=2,jitter=0")
    var waits: [Duration] = []
    for attempt in 1...3 {
      #expect(attempts(call) == attempt)
      fail(call)
      var waited = Duration.zero
      while attempts(call) == attempt, waited < .seconds(10) {
        call.clock.advance(by: .milliseconds(500))
        waited += .milliseconds(500)
      }
      waits.append(waited)
      #expect(call.sentStart?.headers.values("grpc-previous-rpc-attempts") == ["\(attempt)"])
    }
    #expect(waits == [.seconds(1), .seconds(2), .seconds(3)])
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    #expect(call.callerLines.prefix(3) == ["headers", "pong", "end ok"])
    #expect(call.sent.map { TestMessages.text($0) } == ["ping", "ping", "ping", "ping"])
  }

  @Test func callerReceivesResponseOfLastAttempt() throws {
    let call = try call("retry,attempts=2,jitter=0")
    fail(call)
    call.clock.advance(by: .seconds(1))
    fail(call, RPCError(.unavailable, "still busy", origin: .server))
    #expect(call.end?.error?.message == "still busy")
    #expect(call.callerLines.prefix(2) == ["headers", "end unavailable"])
    #expect(attempts(call) == 2)
    #expect(
      call.logged.map(\.text) == [
        "attempt 1 of 2 failed: unavailable (busy); retrying in 100 ms",
        "attempt 2 of 2 failed: unavailable (still busy); not retried: no attempts left",
      ])
  }

  @Test func otherStatusesAreNotRetried() throws {
    for (text, code) in [
      ("retry", StatusCode.notFound), ("retry,codes=aborted+ABORTED", .unavailable),
      ("retry,attempts=1", .unavailable), ("retry,methods=other.Service/*", .unavailable),
    ] {
      let call = try call(text)
      fail(call, RPCError(code, "", origin: .server))
      #expect(call.end?.code == code)
      #expect(call.clock.timerCount == 0)
    }
  }

  @Test func acceptsCodesInAllSpellings() throws {
    for name in ["resource_exhausted", "RESOURCE_EXHAUSTED", "8", "aborted,,resource_exhausted"] {
      let call = try call("retry,codes=\(name)")
      fail(call, RPCError(.resourceExhausted, "", origin: .server))
      call.clock.advance(by: .seconds(1))
      #expect(attempts(call) == 2, "\(name)")
    }
  }

  @Test func doesNotRetryUntrustedCertificate() throws {
    let call = try call("retry")
    call.receiveEnd(RPCError(.unavailable, "self-signed", origin: .tls))
    #expect(call.end?.error?.origin == .tls)
    #expect(attempts(call) == 1)
  }

  @Test func retriesErrorWithoutHeaders() throws {
    let call = try call("retry")
    call.receiveEnd(RPCError(.unavailable, "connection refused", origin: .connection))
    call.clock.advance(by: .seconds(1))
    #expect(attempts(call) == 2)
  }

  @Test func outerInterceptorsSeeOneCall() throws {
    let journal = Journal()
    let outer = Probe("A", .all, journal)
    let call = TestCall(
      .unary, journal, [TestCall.registration(outer), try services.registration("retry")])
    call.start()
    call.send("ping")
    call.close()
    fail(call)
    call.clock.advance(by: .seconds(1))
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    #expect(
      journal.lines(of: "A") == [
        "start", "message ping", "half-close", "headers", "got-message pong", "end ok", "metrics 14",
        "finish ok",
      ])
    #expect(call.outcome?.metrics.attempts == 2)
  }

  @Test func seedRepeatsJitterWithinFraction() throws {
    func waits() throws -> [String] {
      let call = try call("retry,attempts=20,initial=1,max=1,jitter=0.5,seed=7")
      for _ in 1...19 {
        fail(call)
        call.clock.advance(by: .seconds(2))
      }
      return call.logged.map(\.text)
    }
    let first = try waits()
    #expect(first == (try waits()))
    #expect(Set(first).count == 19)
    let policy = RetryPolicy(
      attempts: 5, initialBackoff: .seconds(1), maxBackoff: .seconds(4), multiplier: 2, codes: [.unavailable])
    for (number, seconds) in [(1, 1.0), (2, 2), (3, 4), (4, 4), (1000, 4)] {
      #expect(policy.backoff(beforeRetry: number, fraction: 0, jitter: 0.2) == .seconds(seconds * 0.8))
      #expect(policy.backoff(beforeRetry: number, fraction: 0.5, jitter: 0.2) == .seconds(seconds))
    }
  }

  // MARK: Pushback

  @Test(arguments: ["-1", "x", "", "01", "+5", "1.5", "4294967296", "5 6"])
  func invalidPushbackIsRefusal(_ value: String) throws {
    let call = try call("retry")
    fail(call, trailers: [("grpc-retry-pushback-ms", value)])
    #expect(call.end?.code == .unavailable)
    #expect(call.logged.last?.text.hasSuffix("the server refused retries") == true)
  }

  @Test func pushbackSetsWaitAndResetsBackoff() throws {
    let call = try call("retry,initial=1,multiplier=10,max=100,jitter=0")
    fail(call)
    call.clock.advance(by: .seconds(1))
    fail(call, trailers: [("grpc-retry-pushback-ms", "30000")])
    call.clock.advance(by: .milliseconds(29_999))
    #expect(attempts(call) == 2)
    call.clock.advance(by: .milliseconds(1))
    #expect(attempts(call) == 3)
    fail(call)
    call.clock.advance(by: .seconds(1))
    #expect(attempts(call) == 4)
  }

  @Test func pushbackAppliesToCallsThatDoNotMeetUntil() throws {
    let text = "retry,until=status ok,initial=1,jitter=0"
    let later = try call(text)
    fail(later, trailers: [("grpc-retry-pushback-ms", "7000")])
    later.clock.advance(by: .seconds(6))
    #expect(attempts(later) == 1)
    later.clock.advance(by: .seconds(1))
    #expect(attempts(later) == 2)
    let refused = try call(text)
    fail(refused, trailers: [("grpc-retry-pushback-ms", "-1")])
    refused.clock.advance(by: .seconds(60))
    #expect(attempts(refused) == 1)
    #expect(refused.end?.error?.message.hasSuffix("; not repeated: the server refused retries") == true)
  }

  @Test func pushbackDoesNotMakeStatusRetryable() throws {
    let call = try call("retry")
    fail(
      call, RPCError(.invalidArgument, "", origin: .server), trailers: [("grpc-retry-pushback-ms", "1")])
    #expect(call.end?.code == .invalidArgument)
  }

  @Test func retryInfoIsMinimumWait() throws {
    // google.rpc.RetryInfo { retry_delay { seconds: 3 } }
    let detail = StatusDetail(typeName: "google.rpc.RetryInfo", value: [0x0A, 2, 8, 3])
    for (text, seconds) in [("retry,initial=1,jitter=0", 3), ("retry,initial=5,jitter=0", 5)] {
      let call = try call(text)
      fail(call, RPCError(.unavailable, "", details: [detail], origin: .server))
      call.clock.advance(by: .seconds(seconds) - .milliseconds(1))
      #expect(attempts(call) == 1)
      call.clock.advance(by: .milliseconds(1))
      #expect(attempts(call) == 2)
    }
  }

  @Test(
    arguments: [
      [0x0A, 2, 8], [0x0A, 11, 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], [],
    ] as [[UInt8]])
  func ignoresInvalidRetryInfo(_ bytes: [UInt8]) throws {
    let call = try call("retry,jitter=0")
    let detail = StatusDetail(typeName: "google.rpc.RetryInfo", value: bytes)
    fail(call, RPCError(.unavailable, "", details: [detail], origin: .server))
    call.clock.advance(by: .milliseconds(100))
    #expect(attempts(call) == 2)
  }

  // MARK: Limits

  @Test func doesNotRetryAfterDeadline() throws {
    let call = TestCall(.unary, Journal(), [try services.registration("retry,initial=1,jitter=0")])
    call.request.deadline = call.clock.now + .seconds(1)
    call.run(start: { fail(call) })
    #expect(call.end?.error?.message == "busy")
    #expect(call.clock.timerCount == 0)
    #expect(call.logged.last?.text.hasSuffix("the deadline is before the next attempt") == true)
  }

  @Test func cancelEndsWait() throws {
    let call = try call("retry")
    fail(call)
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(call.end?.code == .canceled)
    #expect(call.clock.timerCount == 0)
    #expect(call.outcome != nil)
  }

  @Test func doesNotRetryRequestLargerThanBuffer() throws {
    let call = try call("retry,buffer=3")
    fail(call)
    #expect(call.end?.code == .unavailable)
    #expect(call.logged.last?.text.contains("larger than the buffer") == true)
  }

  @Test func resendsReceivedPartOfStream() throws {
    let call = TestCall(.bidiStreaming, Journal(), [try services.registration("retry")])
    call.start()
    call.send("1")
    call.send("2")
    fail(call)
    call.send("3")
    call.clock.advance(by: .seconds(1))
    call.send("4")
    call.close()
    #expect(call.wireLines == ["start", "1", "2", "start", "1", "2", "3", "4", "half-close"])
  }

  @Test func throttlesEachServerAcrossCalls() throws {
    let registration = try services.registration("retry,attempts=3,throttle=4:0.5,jitter=0")
    func run(_ server: String, _ outcomes: [RPCError?]) -> Int {
      let call = TestCall(.unary, Journal(), [registration])
      call.request.target = server
      call.start()
      call.send("ping")
      call.close()
      for outcome in outcomes where call.end == nil {
        if let outcome { fail(call, outcome) } else { call.receiveEnd() }
        call.clock.advance(by: .seconds(1))
      }
      return attempts(call)
    }
    let busy: [RPCError?] = [Self.unavailable, Self.unavailable, Self.unavailable]
    // 4 tokens: the first failure leaves 3, which is above half; the second leaves 2, which is not.
    #expect(run("http://a", busy) == 2)
    #expect(run("http://a/prefix", busy) == 1)
    #expect(run("http://b", busy) == 2)
    // 1 token is left: six successes increase it to 4; other failures do not count.
    for _ in 1...6 { #expect(run("http://a", [nil]) == 1) }
    #expect(run("http://a", [RPCError(.notFound, "", origin: .server)]) == 1)
    #expect(run("http://a", busy) == 2)
  }

  // MARK: Committed responses

  @Test func headersCommitInGRPC() throws {
    let call = try call("retry", .serverStreaming)
    call.receiveHeaders()
    #expect(call.callerLines == ["headers"])
    call.receiveEnd(Self.unavailable)
    #expect(call.end?.code == .unavailable)
    #expect(attempts(call) == 1)
  }

  @Test(arguments: [ProtocolName.connect, .grpcWeb])
  func retriesErrorAfterHeadersOfStream(_ name: ProtocolName) throws {
    let call = try call("retry", .serverStreaming, name)
    call.receiveHeaders()
    #expect(call.callerLines == [])
    call.receiveEnd(Self.unavailable)
    call.clock.advance(by: .seconds(1))
    #expect(attempts(call) == 2)
    call.receiveHeaders()
    call.receive("1")
    #expect(call.callerLines == ["headers", "1"])
    call.receiveEnd(Self.unavailable)
    #expect(call.end?.code == .unavailable)
    #expect(attempts(call) == 2)
  }

  @Test func releasesHeadersOfStreamAfterTimeout() throws {
    let call = try call("retry", .serverStreaming, .connect)
    call.receiveHeaders()
    call.clock.advance(by: .seconds(1))
    #expect(call.callerLines == ["headers"])
    call.receiveEnd(Self.unavailable)
    #expect(call.end?.code == .unavailable)
  }

  @Test func httpStatusCommitsUnaryConnectCall() throws {
    let failed = try call("retry", .unary, .connect)
    let headers = Headers([("grpc-retry-pushback-ms", "7000")])
    failed.wireChain.receive(.responseStart(ResponseStart(httpStatus: 503, headers: headers)))
    #expect(failed.callerLines == [])
    failed.receiveEnd(Self.unavailable)
    failed.clock.advance(by: .seconds(6))
    #expect(attempts(failed) == 1)
    failed.clock.advance(by: .seconds(1))
    #expect(attempts(failed) == 2)
    let begun = try call("retry", .unary, .connect)
    begun.receiveHeaders()
    #expect(begun.callerLines == ["headers"])
    begun.receiveEnd(Self.unavailable)
    #expect(attempts(begun) == 1)
  }

  // MARK: Idempotent methods

  @Test func onlyIdempotentMethodsAreRetriedOnRequest() throws {
    for (text, isIdempotent, count) in [
      ("retry,only=idempotent", true, 2), ("retry,only=idempotent", false, 1), ("retry,only=all", false, 2),
    ] {
      let call = try call(text, isIdempotent: isIdempotent)
      fail(call)
      call.clock.advance(by: .seconds(1))
      #expect(attempts(call) == count, "\(text) \(isIdempotent)")
    }
  }

  // MARK: Held headers

  @Test func heldHeadersAllowARetryUntilAMessageOrTheTime() throws {
    let failed = try call("retry,hold-headers=5s")
    failed.receiveHeaders()
    #expect(failed.callerLines == [])
    failed.receiveEnd(Self.unavailable)
    failed.clock.advance(by: .seconds(1))
    #expect(attempts(failed) == 2)
    failed.receiveHeaders()
    failed.receive("pong")
    #expect(failed.callerLines == ["headers", "pong"])

    let waited = try call("retry,hold-headers=5s", .serverStreaming)
    waited.receiveHeaders()
    waited.clock.advance(by: .milliseconds(4999))
    #expect(waited.callerLines == [])
    waited.clock.advance(by: .milliseconds(1))
    #expect(waited.callerLines == ["headers"])
    waited.receiveEnd(Self.unavailable)
    #expect(waited.end?.code == .unavailable)
    #expect(attempts(waited) == 1)
  }

  /// The message of a call that failed is not delivered, but the server has run the method.
  @Test func singleMessageThatWasLostIsAResponseThatHasBegun() throws {
    for (protocolName, kind) in [(ProtocolName.grpcWeb, CallKind.unary), (.connect, .clientStreaming)] {
      let call = try call("retry", kind, protocolName)
      call.receiveHeaders()
      call.hasMessage = true
      call.receiveEnd(Self.unavailable)
      call.clock.advance(by: .seconds(10))
      #expect(attempts(call) == 1)
      #expect(call.end?.code == .unavailable)
      #expect(
        call.logged.map(\.text) == [
          "attempt 1 of 5 failed: unavailable (busy); not retried: the response has started, or the request is larger"
            + " than the buffer"
        ])
    }
  }

  /// The end of an attempt that reaches its deadline is not from the server, but its message may be.
  @Test func attemptWhoseMessageArrivedBeforeItsDeadlineIsNotRepeated() throws {
    for hasMessage in [false, true] {
      let call = try call(
        "retry,codes=deadline_exceeded,jitter=0", .unary, .grpcWeb, further: "deadline,max=400ms")
      call.receiveHeaders()
      call.hasMessage = hasMessage
      call.clock.advance(by: .milliseconds(600))
      #expect(attempts(call) == (hasMessage ? 1 : 2))
      #expect((call.end?.code == .deadlineExceeded) == hasMessage)
    }
  }

  @Test func headersAreNotHeldForATimeOfZero() throws {
    let call = try call("retry,hold-headers=0", .serverStreaming, .grpcWeb)
    call.receiveHeaders()
    #expect(call.callerLines == ["headers"])
  }

  // MARK: Until

  /// Ends an attempt with a response.
  private func respond(_ call: TestCall, _ text: String) {
    call.receiveHeaders()
    call.receive(text)
    call.receiveEnd()
  }

  @Test func repeatsUntilTheConditionHolds() throws {
    let call = try call("retry,until=.value == DONE,jitter=0")
    for text in ["QUEUED", "RUNNING"] {
      respond(call, text)
      #expect(call.callerLines == [])
      call.clock.advance(by: .seconds(1))
    }
    respond(call, "DONE")
    #expect(call.callerLines.prefix(3) == ["headers", "DONE", "end ok"])
    #expect(attempts(call) == 3)
    #expect(
      call.logged.map(\.text) == [
        "attempt 1: .value == DONE: expected \"DONE\", got \"QUEUED\"; repeating in 100 ms",
        "attempt 2: .value == DONE: expected \"DONE\", got \"RUNNING\"; repeating in 200 ms",
      ])
    // A repetition is not a retry of a failed attempt.
    #expect(call.sentStart?.headers.first("grpc-previous-rpc-attempts") == nil)
  }

  @Test(arguments: ["", ",until=status ok"])
  func attemptsAfterAFailureHaveTheNumberOfPreviousAttempts(_ condition: String) throws {
    let call = try call("retry,until=.value == DONE\(condition),jitter=0")
    func previous() -> [String]? {
      call.clock.advance(by: .seconds(1))
      return call.sentStart?.headers.values("grpc-previous-rpc-attempts")
    }
    respond(call, "QUEUED")
    #expect(previous() == [])
    fail(call)
    #expect(previous() == ["2"])
    respond(call, "QUEUED")
    #expect(previous() == ["3"])
    #expect(attempts(call) == 4)
  }

  @Test func allConditionsMustHold() throws {
    let call = try call("retry,until=.value == DONE,until=header from == server")
    call.wireChain.receive(.responseStart(ResponseStart()))
    call.receive("DONE")
    call.receiveEnd()
    call.clock.advance(by: .seconds(1))
    respond(call, "DONE")
    #expect(call.end == ResponseEnd())
    #expect(attempts(call) == 2)
  }

  /// Each attempt would fail in the same way.
  @Test(arguments: ["ok", "not_found"])
  func failureOfTLSIsNotRepeatedUntilAStatus(_ code: String) throws {
    let call = try call("retry,until=status \(code)")
    let error = RPCError(.unavailable, "untrusted", origin: .tls)
    call.receiveEnd(error)
    call.clock.advance(by: .seconds(60))
    #expect(attempts(call) == 1)
    #expect(call.end?.error == error)
  }

  @Test func statusCanBeACondition() throws {
    let gone = try call("retry,until=status not_found")
    respond(gone, "still there")
    gone.clock.advance(by: .seconds(1))
    fail(gone, RPCError(.notFound, "gone", origin: .server))
    #expect(gone.end?.code == .notFound)
    #expect(gone.found.map(\.kind) == [.expectedStatus])
    let ready = try call("retry,until=status ok")
    fail(ready, RPCError(.failedPrecondition, "not yet", origin: .server))
    ready.clock.advance(by: .seconds(1))
    respond(ready, "pong")
    #expect(ready.end == ResponseEnd())
  }

  @Test func failuresEndThePolling() throws {
    let call = try call("retry,until=.value == DONE")
    fail(call)
    call.clock.advance(by: .seconds(1))
    #expect(attempts(call) == 2)
    fail(call, RPCError(.notFound, "no job", origin: .server))
    #expect(call.end?.code == .notFound)
  }

  @Test func pollingEndsAtItsTimeLimit() throws {
    let between = try call("retry,until=.value == DONE,timeout=250ms,jitter=0")
    respond(between, "RUNNING")
    between.clock.advance(by: .milliseconds(100))
    respond(between, "RUNNING")
    #expect(between.end?.code == .deadlineExceeded)
    #expect(
      between.end?.error?.message
        == "until is not met: .value == DONE: expected \"DONE\", got \"RUNNING\", within 250 ms")
    #expect(between.received.isEmpty)

    let within = try call("retry,until=.value == DONE,timeout=2s")
    within.receiveHeaders()
    within.clock.advance(by: .seconds(2))
    #expect(within.end?.error?.message == "until is not met: no response, within 2 s")
    #expect(within.end?.error?.origin == .interceptor("retry"))
  }

  @Test func pollingEndsBeforeTheDeadlineAndAfterTheAttempts() throws {
    let limited = try call("retry,until=.value == DONE,attempts=2")
    respond(limited, "A")
    limited.clock.advance(by: .seconds(1))
    respond(limited, "B")
    #expect(
      limited.end?.error?.message
        == "until is not met: .value == DONE: expected \"DONE\", got \"B\", in 2 attempts")

    let late = TestCall(
      .unary, Journal(), [try services.registration("retry,until=.value == DONE,initial=2,jitter=0")],
      typed: true)
    late.request.deadline = late.clock.now + .seconds(1)
    late.run(start: { respond(late, "A") })
    #expect(late.end?.error?.message.hasSuffix("and the deadline is before the next attempt") == true)
  }

  @Test func largeResponseIsHeldWhole() throws {
    let call = TestCall(
      .unary, Journal(), [try services.registration("retry,until=.value =~ ^long")], windowBytes: 1000,
      typed: true)
    call.run(start: {
      respond(call, "short")
      call.clock.advance(by: .seconds(1))
      respond(call, String(repeating: "long", count: 10_000))
    })
    #expect(call.end == ResponseEnd())
    #expect(!call.wireLines.contains("pause"))
  }

  @Test func responseLargerThanTheWindowIsAnErrorThatNamesRetry() throws {
    let call = TestCall(
      .unary, Journal(), [try services.registration("retry,until=.value == DONE")], typed: true)
    call.run(start: {
      call.receiveHeaders()
      call.receive(String(repeating: "x", count: Retry.heldBytes))
    })
    #expect(call.end?.code == .resourceExhausted)
    #expect(call.end?.error?.origin == .interceptor("retry"))
    #expect(
      call.end?.error?.message
        == "retry collects values at response_message, and they exceed the window of 67108864 bytes")
    #expect(call.cancelledAttempts == [1])
  }

  @Test func impossibleConditionFailsTheCall() throws {
    let unknown = try call("retry,until=.none == 1")
    #expect(unknown.end?.error?.origin == .configuration("retry"))
    let stream = try call("retry,until=.value == DONE", .serverStreaming)
    #expect(
      stream.end?.error?.message
        == "until: applies to methods with a single response, and test.Echo/Say streams responses")
    #expect(stream.wireLines.isEmpty)
  }

  // MARK: Reports of attempts

  @Test func attemptsAreReportedWithStatusWaitAndPeer() throws {
    let call = try call("retry,jitter=0")
    fail(call)
    call.peer = nil
    call.clock.advance(by: .seconds(1))
    call.receiveEnd(RPCError(.unavailable, "connection refused", origin: .connection))
    call.peer = "[2001:db8::1]:443"
    call.clock.advance(by: .seconds(1))
    respond(call, "pong")
    #expect(call.attempts.map(\.numbers) == [[1], [2], [3]])
    #expect(call.attempts.map { $0.error?.code } == [.unavailable, .unavailable, nil])
    #expect(call.attempts.map(\.wait) == [nil, .milliseconds(100), .milliseconds(200)] as [Duration?])
    #expect(call.attempts.map(\.peer) == ["192.0.2.1:443", nil, "[2001:db8::1]:443"])
  }

  @Test func attemptsWithinAttemptsHaveTheNumbersOfBoth() throws {
    let call = TestCall(
      .unary, Journal(),
      [
        try services.registration("retry,attempts=2,codes=aborted,initial=3,jitter=0"),
        try services.registration("retry,jitter=0"),
      ])
    call.run(start: {
      fail(call)
      call.clock.advance(by: .seconds(1))
      fail(call, RPCError(.aborted, "", origin: .server))
      call.clock.advance(by: .seconds(3))
      respond(call, "pong")
    })
    #expect(call.end == ResponseEnd())
    #expect(call.attempts.map(\.numbers) == [[1, 1], [1, 2], [1], [2, 1], [2]])
    #expect(call.attempts.map(\.nestedCount) == [0, 0, 2, 0, 1])
    #expect(
      call.attempts.map(\.wait) == [nil, .milliseconds(100), nil, .seconds(3), .seconds(3)] as [Duration?])
  }

  /// An interceptor that may retry, and observes the attempts made further in.
  private final class AttemptObserver: StagedInterceptor {
    let stages: Stages = [.responseEnd, .attemptEnd]
    let requirements = InterceptorRequirements(replayLimitBytes: 1000)
    var numbers: [[Int]] = []
    func attemptEnd(_ report: AttemptReport) { numbers.append(report.numbers) }
  }

  @Test func attemptsWithinAnAttemptAreReportedToItsInterceptor() throws {
    let observer = AttemptObserver()
    let call = TestCall(
      .unary, Journal(),
      [TestCall.registration("observer") { _, _ in observer }, try services.registration("retry,jitter=0")])
    call.run(start: {
      fail(call)
      call.clock.advance(by: .seconds(1))
      respond(call, "pong")
    })
    #expect(call.end == ResponseEnd())
    #expect(observer.numbers == [[1, 1], [1, 2]])
  }

  @Test func canceledAttemptIsReported() throws {
    let call = try call("retry")
    call.chain.cancel(RPCError(.deadlineExceeded, "", origin: .client))
    #expect(call.attempts.map { $0.error?.code } == [.deadlineExceeded])
    let waiting = try self.call("retry")
    fail(waiting)
    waiting.chain.cancel(RPCError(.canceled, "", origin: .client))
    #expect(waiting.attempts.count == 1)
  }

  // MARK: Configuration

  @Test(arguments: [
    ("attempts=0", "retry: attempts: must be a whole number from 1 to 1000"),
    ("attempts=five", "retry: attempts: must be a whole number from 1 to 1000"),
    ("codes=ok", "retry: codes: ok is not a failure code such as unavailable"),
    ("codes=busy+aborted", "retry: codes: busy is not a failure code such as unavailable"),
    ("codes=", "retry: codes: contains no code"),
    ("initial=soon", "retry: initial: must be a duration such as 1.5, 250ms, 2m"),
    ("initial=0x10", "retry: initial: must be a duration such as 1.5, 250ms, 2m"),
    ("max=-1", "retry: max: must be a duration such as 1.5, 250ms, 2m"),
    ("multiplier=0", "retry: multiplier: must be a number from 0.001 to 1000.0"),
    ("jitter=2", "retry: jitter: must be a number from 0.0 to 1.0"),
    ("buffer=much", "retry: buffer: must be a number of bytes such as 65536, 64k, 1m"),
    ("buffer=9223372036854775807g", "retry: buffer: must be a number of bytes such as 65536, 64k, 1m"),
    ("seed=-1", "retry: seed: must be a whole number of at least 0"),
    (
      "throttle=10",
      "retry: throttle: must be TOKENS:RATIO, tokens above 0 up to 1000 and a ratio of at least 0.001"
    ),
    (
      "throttle=0:1",
      "retry: throttle: must be TOKENS:RATIO, tokens above 0 up to 1000 and a ratio of at least 0.001"
    ),
    ("only=some", "retry: only: must be one of all, idempotent"),
    ("hold-headers=x", "retry: hold-headers: must be a duration such as 1.5, 250ms, 2m"),
    ("timeout=3", "retry: timeout: requires until"),
    ("until=status ok,timeout=0", "retry: timeout: must be more than 0"),
    ("until=state == DONE", #"retry: until: unknown condition "state""#),
    ("until=field=state == DONE", #"retry: until: unknown condition "field""#),
    ("until=.state is DONE", "retry: until: unknown type DONE after is"),
    (
      "until=latency < 1s",
      "retry: until: latency < 1s: the duration of a response does not change when it is repeated"
    ),
    ("until=.state == ${x}", "retry: until: ${…} has no value here"),
    (
      "until=status ok,hold-headers=1",
      "retry: hold-headers: cannot be combined with until, which holds the whole response"
    ),
    ("policy=/no/such", "retry: policy: /no/such: no such file or directory"),
    (
      "policy=x,codes=aborted",
      "retry: codes: is set by the policy file and cannot be combined with it"
    ),
  ])
  func invalidConfigurationNamesKey(_ setting: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration("retry,\(setting)") }
    #expect(error?.description == message)
  }
}

extension TestCall {
  /// Starts a unary call, and then runs a closure.
  fileprivate func run(start then: () -> Void) {
    start()
    send("ping")
    close()
    then()
  }
}
