import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct DeadlineTests {
  private let services = TestServices()

  /// A call through these interceptors, with this deadline of its own.
  private func call(
    _ texts: String..., kind: CallKind = .unary, own: Duration? = nil
  ) throws -> TestCall {
    let call = TestCall(kind, Journal(), try texts.map { try services.registration($0) })
    call.request.deadline = own.map { call.clock.now + $0 }
    call.start()
    return call
  }

  // MARK: Deadlines

  @Test(arguments: [
    ("deadline,default=10", nil, 10),
    ("deadline,default=10", 60, 60),
    ("deadline,default=10", 2, 2),
    ("deadline,max=10", nil, 10),
    ("deadline,max=10", 60, 10),
    ("deadline,max=10", 2, 2),
    ("deadline,default=5,max=10", nil, 5),
    ("deadline,default=5,max=10", 60, 10),
    ("deadline,default=5,max=10", 7, 7),
    ("deadline,default=5,methods=test.Echo/*", nil, 5),
    ("deadline,default=5,methods=other.Echo/*", 60, 60),
  ])
  func setsTheDeadline(_ text: String, _ own: Int?, _ expected: Int) throws {
    let call = try call(text, own: own.map { .seconds($0) })
    #expect(call.sentStart?.deadline == call.clock.now + .seconds(expected))
  }

  @Test func severalApplyInTheirOrder() throws {
    let call = try call("deadline,default=5,methods=test.Echo/Say", "deadline,default=20,max=30")
    #expect(call.sentStart?.deadline == call.clock.now + .seconds(5))
    #expect(call.deadlines == [call.clock.now + .seconds(5)])
  }

  @Test func limitsEachAttemptAfterRetry() throws {
    let call = try call("retry,initial=1s,jitter=0", "deadline,max=10", own: .seconds(60))
    call.clock.advance(by: .seconds(4))
    call.receiveEnd(RPCError(.unavailable, "busy", origin: .server))
    call.clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 2)
    #expect(call.sentStart?.deadline == call.clock.now + .seconds(10))
  }

  /// A deadline after `retry` also ends an attempt that has not reached the transport.
  @Test func endsAttemptThatIsHeld() throws {
    let call = try call("retry", "deadline,max=300ms", "fault,delay=2s")
    call.send("ping")
    call.close()
    call.clock.advance(by: .milliseconds(299))
    #expect(call.end == nil)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.end?.code == .deadlineExceeded)
    #expect(
      call.end?.error?.message == "the attempt took longer than 0.3 seconds (held by fault at request_start)")
    #expect(call.wireStarts == 0)
  }

  @Test func endsEachAttemptAfterRetry() throws {
    let call = try call("retry,attempts=2,initial=1,jitter=0,codes=deadline_exceeded", "deadline,max=10")
    call.send("ping")
    call.close()
    call.clock.advance(by: .seconds(10))
    #expect(call.cancelledAttempts == [1])
    call.clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 2 && call.end == nil)
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    #expect(call.end?.code == .ok)
    #expect(call.clock.timerCount == 0)
  }

  // MARK: Idle streams

  @Test(arguments: [CallKind.serverStreaming, .bidiStreaming])
  func endsStreamWithoutMessages(_ kind: CallKind) throws {
    let call = try call("deadline,idle=5", kind: kind)
    call.clock.advance(by: .milliseconds(4999))
    #expect(call.end == nil)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.end?.code == .deadlineExceeded)
    #expect(call.end?.error?.message == "no message received for 5.0 seconds")
    #expect(call.end?.error?.origin == .interceptor("deadline"))
    #expect(call.wireLines.last == "cancel")
  }

  @Test func eachMessageBeginsTheTimeAgain() throws {
    let call = try call("deadline,idle=5", kind: .bidiStreaming)
    call.clock.advance(by: .seconds(4))
    call.receiveHeaders()
    for number in 1...10 {
      call.clock.advance(by: .seconds(4))
      call.receive("\(number)")
    }
    call.send("requests do not count")
    call.clock.advance(by: .milliseconds(4999))
    #expect(call.end == nil && call.received.count == 10)
    #expect(call.clock.timerCount == 1)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.end?.code == .deadlineExceeded)
    #expect(call.callerLines.last == "finished")
  }

  @Test func pauseOfTheCallerIsNotIdle() throws {
    let call = try call("deadline,idle=5", kind: .serverStreaming)
    call.receiveHeaders()
    call.chain.callerWants(response: false)
    call.clock.advance(by: .seconds(60))
    #expect(call.end == nil)
    call.chain.callerWants(response: true)
    call.clock.advance(by: .milliseconds(4999))
    #expect(call.end == nil)
    call.clock.advance(by: .milliseconds(1))
    #expect(call.end?.code == .deadlineExceeded)
  }

  @Test func heldResponseOfAnInnerInterceptorIsIdle() throws {
    let call = try call("deadline,idle=5", "fault,rate=1", kind: .serverStreaming)
    call.receiveHeaders()
    call.receive("a long message")
    call.clock.advance(by: .seconds(5))
    #expect(call.end?.code == .deadlineExceeded)
  }

  @Test func endOfTheStreamStopsTheTimer() throws {
    let call = try call("deadline,idle=5", kind: .serverStreaming)
    call.receiveHeaders()
    call.receiveEnd()
    call.clock.advance(by: .seconds(60))
    #expect(call.end?.code == .ok)
    #expect(call.clock.timerCount == 0)
  }

  @Test(arguments: [CallKind.unary, .clientStreaming])
  func idleDoesNotApplyToSingleResponses(_ kind: CallKind) throws {
    let call = try call("deadline,idle=5", kind: kind)
    call.clock.advance(by: .seconds(60))
    #expect(call.end == nil && call.clock.timerCount == 0)
  }

  // MARK: Configuration

  @Test(arguments: [
    ("deadline", "deadline: no time limit is given"),
    ("deadline,default=soon", "deadline: default: must be a duration such as 1.5, 250ms, 2m"),
    ("deadline,max=0", "deadline: max: must be more than 0"),
    ("deadline,idle=0", "deadline: idle: must be more than 0"),
    ("deadline,default=10,max=5", "deadline: default: is longer than max"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description == message)
  }
}
