import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Synchronization
import Testing

@testable import RPCurlChain

@Suite struct HoldingTests {
  @Test func messagesReachTheHolderOfTheHeadersAndLeaveAfterThem() {
    let journal = Journal()
    let probe = Probe("A", [.requestStart, .requestMessage, .requestEnd], journal)
    let held = Holder<RequestStart, Outbound>()
    probe.onRequestStart = { _, token in held.keep(token) }
    let call = TestCall(.bidiStreaming, journal, [probe])
    call.start()
    call.send("1")
    call.send("2")
    call.close()
    #expect(journal.lines == ["A start", "A message 1", "A message 2", "A half-close"])
    #expect(call.chain.holder?.name == "A")
    #expect(call.chain.holder?.stage == .requestStart)
    held.take().use { $0.proceed(call.request) }
    call.chain.processCommands()
    #expect(call.wireLines == ["start", "1", "2", "half-close"])
    #expect(call.chain.holder == nil)
  }

  @Test func valuesLeaveInOrderOfArrivalForAnyOrderOfVerdicts() {
    let journal = Journal()
    let probe = Probe("A", .responseMessage, journal)
    let held = Holder<MessageValue, Inbound>()
    probe.onResponseMessage = { _, token in held.keep(token) }
    let call = TestCall(.serverStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    for text in ["1", "2", "3"] { call.receive(text) }
    call.receiveEnd()
    held.take(2).use { $0.proceed(.typed("3x")) }
    held.take(1).use { $0.drop() }
    call.chain.processCommands()
    #expect(call.callerLines == ["headers"])
    held.take().use { $0.proceed(.typed("1x")) }
    call.chain.processCommands()
    #expect(call.callerLines.prefix(4) == ["headers", "typed 1x", "typed 3x", "end ok"])
  }

  @Test func holdOfAnInnerInterceptorDelaysOnlyLaterValues() {
    let journal = Journal()
    let held = Holder<ResponseStart, Inbound>()
    let outer = Probe("A", .all, journal)
    outer.onResponseStart = { _, token in held.keep(token) }
    let call = TestCall(.unary, journal, [outer, Probe("B", .all, journal)])
    call.run()
    #expect(call.callerLines.isEmpty)
    #expect(journal.lines(of: "B").contains("end ok"))
    #expect(journal.lines(of: "A").contains("end ok"))
    held.take().use { $0.proceed(ResponseStart()) }
    call.chain.processCommands()
    #expect(call.callerLines == ["headers", "pong", "end ok", "metrics 7", "finished"])
  }

  @Test func bodyCanBeSignedInAHeader() {
    let journal = Journal()
    let signer = Probe("B", [.requestStart, .requestMessage], journal, messages: .bytes)
    let held = Holder<RequestStart, Outbound>()
    let method = RequestStart(
      method: MethodName(service: "test.Echo", method: "Say"), target: "http://server")
    signer.onRequestStart = { _, token in held.keep(token) }
    signer.onRequestMessage = { bytes, token in
      var start = method
      start.headers.set("signature", "of \(bytes.text)")
      held.take().use { $0.proceed(start) }
      token.proceed(bytes)
    }
    let typed = Probe("A", [.requestMessage], journal)
    typed.onRequestMessage = { message, token in token.proceed(message.changed(to: "changed")) }
    let call = TestCall(.unary, journal, [typed, signer])
    call.run()
    #expect(call.sentStart?.headers.first("signature") == "of changed")
    #expect(call.wireLines == ["start", "changed", "half-close"])
    #expect(call.callerLines.contains("end ok"))
  }

  @Test func verdictsOnOtherThreadsWakeTheOwner() async {
    let journal = Journal()
    let probe = Probe("A", .requestMessage, journal)
    let held = Holder<MessageValue, Outbound>()
    probe.onRequestMessage = { _, token in held.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    for number in 0..<100 { call.send("\(number)") }
    nonisolated(unsafe) let tokens = (0..<100).map { _ in held.take() }
    await withTaskGroup { group in
      for (number, token) in tokens.enumerated() {
        nonisolated(unsafe) let token = token
        group.addTask { token.use { $0.proceed(.typed("\(number)")) } }
      }
    }
    #expect(call.wakes.count.load(ordering: .relaxed) >= 1)
    #expect(call.wireLines == ["start"])
    call.chain.processCommands()
    #expect(call.wireLines == ["start"] + (0..<100).map { "\($0)" })
  }

  @Test func verdictsInsideACallbackNeedNoWakeUp() {
    let journal = Journal()
    let probe = Probe("A", .requestMessage, journal)
    let held = Holder<MessageValue, Outbound>()
    probe.onRequestMessage = { message, token in
      held.keep(token)
      if held.count == 2 {
        held.take(1).use { $0.proceed(.typed("second")) }
        held.take().use { $0.proceed(.typed("first")) }
      }
    }
    let call = TestCall(.clientStreaming, journal, [probe])
    call.start()
    call.send("1")
    call.send("2")
    #expect(call.wireLines == ["start", "first", "second"])
    #expect(call.wakes.count.load(ordering: .relaxed) == 0)
  }

  @Test func longStreamDoesNotRecurse() {
    let journal = Journal()
    let call = TestCall(.clientStreaming, journal, [Probe("A", .requestMessage, journal, messages: .bytes)])
    final class Feeder: ChainCaller {
      var chain: Chain?
      var left = 20_000
      func receive(_ event: CallEvent<Payload>) {
        guard case .responseMessage = event else { return }
        // Each message received sends another, from inside the callback.
        left -= 1
        if left > 0 { chain?.receive(.responseMessage(.bytes(TestMessages.bytes("x")))) }
      }
      func receive(message: RawSpan) { receive(.responseMessage(.bytes(message.copyBytes()))) }
      func finished(_ outcome: Outcome) {}
      func inputWanted(_ isWanted: Bool) {}
    }
    let feeder = Feeder()
    feeder.chain = call.chain
    call.start(caller: feeder)
    call.receive("x")
    #expect(feeder.left == 0)
    feeder.chain = nil
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func fullBuffersPauseTheCallerAndTheTransport() {
    let journal = Journal()
    let probe = Probe("A", [.requestMessage, .responseMessage], journal, messages: .bytes)
    let out = Holder<MessageValue, Outbound>()
    let back = Holder<MessageValue, Inbound>()
    probe.onRequestMessage = { _, token in out.keep(token) }
    probe.onResponseMessage = { _, token in back.keep(token) }
    let call = TestCall(.bidiStreaming, journal, [probe], windowBytes: 1000)
    call.start()
    let large = TestMessages.bytes(String(repeating: "x", count: 400))
    for _ in 0..<2 { call.chain.send(.bytes(large)) }
    #expect(call.chain.wantsMoreInput)
    call.chain.send(.bytes(large))
    #expect(!call.chain.wantsMoreInput)
    #expect(call.callerLines == ["pause"])
    for _ in 0..<3 { call.chain.receive(.responseMessage(.bytes(large))) }
    #expect(!call.chain.wantsMoreResponse)
    #expect(call.wireLines.last == "pause")
    for _ in 0..<3 {
      out.take().use { $0.proceed(.bytes("")) }
      back.take().use { $0.drop() }
    }
    call.chain.processCommands()
    #expect(call.chain.wantsMoreInput && call.chain.wantsMoreResponse)
    #expect(call.callerLines.last == "go on")
    #expect(call.wireLines.last == "go on")
  }

  @Test func droppedMessagesLeaveTheStream() {
    let journal = Journal()
    let probe = Probe("A", [.requestMessage, .responseMessage], journal, messages: .bytes)
    probe.onRequestMessage = { message, token in
      if message.text == "2" { token.drop() } else { token.proceed(message) }
    }
    probe.onResponseMessage = { bytes, token in
      if bytes.text == "2" { token.drop() } else { token.proceed(bytes) }
    }
    let call = TestCall(.bidiStreaming, journal, [probe])
    call.start()
    call.receiveHeaders()
    for text in ["1", "2", "3"] {
      call.send(text)
      call.receive(text)
    }
    call.receiveEnd()
    #expect(call.wireLines == ["start", "1", "3"])
    #expect(call.callerLines.prefix(4) == ["headers", "1", "3", "end ok"])
  }

  @Test func droppedMessagesTakeNoRoomWhileTheStartIsHeld() {
    let journal = Journal()
    let starts = Holder<RequestStart, Outbound>()
    let messages = Holder<MessageValue, Outbound>()
    let probe = Probe("A", [.requestStart, .requestMessage], journal)
    probe.onRequestStart = { _, token in starts.keep(token) }
    probe.onRequestMessage = { _, token in messages.keep(token) }
    let call = TestCall(.clientStreaming, journal, [probe], windowBytes: 2000)
    call.start()
    let text = String(repeating: "x", count: 100)
    for _ in 0..<100 {
      var sent = 0
      while journal.lines.last != "caller pause", sent < 100 {
        call.send(text)
        sent += 1
      }
      while messages.count > 0 { messages.take().use { $0.drop() } }
      call.work()
      #expect(journal.lines.last == "caller go on")
      #expect(call.chain.outbound.waitingBytes < 100)
      #expect(call.chain.outbound.waitingCount < 100)
    }
    call.send("last")
    messages.take().use { $0.proceed(.typed("kept")) }
    call.close()
    starts.take().use { $0.proceed(call.request) }
    call.work()
    #expect(call.wireLines == ["start", "kept", "half-close"])
    #expect(call.chain.outbound.waitingCount == 0)
    #expect(call.chain.outbound.waitingBytes == 0)
  }
}
