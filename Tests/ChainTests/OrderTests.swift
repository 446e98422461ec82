import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlChain

@Suite struct OrderTests {
  @Test func requestGoesFirstToLastAndResponseLastToFirst() {
    let journal = Journal()
    let call = TestCall(.unary, journal, [Probe("A", .all, journal), Probe("B", .all, journal)])
    call.run()
    #expect(
      journal.lines == [
        "A start", "B start", "wire start",
        "A message ping", "B message ping", "wire ping",
        "A half-close", "B half-close", "wire half-close",
        "B headers", "A headers", "caller headers",
        "B got-message pong", "A got-message pong", "caller pong",
        "B end ok", "A end ok", "caller end ok",
        "B metrics 7", "A metrics 7", "caller metrics 7",
        "B finish ok", "A finish ok", "caller finished",
      ])
  }

  @Test func startsAndEndsKeepTheChainsOrderForSplitInterceptors() {
    let journal = Journal()
    let stages: [(String, Stages)] = [
      ("A", [.requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage, .responseEnd]),
      ("B", [.requestStart, .requestMessage, .requestEnd, .responseStart, .responseEnd]),
      ("C", [.requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage, .responseEnd]),
    ]
    let call = TestCall(.unary, journal, stages.map { Probe($0.0, $0.1, journal) })
    call.run()
    func order(_ what: String) -> String {
      journal.lines.filter { $0.hasSuffix(what) && $0.first?.isUppercase == true }.map {
        String($0.prefix(1))
      }
      .joined()
    }
    #expect(order(" start") == "ABC")
    #expect(order(" half-close") == "ABC")
    #expect(order(" headers") == "CBA")
    #expect(order(" end ok") == "CBA")
  }

  @Test func onlyDeclaredStagesAreCalled() {
    let journal = Journal()
    let call = TestCall(.unary, journal, [Probe("A", [.requestStart, .responseEnd], journal)])
    call.run()
    #expect(journal.lines(of: "A") == ["start", "end ok", "finish ok"])
  }

  @Test func emptyChainPassesEverything() {
    let call = TestCall(.unary, Journal(), [])
    call.run()
    #expect(
      call.journal.lines == [
        "wire start", "wire ping", "wire half-close", "caller headers", "caller pong", "caller end ok",
        "caller metrics 7", "caller finished",
      ])
    #expect(!call.chain.wantsRequestMessages)
  }

  @Test(arguments: [MessageAccesses.typed, .bytes])
  func valuesMayBeChangedAtEveryStage(_ messages: MessageAccesses) {
    let journal = Journal()
    let probe = Probe("A", .all, journal, messages: messages)
    probe.onRequestStart = { start, token in
      var start = start
      start.headers.add("x", "1")
      token.proceed(start)
    }
    probe.onRequestMessage = { message, token in token.proceed(message.changed(to: message.text + "-out")) }
    probe.onResponseStart = { start, token in
      var start = start
      start.headers.remove("from")
      token.proceed(start)
    }
    probe.onResponseMessage = { message, token in token.proceed(message.changed(to: message.text + "-in")) }
    probe.onResponseEnd = { end, token in
      var end = end
      end.trailers.add("y", "2")
      token.proceed(end)
    }
    probe.onMetrics = { metrics, token in
      var metrics = metrics
      metrics.sentBytes = 8
      token.proceed(metrics)
    }
    let call = TestCall(.unary, journal, [probe])
    call.run()
    #expect(call.sentStart?.headers.first("x") == "1")
    #expect(call.wireLines.contains("ping-out"))
    #expect(call.receivedStart?.headers.isEmpty == true)
    #expect(call.callerLines.contains(messages == .typed ? "typed pong-in" : "pong-in"))
    #expect(call.end?.trailers.first("y") == "2")
    #expect(call.outcome?.metrics.sentBytes == 8)
  }

  @Test func errorMayBecomeASuccessAndTheReverse() {
    let journal = Journal()
    let inner = Probe("B", .responseEnd, journal)
    inner.onResponseEnd = { _, token in token.proceed(ResponseEnd()) }
    let outer = Probe("A", .responseEnd, journal)
    outer.onResponseEnd = { _, token in token.proceed(ResponseEnd(error: refused)) }
    let call = TestCall(.unary, journal, [outer, inner])
    call.start()
    call.receiveEnd(RPCError(.notFound, "gone", origin: .server))
    #expect(journal.lines(of: "A") == ["end ok", "finish permission_denied"])
    #expect(call.end?.error == refused)
  }

  // MARK: Forms of messages

  @Test func unchangedMessagesKeepTheirBytes() throws {
    let journal = Journal()
    let call = TestCall(.unary, journal, [Probe("A", .all, journal), Probe("B", .all, journal)])
    call.start()
    // An unknown field before the known one: serialized again, it would follow it.
    let unusual = [0xf8, 0x06, 0x01] + TestMessages.bytes("ping")
    call.chain.send(.bytes(unusual))
    call.close()
    #expect(call.sent == [unusual])
    #expect(try Message(TestMessages.type, serialized: unusual).serialized() != unusual)
    call.receiveHeaders()
    call.chain.receive(.responseMessage(.bytes(unusual)))
    guard case .bytes(let bytes)? = call.received.first else {
      Issue.record("the caller should get bytes")
      return
    }
    #expect(bytes == unusual)
  }

  @Test func eachFormIsMadeForTheInterceptorThatDeclaresIt() {
    let journal = Journal()
    let changer = Probe("B", .requestMessage, journal)
    changer.onRequestMessage = { message, token in token.proceed(message.changed(to: "new")) }
    let probes = [
      Probe("A", .requestMessage, journal, messages: MessageAccesses(.readBytes)), changer,
      Probe("C", .requestMessage, journal, messages: MessageAccesses(.none)),
      Probe("D", .requestMessage, journal, messages: MessageAccesses(.readBytes)),
    ]
    let call = TestCall(.unary, journal, probes)
    #expect(call.chain.wantsRequestMessages)
    call.start()
    call.chain.send(.typed(TestMessages.make("old")))
    #expect(
      journal.lines == ["wire start", "A bytes old", "B message old", "C message", "D bytes new", "wire new"])
  }

  @Test func unparsableResponseFailsTheCall() {
    let journal = Journal()
    let probes = [
      Probe("A", [.responseMessage, .responseEnd], journal),
      Probe("B", [.responseMessage, .responseEnd], journal, messages: .bytes),
    ]
    let call = TestCall(.serverStreaming, journal, probes)
    call.start()
    call.receiveHeaders()
    call.receive("1")
    call.chain.receive(.responseMessage(.bytes(Array("garbage".utf8))))
    #expect(call.end?.error?.code == .internal)
    #expect(call.end?.error?.origin == .violation)
    #expect(journal.lines(of: "B").suffix(2) == ["end canceled", "finish internal"])
    #expect(journal.lines(of: "A") == ["got-message 1", "end internal", "finish internal"])
    #expect(call.wireLines.last == "cancel")
  }

  @Test func unparsableResponseThatWaitsForASerialInterceptorFailsTheCall() {
    let journal = Journal()
    let probe = Probe("A", [.responseMessage, .responseEnd], journal)
    let held = Holder<MessageValue, Inbound>()
    probe.requirements = InterceptorRequirements(isSerial: true)
    probe.onResponseMessage = { _, token in held.keep(token) }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    call.receive("1")
    call.chain.receive(.responseMessage(.bytes(Array("garbage".utf8))))
    call.receiveEnd()
    held.take().use { $0.proceed(.typed("1")) }
    call.work()
    #expect(journal.lines(of: "A") == ["got-message 1", "end internal", "finish internal"])
    #expect(call.callerLines.prefix(3) == ["headers", "typed 1", "end internal"])
  }

  @Test func unserializableRequestFailsTheCall() {
    let journal = Journal()
    let call = TestCall(.unary, journal, [Probe("A", [.requestMessage, .responseEnd], journal)])
    call.start()
    call.chain.send(.typed(TestMessages.make("unserializable")))
    #expect(call.end?.error?.origin == .client)
    #expect(journal.lines(of: "A").suffix(2) == ["end internal", "finish internal"])
  }

  @Test(arguments: [CallKind.unary, .clientStreaming, .serverStreaming, .bidiStreaming])
  func callsOfEveryKindPassTheSameStages(_ kind: CallKind) {
    let journal = Journal()
    let call = TestCall(kind, journal, [Probe("A", .all, journal)])
    let (requests, responses) = (kind.clientStreams ? 3 : 1, kind.serverStreams ? 3 : 1)
    call.start()
    for number in 0..<requests { call.send("\(number)") }
    call.close()
    call.receiveHeaders()
    for number in 0..<responses { call.receive("\(number)") }
    call.receiveEnd()
    var lines = ["start"]
    for number in 0..<requests { lines += ["message \(number)"] }
    lines += ["half-close", "headers"]
    for number in 0..<responses { lines += ["got-message \(number)"] }
    lines += ["end ok", "metrics 7", "finish ok"]
    #expect(journal.lines(of: "A") == lines)
  }
}
