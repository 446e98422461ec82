import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

/// The hedging policy of gRPC (gRFC A6). The races are in `HedgingTests`.
@Suite struct HedgeTests {
  private let services = TestServices()
  private static let unavailable = RPCError(.unavailable, "busy", origin: .server)

  private func call(
    _ registration: InterceptorRegistration, _ kind: CallKind = .unary, _ protocolName: ProtocolName = .grpc,
    isIdempotent: Bool = true
  ) -> TestCall {
    let call = TestCall(
      kind, Journal(), [registration], typed: true, isIdempotent: isIdempotent, protocolName: protocolName)
    call.start()
    call.send("ping")
    call.close()
    return call
  }

  private func call(
    _ text: String, _ kind: CallKind = .unary, _ protocolName: ProtocolName = .grpc, isIdempotent: Bool = true
  ) throws -> TestCall {
    call(try services.registration(text), kind, protocolName, isIdempotent: isIdempotent)
  }

  private func fail(
    _ call: TestCall, _ attempt: Int, _ error: RPCError = unavailable, trailers: [(String, String)] = []
  ) {
    call.wireChains[attempt - 1].receive(
      .responseEnd(ResponseEnd(error: error, trailers: Headers(trailers))))
  }

  private func respond(_ call: TestCall, _ attempt: Int) {
    call.wireChains[attempt - 1].receive(.responseStart(ResponseStart()))
    call.wireChains[attempt - 1].receive(.responseMessage(.bytes(TestMessages.bytes("pong"))))
    call.wireChains[attempt - 1].receive(.responseEnd(ResponseEnd()))
  }

  @Test func slowCallIsSentAgain() throws {
    let call = try call("hedge")
    call.clock.advance(by: .milliseconds(99))
    #expect(call.wireStarts == 1)
    #expect(call.sentStart?.headers.first("grpc-previous-rpc-attempts") == nil)
    call.clock.advance(by: .seconds(10))
    #expect(call.wireStarts == 2)
    #expect(call.sentStart?.headers.values("grpc-previous-rpc-attempts") == ["1"])
    respond(call, 2)
    #expect(call.cancelledAttempts == [1])
    #expect(call.end?.error == nil)
  }

  @Test func keysSetNumberAndDelay() throws {
    let call = try call("hedge,attempts=4,delay=1")
    for attempt in 1...4 {
      #expect(call.wireStarts == attempt)
      call.clock.advance(by: .seconds(1))
    }
    #expect(call.wireStarts == 4)
  }

  // MARK: Methods

  @Test func onlyIdempotentOrNamedMethodsAreHedged() throws {
    let plain = try call("hedge", isIdempotent: false)
    plain.clock.advance(by: .seconds(1))
    #expect(plain.wireStarts == 1)
    #expect(
      plain.logged.map(\.text) == [
        "not hedged: the schema does not mark test.Echo/Say as idempotent; name it with methods=PATTERN"
      ])
    for methods in ["test.Echo/Say", "*", "other.Service/*+*/Say"] {
      let named = try call("hedge,methods=\(methods)", isIdempotent: false)
      named.clock.advance(by: .seconds(1))
      #expect(named.wireStarts == 2, "\(methods)")
      #expect(named.logged.allSatisfy { $0.level == .debug })
    }
    // An exception names no method.
    let others = try call("hedge,methods=!test.Echo/Other", isIdempotent: false)
    others.clock.advance(by: .seconds(1))
    #expect(others.wireStarts == 1)
  }

  @Test(arguments: [
    (ProtocolName.grpc, CallKind.serverStreaming, true), (.connect, .unary, true),
    (.connect, .serverStreaming, false), (.grpcWeb, .unary, false),
  ])
  func headersDecideIfTheProtocolShowsErrorsInThem(
    _ protocolName: ProtocolName, _ kind: CallKind, _ isDecided: Bool
  ) throws {
    let call = try call("hedge", kind, protocolName)
    call.clock.advance(by: .milliseconds(100))
    call.wireChains[0].receive(.responseStart(ResponseStart()))
    #expect(call.cancelledAttempts == (isDecided ? [2] : []))
    call.wireChains[0].receive(.responseMessage(.bytes(TestMessages.bytes("pong"))))
    #expect(call.cancelledAttempts == [2])
  }

  // MARK: Failures

  /// The message of a call that failed is not delivered, but the server has run the method.
  @Test func singleMessageThatWasLostDecides() throws {
    let call = try call("hedge", .unary, .grpcWeb)
    call.wireChains[0].receive(.responseStart(ResponseStart()))
    call.hasMessage = true
    fail(call, 1)
    call.clock.advance(by: .seconds(10))
    #expect(call.wireStarts == 1)
    #expect(call.end?.code == .unavailable)
  }

  @Test func statusThatIsNotFatalStartsTheNextAttempt() throws {
    for (text, code) in [
      ("hedge", StatusCode.unavailable), ("hedge,non-fatal=aborted+INTERNAL", .internal),
    ] {
      let call = try call(text)
      fail(call, 1, RPCError(code, "", origin: .server))
      call.clock.advance(by: .zero)
      #expect(call.wireStarts == 2)
      respond(call, 2)
      #expect(call.end?.error == nil)
    }
  }

  @Test func otherFailuresEndTheCall() throws {
    for (text, error) in [
      ("hedge", RPCError(.internal, "", origin: .server)),
      ("hedge,non-fatal=aborted", Self.unavailable),
      ("hedge", RPCError(.unavailable, "self-signed", origin: .tls)),
    ] {
      let call = try call(text)
      call.clock.advance(by: .milliseconds(100))
      fail(call, 1, error)
      #expect(call.end?.error == error)
      #expect(call.cancelledAttempts == [2])
    }
  }

  // MARK: Pushback

  @Test func pushbackDelaysTheNextAttempt() throws {
    let call = try call("hedge,attempts=3")
    fail(call, 1, trailers: [("grpc-retry-pushback-ms", "500")])
    call.clock.advance(by: .milliseconds(499))
    #expect(call.wireStarts == 1)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.wireStarts == 2)
    // The delay applies again.
    call.clock.advance(by: .milliseconds(100))
    #expect(call.wireStarts == 3)
  }

  @Test func pushbackMayRefuseFurtherAttempts() throws {
    for value in ["-1", "soon"] {
      let call = try call("hedge,attempts=5")
      call.clock.advance(by: .milliseconds(100))
      fail(call, 2, trailers: [("grpc-retry-pushback-ms", value)])
      call.clock.advance(by: .seconds(1))
      #expect(call.wireStarts == 2)
      #expect(call.end == nil)
      fail(call, 1)
      #expect(call.end?.code == .unavailable)
    }
  }

  // MARK: Throttling

  @Test func serverThatFailsTooOftenReceivesOneAttemptPerCall() throws {
    let registration = try services.registration("hedge,throttle=2:0.5")
    let first = call(registration)
    // Two tokens: this failure leaves one, which is not more than half.
    fail(first, 1)
    first.clock.advance(by: .zero)
    #expect(first.wireStarts == 1)
    #expect(first.end?.code == .unavailable)
    #expect(
      first.logged.map(\.text).last == "no further attempt: server:80 fails too often (throttled)")
    // A success adds half a token.
    respond(call(registration), 1)
    let second = call(registration)
    second.clock.advance(by: .milliseconds(100))
    #expect(second.wireStarts == 2)
  }

  @Test func fatalStatusTakesNoToken() throws {
    let registration = try services.registration("hedge,throttle=2:0.5")
    fail(call(registration), 1, RPCError(.notFound, "", origin: .server))
    let next = call(registration)
    next.clock.advance(by: .milliseconds(100))
    #expect(next.wireStarts == 2)
  }

  // MARK: Configuration

  @Test(arguments: [
    ("hedge,attempts=1", "attempts: must be a whole number from 2 to 5"),
    ("hedge,attempts=6", "attempts: must be a whole number from 2 to 5"),
    ("hedge,delay=soon", "delay: "), ("hedge,non-fatal=ok", "non-fatal: ok is not a failure code"),
    ("hedge,throttle=2", "throttle: must be TOKENS:RATIO"), ("hedge,codes=aborted", "codes: unknown key"),
  ])
  func rejectsInvalidSettings(_ text: String, _ reason: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "no error")")
  }
}
