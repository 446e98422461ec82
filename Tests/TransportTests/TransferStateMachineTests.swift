import RPCurlProtocols
import Testing

@testable import RPCurlTransport

struct TransferStateMachineTests {
  private typealias Machine = TransferStateMachine

  private func performing(_ body: RequestBody = RequestBody(), requiresHTTP2: Bool = false) -> Machine {
    var machine = Machine(body, requiresHTTP2: requiresHTTP2)
    _ = machine.handle(.start(.any))
    _ = machine.handle(.settle)
    return machine
  }

  private static let broken = TransportError(.broken, "Send failure")
  private static let aborted = TransportError(.broken, "aborted")

  /// The action that ends an exchange whose request cannot be sent again.
  private func end(_ cause: ConnectionCause) -> Machine.Action {
    .end(TransportError(.broken, "").with(cause))
  }

  private func line(_ text: String) -> Machine.Event {
    let bytes = Array("\(text)\r\n".utf8)
    return bytes.withUnsafeBytes { .line(HeaderLine($0), size: $0.count) }
  }

  @Test func startsWhenCallbacksHaveReturned() {
    var machine = Machine(RequestBody(whole: [1]), requiresHTTP2: false)
    #expect(machine.handle(.start(.any)) == .settleLater)
    #expect(machine.handle(.start(.any)) == .none)
    #expect(!machine.isAdded)
    #expect(machine.handle(.settle) == .add(.any))
    #expect(machine.isAdded)
    #expect(machine.handle(.settle) == .none)
  }

  @Test(arguments: [true, false]) func onlyAForwardingProxyRequiresCredentials(isForwarded: Bool) {
    var machine = performing()
    var connection = Machine.Connection()
    connection.isForwarded = isForwarded
    _ = machine.handle(.connected(connection))
    _ = machine.handle(line("HTTP/1.1 407 X"))
    let head = ResponseStart(httpStatus: 407, httpVersion: "1.1", headers: Headers())
    let error = TransportError(.proxyRequiresCredentials)
    #expect(machine.handle(line("")) == (isForwarded ? .end(error) : .receive(head)))
  }

  @Test func doesNotAddClosedExchange() {
    var machine = Machine(RequestBody(), requiresHTTP2: false)
    _ = machine.handle(.start(.any))
    #expect(machine.handle(.close) == .settleLater)
    #expect(machine.handle(.settle) == .release(isAdded: false))
  }

  @Test func bodyPausesUntilItGrows() {
    var machine = performing()
    #expect(machine.handle(.bodyWanted) == .pauseBody)
    machine.requestBody.append([1])
    #expect(machine.handle(.bodyGrew) == .settleLater)
    machine.requestBody.append([2])
    #expect(machine.handle(.bodyGrew) == .none)
    #expect(machine.handle(.settle) == .unpause(sendingStaysPaused: false, receivingStaysPaused: false))
    #expect(machine.handle(.bodyWanted) == .sendBody)
  }

  @Test func endOfBodyIsReportedAfterItsLastByte() {
    var machine = performing()
    machine.requestBody.append([1])
    machine.requestBody.finish()
    #expect(machine.handle(.bodyWanted) == .sendBody)
    var byte: UInt8 = 0
    let count = withUnsafeMutableBytes(of: &byte) { machine.requestBody.read(into: $0) }
    #expect(count == 1)
    #expect(machine.handle(.bodyWanted) == .endBody)
  }

  @Test func resumingTheUploadLeavesThePausedDownloadPaused() {
    var machine = performing()
    _ = machine.handle(.bodyWanted)
    _ = machine.handle(.pause)
    #expect(machine.handle(.body(isLate: false)) == .pauseBody)
    _ = machine.handle(.bodyGrew)
    #expect(machine.handle(.settle) == .unpause(sendingStaysPaused: false, receivingStaysPaused: true))
    #expect(machine.handle(.resume) == .settleLater)
    #expect(machine.handle(.settle) == .unpause(sendingStaysPaused: false, receivingStaysPaused: false))
    #expect(machine.handle(.body(isLate: false)) == .receiveBody)
  }

  @Test func pauseAndResumeWithoutBytesHaveNoEffect() {
    var machine = performing()
    #expect(machine.handle(.pause) == .none)
    #expect(machine.handle(.resume) == .none)
    #expect(machine.handle(.body(isLate: false)) == .receiveBody)
  }

  @Test func lateRoundContinuesInTheNextOne() {
    var machine = performing()
    #expect(machine.handle(.body(isLate: true)) == .yieldBody)
    #expect(machine.handle(.settle) == .none)
    #expect(machine.handle(.nextRound) == .unpause(sendingStaysPaused: false, receivingStaysPaused: false))
    #expect(machine.handle(.body(isLate: false)) == .receiveBody)
  }

  @Test func pauseDuringALateRoundHolds() {
    var machine = performing()
    _ = machine.handle(.body(isLate: true))
    _ = machine.handle(.pause)
    #expect(machine.handle(.nextRound) == .none)
    #expect(machine.handle(.resume) == .settleLater)
    #expect(machine.handle(.settle) == .unpause(sendingStaysPaused: false, receivingStaysPaused: false))
  }

  @Test(arguments: ["h2", "h3"]) func sendsRequestOverHTTP2(negotiated: String) {
    var machine = performing(requiresHTTP2: true)
    #expect(machine.handle(.connected(.init(negotiated: negotiated))) == .proceed)
  }

  @Test(arguments: ["http/1.1", ""]) func requestThatRequiresHTTP2IsNotSentOverAnother(negotiated: String) {
    var machine = performing(requiresHTTP2: true)
    let action = machine.handle(.connected(.init(negotiated: negotiated)))
    #expect(action == .end(TransportError(.onlyHTTP1(negotiated: negotiated))))
    #expect(machine.handle(.bodyWanted) == .abort)
  }

  @Test(arguments: [true, false]) func repeatsRequestOverHTTP1UnlessItRequiresHTTP2(requiresHTTP2: Bool) {
    var machine = performing(RequestBody(whole: []), requiresHTTP2: requiresHTTP2)
    #expect(machine.handle(.connected(.init())) == .proceed)
    let action = machine.handle(.connected(.init(reasonToRepeat: .requiredHTTP1)))
    #expect(action == (requiresHTTP2 ? .end(TransportError(.onlyHTTP1(negotiated: nil))) : .proceed))
  }

  @Test func requestForAnyVersionIsSentOverHTTP1() {
    var machine = performing()
    #expect(machine.handle(.connected(.init(negotiated: "http/1.1"))) == .proceed)
  }

  @Test func replacesClosedConnection() {
    var machine = performing()
    #expect(machine.handle(.connected(.init(isUsable: false))) == .abort)
    #expect(machine.handle(.bodyWanted) == .abort)
    #expect(machine.handle(.completed(Self.aborted)) == .takeBack)
    _ = machine.handle(.start(.fresh))
    #expect(machine.handle(.settle) == .add(.fresh))
  }

  @Test(arguments: [true, false]) func resendsUnsentRequestOverFreshConnection(isReused: Bool) {
    var machine = performing(RequestBody(whole: [1]))
    _ = machine.handle(.connected(.init(sharing: isReused ? .earlier : .none)))
    var byte: UInt8 = 0
    let count = withUnsafeMutableBytes(of: &byte) { machine.requestBody.read(into: $0) }
    #expect(count == 1)
    let action = machine.handle(.completed(Self.broken, isUnsent: true))
    #expect(action == (isReused ? .takeBack : .end(Self.broken)))
    #expect(machine.requestBody.waitingBytes == (isReused ? 1 : 0))
  }

  @Test func doesNotResendPartlySentStream() {
    var machine = performing()
    _ = machine.handle(.connected(.init(sharing: .earlier)))
    machine.requestBody.append([1])
    var byte: UInt8 = 0
    let count = withUnsafeMutableBytes(of: &byte) { machine.requestBody.read(into: $0) }
    #expect(count == 1)
    #expect(machine.handle(.completed(Self.broken, isUnsent: true)) == .end(Self.broken))
  }

  /// libcurl asks for the body again before or after it has another connection.
  @Test(arguments: [true, false]) func reportsRefusalOfPartlySentStream(isRewound: Bool) {
    func action(_ reason: ReasonToRepeat?, requiresHTTP2: Bool = true) -> Machine.Action {
      var machine = performing(requiresHTTP2: requiresHTTP2)
      _ = machine.handle(.connected(.init()))
      machine.requestBody.append([1])
      var byte: UInt8 = 0
      _ = withUnsafeMutableBytes(of: &byte) { machine.requestBody.read(into: $0) }
      let event: Machine.Event = isRewound ? .rewind(0, reason) : .connected(.init(reasonToRepeat: reason))
      defer { #expect(machine.isClosed) }
      return machine.handle(event)
    }
    let refused = end(.refusedRequest("a stream that was partly sent cannot be repeated"))
    #expect(action(.refusal) == refused)
    #expect(action(.requiredHTTP1, requiresHTTP2: false) == refused)
    #expect(action(.requiredHTTP1) == .end(TransportError(.onlyHTTP1(negotiated: nil))))
    #expect(action(.loss(detail: "reset")) == end(.closed("reset")))
    #expect(action(nil) == end(.closed("")))
  }

  /// - `isShared`: For each time that the request is sent, whether over a connection that others use too.
  @Test(arguments: [
    ([false, false], "it was sent twice"), ([true, false], "it was sent twice"),
    ([false, true, false], "it was sent 3 times"),
    ([true, true, true, false], "it was sent 4 times"),
  ])
  func repeatsRefusedRequest(_ isShared: [Bool], _ why: String) {
    var machine = performing(RequestBody(whole: [1]))
    for (index, isShared) in isShared.enumerated() {
      #expect(machine.handle(connected(isShared: isShared, isRefused: index > 0)) == .proceed)
    }
    #expect(machine.handle(connected(isShared: true, isRefused: true)) == end(.refusedRequest(why)))
  }

  /// A limit of the streams of a connection that the server has not announced does not concern the first one.
  @Test func requestThatIsRefusedThreeTimesHasAConnectionOfItsOwn() {
    var machine = performing(RequestBody(whole: [1]))
    for index in 0..<3 {
      #expect(machine.handle(connected(isShared: true, isRefused: index > 0)) == .proceed)
    }
    #expect(machine.handle(connected(isShared: true, isRefused: true)) == .abort)
    #expect(machine.handle(.completed(Self.aborted)) == .takeBack)
    #expect(machine.handle(.start(.fresh)) == .settleLater)
    #expect(machine.handle(.settle) == .add(.fresh))
    #expect(machine.handle(connected(isShared: false, isRefused: false)) == .proceed)
    #expect(
      machine.handle(connected(isShared: true, isRefused: true))
        == end(.refusedRequest("it was sent 4 times")))
  }

  private func connected(isShared: Bool, isRefused: Bool) -> Machine.Event {
    .connected(.init(sharing: isShared ? .atOnce : .none, reasonToRepeat: isRefused ? .refusal : nil))
  }

  @Test func rewindsWholeBody() {
    var machine = performing(RequestBody(whole: [1]))
    #expect(machine.handle(.rewind(0, .refusal)) == .proceed)
    #expect(!machine.isClosed)
  }

  @Test func doesNotRepeatRequestAfterStartOfResponse() {
    var machine = performing(RequestBody(whole: []))
    _ = machine.handle(line("HTTP/2 200"))
    let why = "the server asked for the request again after it had begun its response"
    #expect(machine.handle(.connected(.init())) == .end(TransportError(.broken, why)))
  }

  @Test func doesNotRepeatRequestThatServerMayHaveProcessed() {
    var machine = performing(RequestBody(whole: []))
    #expect(machine.handle(.connected(.init(sharing: .earlier))) == .proceed)
    #expect(machine.handle(.connected(.init(reasonToRepeat: .loss(detail: "")))) == end(.closed("")))
    #expect(machine.handle(.bodyWanted) == .abort)
  }

  @Test func repeatsRequestBeforeStartOfResponse() {
    var machine = performing(RequestBody(whole: []))
    #expect(machine.handle(.connected(.init())) == .proceed)
    #expect(machine.handle(.connected(.init())) == .proceed)
  }

  @Test(arguments: ["2", "3"]) func deliversTrailersAtEndOfRound(version: String) {
    var machine = performing(RequestBody(whole: []))
    _ = machine.handle(line("HTTP/\(version) 200"))
    let head = ResponseStart(httpStatus: 200, httpVersion: version, headers: Headers())
    #expect(machine.handle(line("")) == .receive(head))
    #expect(machine.handle(line("grpc-status: 0")) == .awaitRoundEnd)
    #expect(machine.handle(line("grpc-message: x")) == .proceed)
    let trailers = Headers([("grpc-status", "0"), ("grpc-message", "x")])
    #expect(machine.handle(.roundEnded) == .receiveTrailers(trailers, areComplete: version == "2"))
    #expect(machine.handle(.roundEnded) == .none)
  }

  @Test func drainsBodyOfFinishedHTTP1Exchange() {
    var machine = performing(RequestBody(whole: []))
    _ = machine.handle(line("HTTP/1.1 200 OK"))
    _ = machine.handle(line(""))
    #expect(machine.handle(.finish) == .limitDraining)
    #expect(machine.handle(.body(isLate: false)) == .proceed)
    #expect(!machine.isClosed)
    #expect(machine.handle(.completed(nil)) == .settleLater)
    #expect(machine.isClosed)
  }

  @Test func closesFinishedHTTP2Exchange() {
    var machine = performing(RequestBody(whole: []))
    _ = machine.handle(line("HTTP/2 200"))
    _ = machine.handle(line(""))
    #expect(machine.handle(.finish) == .settleLater)
    #expect(machine.isClosed)
  }

  @Test func nothingFollowsTheEnd() {
    var machine = performing()
    #expect(machine.handle(.completed(nil)) == .end(nil))
    for event: Machine.Event in [
      .completed(nil), .close, .finish, .roundEnded, .nextRound, .bodyGrew, .start(.any),
    ] { #expect(machine.handle(event) == .none) }
    #expect(machine.handle(.bodyWanted) == .abort)
    #expect(machine.handle(.body(isLate: false)) == .abort)
    #expect(machine.handle(line("HTTP/2 200")) == .abort)
    #expect(machine.handle(.settle) == .release(isAdded: true))
    #expect(machine.handle(.settle) == .none)
  }

  /// For every order of events: no forbidden action follows, and the exchange ends once.
  @Test func anyOrderOfEventsIsValid() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<4000 {
      var trace: [String] = []
      var machine = Machine(
        Bool.random(using: &random) ? RequestBody() : RequestBody(whole: [1, 2]),
        requiresHTTP2: Bool.random(using: &random))
      var (isAdded, ends, releases, isClosed) = (false, 0, 0, false)
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        let event = Self.events.randomElement(using: &random) ?? .settle
        if case .completed = event, !isAdded { continue }
        let action = machine.handle(event)
        trace.append("\(event) -> \(action)")
        switch action {
        case .add:
          #expect(!isAdded && !isClosed, "\(trace)")
          isAdded = true
        case .takeBack:
          #expect(isAdded, "\(trace)")
          isAdded = false
        case .release(let wasAdded):
          #expect(wasAdded == isAdded, "\(trace)")
          releases += 1
          isAdded = false
        case .unpause: #expect(isAdded && !isClosed, "\(trace)")
        case .receive, .receiveBody, .receiveTrailers, .sendBody: #expect(isAdded && !isClosed, "\(trace)")
        case .end:
          #expect(!isClosed, "\(trace)")
          ends += 1
          isClosed = true
        default: break
        }
        if case .close = event { isClosed = true }
        // Only `settle` and `nextRound` reach libcurl's forbidden functions.
        switch (event, action) {
        case (.settle, _), (.nextRound, _), (.completed, .takeBack): break
        case (_, .add), (_, .takeBack), (_, .release), (_, .unpause):
          Issue.record("within callbacks: \(trace)")
        default: break
        }
      }
      _ = machine.handle(.close)
      _ = machine.handle(.settle)
      #expect(ends <= 1 && releases <= 1, "\(trace)")
    }
  }

  private static let events: [Machine.Event] = [
    .start(.any), .start(.fresh), .bodyGrew, .pause, .resume, .finish, .close, .connected(.init()),
    .connected(.init(isUsable: false)), .connected(.init(negotiated: "http/1.1")), .bodyWanted,
    .line(.status(version: "2", code: 200), size: 1), .line(.status(version: "1.1", code: 200), size: 1),
    .line(.field(name: "a", value: "b"), size: 1), .line(.end, size: 1), .body(isLate: false),
    .body(isLate: true),
    .completed(nil), .completed(TransportError(.broken, "broken")), .settle, .settle, .settle, .roundEnded,
    .nextRound,
  ]

  @Test func requestWithoutSideEffectsIsRepeatedAfterALossOnly() {
    func reason(isSafe: Bool, _ restOfError: String) -> ReasonToRepeat {
      ReasonToRepeat(isSafe: isSafe, overHTTP2: true, restOfError: restOfError, byOldLibcurl: false)
    }
    let lost = "ecv failure: Connection reset by peer"
    #expect(reason(isSafe: true, lost) == .isSafe)
    #expect(reason(isSafe: false, lost) == .loss(detail: "Connection reset by peer"))
    for isSafe in [true, false] { #expect(reason(isSafe: isSafe, "") == .refusal) }
  }
}
