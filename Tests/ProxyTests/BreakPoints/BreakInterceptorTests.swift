import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlProxy

@Suite struct BreakInterceptorTests {
  private let controller = BreakController(
    BreakPoints(ShownValues(encoding: JSONEncodingOptions(), secretNames: nil, redaction: Redaction()), [:]))
  private let shown = Shown()

  private final class Shown { var lines: [String] = [] }

  init() { controller.show = { [shown] in shown.lines.append($0) } }

  /// A call through break points, whose client has sent a message and the half-close.
  private func call(_ kind: CallKind = .unary, _ points: String..., sends: [String] = ["ping"]) throws
    -> TestCall
  {
    for point in points { try controller.add(point) }
    controller.startingCall = 1
    let call = TestCall(kind, Journal(), [controller.registration], typed: true)
    call.start()
    for text in sends { call.send(text) }
    call.close()
    return call
  }

  /// Runs a command, and what it lets the loop do.
  private func run(_ line: String, _ call: TestCall) throws {
    _ = try controller.run { points throws(Failure) in try points.run(line) }
    call.work()
  }

  private var heldCount: Int { controller.points.held.count }

  private func respond(_ call: TestCall, _ texts: String..., error: RPCError? = nil) {
    call.receiveHeaders()
    for text in texts { call.receive(text) }
    call.receiveEnd(error)
  }

  @Test func nothingReachesTheServerBeforeTheRequestContinues() throws {
    let call = try call(.unary, "Say where . == ping")
    #expect(call.wireLines.isEmpty && heldCount == 1)
    #expect(shown.lines == [#"1 test.Echo/Say held: request "ping""#])
    try run("continue", call)
    #expect(call.wireLines == ["start", "ping", "half-close"])
    respond(call, "pong")
    #expect(call.end?.code == .ok && call.outcome != nil && shown.lines.count == 1)
  }

  @Test func whatDoesNotMatchPasses() throws {
    let call = try call(.unary, "Say where . == pong", "Other")
    #expect(call.wireLines == ["start", "ping", "half-close"] && shown.lines.isEmpty)
  }

  @Test func changedRequestsAreSent() throws {
    let call = try call(.unary, "Say")
    try run("set value=changed", call)
    try run("continue 1", call)
    #expect(call.wireLines.contains("changed") && !call.wireLines.contains("ping"))
  }

  @Test func failingARequestSendsNothing() throws {
    let call = try call(.unary, "Say")
    try run("fail not_found no such thing", call)
    #expect(call.end?.code == .notFound && call.end?.error?.message == "no such thing")
    #expect(call.wireLines.isEmpty && call.outcome != nil && shown.lines.count == 1)
  }

  @Test(arguments: [CallKind.unary, .serverStreaming, .clientStreaming, .bidiStreaming])
  func respondingSendsNothing(_ kind: CallKind) throws {
    let call = try call(kind, "Say")
    try run(#"respond "local""#, call)
    #expect(call.callerLines.prefix(3) == ["headers", "typed local", "end ok"])
    #expect(call.wireLines.isEmpty && heldCount == 0)
  }

  @Test func requestsWithoutAMessagePass() throws {
    let call = try call(.unary, "Say", sends: [])
    #expect(call.wireLines.first == "start" || call.end?.error != nil)
    #expect(heldCount == 0)
  }

  @Test func eachValueOfAStreamIsHeldInItsTurn() throws {
    let call = try call(.clientStreaming, "Say", sends: ["a", "b"])
    #expect(call.wireLines.isEmpty)
    try run("continue", call)
    #expect(call.wireLines == ["start"] && shown.lines.last == #"1 test.Echo/Say held: request "a""#)
    try run("set value=x", call)
    try run("continue", call)
    #expect(call.wireLines == ["start", "x"])
    try run("continue", call)
    #expect(call.wireLines == ["start", "x", "b", "half-close"] && heldCount == 0)
  }

  @Test func streamsAreHeldAtTheMessageThatMatches() throws {
    let call = try call(.bidiStreaming, "Say where . == b", sends: ["a", "b", "c"])
    #expect(call.wireLines == ["start", "a"])
    try run("fail aborted", call)
    #expect(call.end?.code == .aborted && call.wireLines.last == "cancel")
  }

  // MARK: Responses

  @Test func changedResponsesAreReceived() throws {
    let call = try call(.unary, "response Say")
    respond(call, "pong")
    #expect(heldCount == 1 && call.received.isEmpty && call.end == nil)
    try run("set value=changed", call)
    try run("continue", call)
    #expect(call.callerLines.contains("typed changed") && call.end?.code == .ok)
  }

  @Test func responsesBecomeErrors() throws {
    let call = try call(.unary, "response Say")
    respond(call, "pong")
    try run("fail data_loss broken", call)
    #expect(call.end?.code == .dataLoss && call.received.isEmpty && call.outcome != nil)
  }

  @Test func responsesAreReplaced() throws {
    let call = try call(.unary, "response Say where . == pong")
    respond(call, "pong")
    try run(#"respond "other""#, call)
    #expect(call.callerLines.contains("typed other") && call.end?.code == .ok)
  }

  @Test(arguments: [true, false])
  func errorsAreHeldAndBecomeResponsesOrOtherErrors(_ becomesResponse: Bool) throws {
    let call = try call(.unary, "response Say where status unavailable")
    call.receiveEnd(RPCError(.unavailable, "down", origin: .server))
    #expect(heldCount == 1 && shown.lines == ["1 test.Echo/Say held: end of the response: unavailable: down"])
    try run(becomesResponse ? #"respond "fine""# : "fail not_found gone", call)
    #expect(call.end?.code == (becomesResponse ? .ok : .notFound))
    #expect(call.received.count == (becomesResponse ? 1 : 0) && call.outcome != nil)
  }

  @Test func errorsPassUnchanged() throws {
    let call = try call(.serverStreaming, "response Say where status unavailable")
    respond(call, "a", "b", error: RPCError(.unavailable, "down", origin: .server))
    #expect(call.received.count == 2 && call.end == nil)
    try run("continue", call)
    #expect(call.end?.error?.message == "down")
  }

  @Test func theOtherDirectionRunsOnUpToAValueThatMatches() throws {
    let call = try call(.bidiStreaming, "Say where . == a", "response Say where . == early", sends: ["a"])
    call.receiveHeaders()
    call.receive("first")
    call.work()
    #expect(heldCount == 1 && call.received.count == 1)
    try run("fail aborted", call)
    #expect(call.end?.code == .aborted)
  }

  @Test func oneValueOfACallIsHeldAtATime() throws {
    let call = try call(.bidiStreaming, "Say where . == a", "response Say", sends: ["a"])
    call.receiveHeaders()
    call.receive("early")
    #expect(heldCount == 1 && controller.points.held.first?.side == .request)
    try run("continue", call)
    #expect(heldCount == 1 && controller.points.held.first?.side == .response && call.wireLines.contains("a"))
    try run("continue", call)
    #expect(call.received.count == 1 && heldCount == 0)
  }

  // MARK: Ends

  @Test func theEndOfACallReleasesIt() throws {
    let call = try call(.unary, "Say")
    call.chain.cancel(RPCError(.deadlineExceeded, "too late", origin: .client))
    #expect(heldCount == 0 && shown.lines.count == 2)
    #expect(
      shown.lines.last
        == "1 test.Echo/Say no longer held: deadline_exceeded: too late (held by break at request_start)")
    #expect(throws: Failure.self) { try run("continue", call) }
  }

  @Test func closingFailsWhatIsHeld() throws {
    let call = try call(.unary, "Say")
    controller.close()
    call.work()
    #expect(call.end?.code == .unavailable && call.wireLines.isEmpty && heldCount == 0)
    let later = TestCall(.unary, Journal(), [controller.registration], typed: true)
    later.run()
    #expect(later.end?.code == .ok)
  }
}
