import RPCProtocols
import Testing

@testable import Transport

struct TransferStateMachineTests {
  private typealias Machine = TransferStateMachine

  private func performing(_ body: RequestBody = RequestBody(), requiresHTTP2: Bool = false) -> Machine {
    var machine = Machine(body, requiresHTTP2: requiresHTTP2)
    _ = machine.handle(.start(.any))
    _ = machine.handle(.settle)
    return machine
  }

  /// The name of an action, without its associated values.
  private func name(_ action: Machine.Action) -> String {
    String("\(action)".prefix { $0 != "(" })
  }

  private func line(_ text: String) -> Machine.Event {
    let bytes = Array("\(text)\r\n".utf8)
    return bytes.withUnsafeBytes { .line(HeaderLine($0), size: $0.count) }
  }

  @Test func startsWhenCallbacksHaveReturned() {
    var machine = Machine(RequestBody(whole: [1]), requiresHTTP2: false)
    #expect(name(machine.handle(.start(.any))) == "settleLater")
    #expect(name(machine.handle(.start(.any))) == "none")
    #expect(!machine.isAdded)
    #expect(name(machine.handle(.settle)) == "add")
    #expect(machine.isAdded)
    #expect(name(machine.handle(.settle)) == "none")
  }

  @Test(arguments: [(true, "end"), (false, "receive")])
  func onlyAForwardingProxyRequiresCredentials(isForwarded: Bool, action: String) {
    var machine = performing()
    var connection = Machine.Connection()
    connection.isForwarded = isForwarded
    _ = machine.handle(.connected(connection))
    _ = machine.handle(line("HTTP/1.1 407 X"))
    #expect(name(machine.handle(line(""))) == action)
  }

  @Test func doesNotAddClosedExchange() {
    var machine = Machine(RequestBody(), requiresHTTP2: false)
    _ = machine.handle(.start(.any))
    #expect(name(machine.handle(.close)) == "settleLater")
    guard case .release(isAdded: false) = machine.handle(.settle) else {
      Issue.record("a handle that libcurl does not have is not taken back")
      return
    }
  }

  @Test func bodyPausesUntilItGrows() {
    var machine = performing()
    #expect(name(machine.handle(.bodyWanted)) == "pauseBody")
    machine.requestBody.append([1])
    #expect(name(machine.handle(.bodyGrew)) == "settleLater")
    machine.requestBody.append([2])
    #expect(name(machine.handle(.bodyGrew)) == "none")
    guard case .unpause(sendingStaysPaused: false, receivingStaysPaused: false) = machine.handle(.settle)
    else {
      Issue.record("the upload continues")
      return
    }
    #expect(name(machine.handle(.bodyWanted)) == "sendBody")
  }

  @Test func endOfBodyIsReportedAfterItsLastByte() {
    var machine = performing()
    machine.requestBody.append([1])
    machine.requestBody.finish()
    #expect(name(machine.handle(.bodyWanted)) == "sendBody")
    var byte: UInt8 = 0
    let count = withUnsafeMutableBytes(of: &byte) { machine.requestBody.read(into: $0) }
    #expect(count == 1)
    #expect(name(machine.handle(.bodyWanted)) == "endBody")
  }

  @Test func resumingTheUploadLeavesThePausedDownloadPaused() {
    var machine = performing()
    _ = machine.handle(.bodyWanted)
    _ = machine.handle(.pause)
    #expect(name(machine.handle(.body(isLate: false))) == "pauseBody")
    _ = machine.handle(.bodyGrew)
    guard case .unpause(sendingStaysPaused: false, receivingStaysPaused: true) = machine.handle(.settle)
    else {
      Issue.record("the response stays paused")
      return
    }
    #expect(name(machine.handle(.resume)) == "settleLater")
    guard case .unpause(sendingStaysPaused: false, receivingStaysPaused: false) = machine.handle(.settle)
    else {
      Issue.record("the response continues")
      return
    }
    #expect(name(machine.handle(.body(isLate: false))) == "receiveBody")
  }

  @Test func pauseAndResumeWithoutBytesHaveNoEffect() {
    var machine = performing()
    #expect(name(machine.handle(.pause)) == "none")
    #expect(name(machine.handle(.resume)) == "none")
    #expect(name(machine.handle(.body(isLate: false))) == "receiveBody")
  }

  @Test func lateRoundContinuesInTheNextOne() {
    var machine = performing()
    #expect(name(machine.handle(.body(isLate: true))) == "yieldBody")
    #expect(name(machine.handle(.settle)) == "none")
    #expect(name(machine.handle(.nextRound)) == "unpause")
    #expect(name(machine.handle(.body(isLate: false))) == "receiveBody")
  }

  @Test func pauseDuringALateRoundHolds() {
    var machine = performing()
    _ = machine.handle(.body(isLate: true))
    _ = machine.handle(.pause)
    #expect(name(machine.handle(.nextRound)) == "none")
    #expect(name(machine.handle(.resume)) == "settleLater")
    #expect(name(machine.handle(.settle)) == "unpause")
  }

  @Test(arguments: ["h2", "h3"]) func sendsRequestOverHTTP2(negotiated: String) {
    var machine = performing(requiresHTTP2: true)
    #expect(name(machine.handle(.connected(.init(negotiated: negotiated)))) == "proceed")
  }

  @Test(arguments: ["http/1.1", ""]) func requestThatRequiresHTTP2IsNotSentOverAnother(negotiated: String) {
    var machine = performing(requiresHTTP2: true)
    guard case .end(let error?) = machine.handle(.connected(.init(negotiated: negotiated))) else {
      Issue.record("the exchange ends")
      return
    }
    #expect(error.kind == .httpVersion)
    #expect(name(machine.handle(.bodyWanted)) == "abort")
  }

  @Test(arguments: [true, false]) func repeatsRequestOverHTTP1UnlessItRequiresHTTP2(requiresHTTP2: Bool) {
    var machine = performing(RequestBody(whole: []), requiresHTTP2: requiresHTTP2)
    #expect(name(machine.handle(.connected(.init()))) == "proceed")
    let action = machine.handle(.connected(.init(reasonToRepeat: .requiredHTTP1)))
    #expect(name(action) == (requiresHTTP2 ? "end" : "proceed"))
  }

  @Test func requestForAnyVersionIsSentOverHTTP1() {
    var machine = performing()
    #expect(name(machine.handle(.connected(.init(negotiated: "http/1.1")))) == "proceed")
  }

  @Test func replacesClosedConnection() {
    var machine = performing()
    #expect(name(machine.handle(.connected(.init(isUsable: false)))) == "abort")
    #expect(name(machine.handle(.bodyWanted)) == "abort")
    #expect(name(machine.handle(.completed(TransportError(.broken, "aborted")))) == "takeBack")
    _ = machine.handle(.start(.fresh))
    guard case .add(.fresh) = machine.handle(.settle) else {
      Issue.record("it asks for a connection of its own")
      return
    }
  }

  @Test(arguments: [true, false]) func resendsUnsentRequestOverFreshConnection(isReused: Bool) {
    var machine = performing(RequestBody(whole: [1]))
    _ = machine.handle(.connected(.init(sharing: isReused ? .earlier : .none)))
    var byte: UInt8 = 0
    let count = withUnsafeMutableBytes(of: &byte) { machine.requestBody.read(into: $0) }
    #expect(count == 1)
    let action = machine.handle(.completed(TransportError(.broken, "Send failure"), isUnsent: true))
    #expect(name(action) == (isReused ? "takeBack" : "end"))
    #expect(machine.requestBody.waitingBytes == (isReused ? 1 : 0))
  }

  @Test func doesNotResendPartlySentStream() {
    var machine = performing()
    _ = machine.handle(.connected(.init(sharing: .earlier)))
    machine.requestBody.append([1])
    var byte: UInt8 = 0
    let count = withUnsafeMutableBytes(of: &byte) { machine.requestBody.read(into: $0) }
    #expect(count == 1)
    #expect(
      name(machine.handle(.completed(TransportError(.broken, "Send failure"), isUnsent: true))) == "end")
  }

  /// libcurl asks for the body again before or after it has another connection.
  @Test(arguments: [true, false]) func reportsRefusalOfPartlySentStream(isRewound: Bool) {
    func cause(_ reason: ReasonToRepeat?, requiresHTTP2: Bool = true) -> ConnectionCause? {
      var machine = performing(requiresHTTP2: requiresHTTP2)
      _ = machine.handle(.connected(.init()))
      machine.requestBody.append([1])
      var byte: UInt8 = 0
      _ = withUnsafeMutableBytes(of: &byte) { machine.requestBody.read(into: $0) }
      let event: Machine.Event = isRewound ? .rewind(0, reason) : .connected(.init(reasonToRepeat: reason))
      guard case .end(let error?) = machine.handle(event) else { return nil }
      #expect(machine.isClosed)
      return error.cause
    }
    let refused = ConnectionCause.refusedRequest("a stream that was partly sent cannot be repeated")
    #expect(cause(.refusal) == refused)
    #expect(cause(.requiredHTTP1, requiresHTTP2: false) == refused)
    #expect(cause(.requiredHTTP1) == .onlyHTTP1(negotiated: nil))
    #expect(cause(.loss(detail: "reset")) == .closed("reset"))
    #expect(cause(nil) == .closed(""))
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
      #expect(name(machine.handle(connected(isShared: isShared, isRefused: index > 0))) == "proceed")
    }
    guard case .end(let error?) = machine.handle(connected(isShared: true, isRefused: true)) else {
      Issue.record("the request is sent again")
      return
    }
    #expect(error.cause == .refusedRequest(why))
    #expect(error.kind == .broken)
  }

  /// A limit of the streams of a connection that the server has not announced does not concern the first one.
  @Test func requestThatIsRefusedThreeTimesHasAConnectionOfItsOwn() {
    var machine = performing(RequestBody(whole: [1]))
    for index in 0..<3 {
      #expect(name(machine.handle(connected(isShared: true, isRefused: index > 0))) == "proceed")
    }
    #expect(name(machine.handle(connected(isShared: true, isRefused: true))) == "abort")
    #expect(name(machine.handle(.completed(TransportError(.broken, "aborted")))) == "takeBack")
    #expect(name(machine.handle(.start(.fresh))) == "settleLater")
    guard case .add(.fresh) = machine.handle(.settle) else {
      Issue.record("the request may share a connection")
      return
    }
    #expect(name(machine.handle(connected(isShared: false, isRefused: false))) == "proceed")
    #expect(name(machine.handle(connected(isShared: true, isRefused: true))) == "end")
  }

  private func connected(isShared: Bool, isRefused: Bool) -> Machine.Event {
    .connected(.init(sharing: isShared ? .atOnce : .none, reasonToRepeat: isRefused ? .refusal : nil))
  }

  @Test func rewindsWholeBody() {
    var machine = performing(RequestBody(whole: [1]))
    #expect(name(machine.handle(.rewind(0, .refusal))) == "proceed")
    #expect(!machine.isClosed)
  }

  @Test func doesNotRepeatRequestAfterStartOfResponse() {
    var machine = performing(RequestBody(whole: []))
    _ = machine.handle(line("HTTP/2 200"))
    #expect(name(machine.handle(.connected(.init()))) == "end")
  }

  @Test func doesNotRepeatRequestThatServerMayHaveProcessed() {
    var machine = performing(RequestBody(whole: []))
    #expect(name(machine.handle(.connected(.init(sharing: .earlier)))) == "proceed")
    #expect(name(machine.handle(.connected(.init(reasonToRepeat: .loss(detail: ""))))) == "end")
    #expect(name(machine.handle(.bodyWanted)) == "abort")
  }

  @Test func repeatsRequestBeforeStartOfResponse() {
    var machine = performing(RequestBody(whole: []))
    #expect(name(machine.handle(.connected(.init()))) == "proceed")
    #expect(name(machine.handle(.connected(.init()))) == "proceed")
  }

  @Test(arguments: ["2", "3"]) func deliversTrailersAtEndOfRound(version: String) {
    var machine = performing(RequestBody(whole: []))
    _ = machine.handle(line("HTTP/\(version) 200"))
    #expect(name(machine.handle(line(""))) == "receive")
    #expect(name(machine.handle(line("grpc-status: 0"))) == "awaitRoundEnd")
    #expect(name(machine.handle(line("grpc-message: x"))) == "proceed")
    guard case .receiveTrailers(let trailers, let areComplete) = machine.handle(.roundEnded) else {
      Issue.record("trailers have arrived")
      return
    }
    #expect(trailers.count == 2)
    #expect(areComplete == (version == "2"))
    #expect(name(machine.handle(.roundEnded)) == "none")
  }

  @Test func drainsBodyOfFinishedHTTP1Exchange() {
    var machine = performing(RequestBody(whole: []))
    _ = machine.handle(line("HTTP/1.1 200 OK"))
    _ = machine.handle(line(""))
    #expect(name(machine.handle(.finish)) == "limitDraining")
    #expect(name(machine.handle(.body(isLate: false))) == "proceed")
    #expect(!machine.isClosed)
    #expect(name(machine.handle(.completed(nil))) == "settleLater")
    #expect(machine.isClosed)
  }

  @Test func closesFinishedHTTP2Exchange() {
    var machine = performing(RequestBody(whole: []))
    _ = machine.handle(line("HTTP/2 200"))
    _ = machine.handle(line(""))
    #expect(name(machine.handle(.finish)) == "settleLater")
    #expect(machine.isClosed)
  }

  @Test func nothingFollowsTheEnd() {
    var machine = performing()
    #expect(name(machine.handle(.completed(nil))) == "end")
    for event: Machine.Event in [
      .completed(nil), .close, .finish, .roundEnded, .nextRound, .bodyGrew, .start(.any),
    ] { #expect(name(machine.handle(event)) == "none") }
    #expect(name(machine.handle(.bodyWanted)) == "abort")
    #expect(name(machine.handle(.body(isLate: false))) == "abort")
    #expect(name(machine.handle(line("HTTP/2 200"))) == "abort")
    #expect(name(machine.handle(.settle)) == "release")
    #expect(name(machine.handle(.settle)) == "none")
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
