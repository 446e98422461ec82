import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

/// Retries, injected messages, timers, threads, and calls made by plugins.
///
/// Serialized, because the plugin stores the host of its last load.
@Suite(.oneAtATime) struct FlowTests {
  private let log = LogCollector()

  private func call(
    _ method: String, _ kind: CallKind = .bidiStreaming, isStrict: Bool = false,
    network: (any SubrequestTransport)? = nil
  ) throws -> PluginCallTest {
    var spec = InterceptorSpec(name: try Fixtures.path("flow"))
    spec.common.isStrict = isStrict
    return try PluginCallTest([log.loader().load(spec)], kind, method: method, network: network)
  }

  @Test func retriesWithChangedHeaders() throws {
    let call = try call("Retry")
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    call.wireChain.receive(.responseEnd(ResponseEnd(error: RPCError(.unavailable, "busy", origin: .server))))
    #expect(call.end == nil && call.sent.count == 1)
    call.clock.advance(by: .seconds(1))
    #expect(call.sent.count == 1)
    call.clock.advance(by: .seconds(1))
    call.work()
    #expect(call.sent == [PluginCallTest.bytes("Ada"), PluginCallTest.bytes("Ada")])
    #expect(call.sentStart?.headers.first("x-attempt") == "again")
    call.wireChain.receive(.responseStart(ResponseStart()))
    call.wireChain.receive(.responseEnd(ResponseEnd()))
    #expect(call.end?.error == nil)
    #expect(
      log.lines.dropFirst() == [
        "negative retry: -1", "retry with te: -1", "retry: 0",
        "plugin misbehaving: retry with a token that was already used",
        "retry again: -2", "close; post: -4", "inject: -4",
      ])
  }

  @Test func cancelDuringRetryEndsTheCall() throws {
    let call = try call("Retry")
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    call.wireChain.receive(.responseEnd(ResponseEnd(error: RPCError(.unavailable, "busy", origin: .server))))
    call.clock.advance(by: .seconds(2))
    call.work()
    #expect(call.sent.count == 2)
    call.chain.cancel(RPCError(.canceled, "no more", origin: .client))
    #expect(call.outcome?.end.error?.message == "no more")
  }

  @Test func injectsMessages() throws {
    let call = try call("Inject")
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    call.work()
    #expect(call.sent == ["before", "Ada", "behind", "end"].map(PluginCallTest.bytes))
    call.wireChain.receive(.responseStart(ResponseStart()))
    #expect(call.receivedTexts == ["early"])
    #expect(
      log.lines.dropFirst() == [
        "inject at a start: -5", "inject_response: 0", "inject: 0", "inject null: -1",
        "inject of no form: -1",
        "inject_request: 0", "inject at the end: 0",
      ])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func timersRunOnTheLoopUntilTheCallIsClosed() throws {
    let call = try call("Wait")
    call.start()
    #expect(call.sentStart == nil)
    call.clock.advance(by: .milliseconds(990))
    #expect(call.sentStart == nil)
    call.clock.advance(by: .milliseconds(20))
    call.work()
    #expect(call.sentStart != nil)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    call.clock.advance(by: .seconds(3600))
    #expect(
      log.lines.dropFirst() == [
        "after: 0", "after: 0", "cancel_timer: 0", "cancel_timer again: -6", "negative: -1", "null: -1",
        "after: 0",
        "tick, proceed: 0", "close; post: -4", "inject: -4",
      ])
  }

  @Test func otherThreadsPostToTheLoop() throws {
    let call = try call("Thread")
    call.start()
    #expect(call.sentStart == nil || log.lines.contains("tick, proceed: 0"))
    call.wait { call.sentStart != nil }
    #expect(log.lines.contains("after on a thread: -13"))
    #expect(log.warnings == ["plugin misbehaving: after on a thread other than the loop's"])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func watchdogUsesDeadlineThatInterceptorChanged() throws {
    let journal = Journal()
    let probe = Probe("changes", .requestStart, journal)
    let later = MonotonicClock.now + .seconds(3600)
    var made: PluginCall?
    probe.onRequestStart = { start, token in
      made = probe.context.map { PluginCall(TestCall.facts(.unary), $0) }
      #expect(made?.deadlineNanoseconds == 0)
      var start = start
      start.deadline = later
      token.proceed(start)
    }
    let call = TestCall(.unary, journal, [probe])
    call.start()
    let pluginCall = try #require(made)
    let deadline = pluginCall.deadlineNanoseconds
    #expect(deadline > 0)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    pluginCall.end()
    #expect(pluginCall.deadlineNanoseconds == deadline)
  }

  @Test func serialPluginReceivesOneValueAtATime() throws {
    let call = try call("Serial")
    call.start()
    for text in ["a", "b"] { call.chain.send(.bytes(PluginCallTest.bytes(text))) }
    #expect(log.lines.filter { $0 == "message: 0" }.count == 1)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func failureOfNeedsFailsCall() throws {
    let call = try call("Greedy")
    call.start()
    #expect(call.end?.error == RPCError(.internal, "wants too much", origin: .interceptor("flow")))
    #expect(log.lines.filter { $0.hasPrefix("close") }.count == 1)
  }

  // MARK: - Calls of the plugin

  private func requests(
    _ method: String, _ kind: CallKind = .bidiStreaming, network: (any SubrequestTransport)? = nil
  ) throws -> PluginCallTest {
    let spec = InterceptorSpec(name: try Fixtures.path("requests"))
    return try PluginCallTest([log.loader().load(spec)], kind, method: method, network: network)
  }

  @Test func opensStreams() throws {
    let network = Network()
    let call = try requests("Stream", network: network)
    call.start()
    call.work()
    let stream = try #require(network.streams.first)
    #expect(network.streams.count == 1 && stream.kind == .bidiStreaming && stream.requested == ["first"])
    #expect(stream.call.method.description == "test.Log/Watch" && stream.call.timeout == .nanoseconds(1000))
    let events: [SubrequestEvent] = [
      .start(ResponseStart(headers: Headers([("a", "b")]))), .message(Array("hello".utf8)), .wanted(true),
      .end(
        ResponseEnd(
          error: RPCError(.aborted, "over", origin: .server), trailers: Headers([("x", "1"), ("y", "2")]))),
      .end(ResponseEnd()),
    ]
    for event in events {
      stream.receive(event)
      call.work()
    }
    #expect(stream.requested == ["first", "second", "want false", "finish"])
    #expect(call.sentStart != nil)
    #expect(
      log.lines == [
        "kind: -1", "open: 0", "send: 0", "no end: -1", "own: started with 1, b", "send: 0", "pause: 0",
        "message hello", "wanted: 1", "finish: 0", "finish again: -6", "ended 10 over with 2 trailers",
        "cancel: -6",
      ])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func endOfCallEndsStream() throws {
    let network = Network()
    let call = try requests("Stream", network: network)
    call.start()
    call.work()
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(
      log.lines.suffix(2) == ["ended 1 the call that needed it has ended with 0 trailers", "cancel: -4"])
    network.streams.first?.receive(.end(ResponseEnd()))
    call.work()
    #expect(log.lines.filter { $0.hasPrefix("ended") }.count == 1)
    #expect(network.streams.first?.requested == ["first", "cancel"])
  }

  @Test func streamsNeedANetwork() throws {
    let call = try requests("Stream")
    call.start()
    #expect(log.lines.contains("open: -11"))
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func makesHTTPRequests() throws {
    let network = Network()
    var call = try requests("Fetch", network: network)
    call.start()
    call.work()
    let (fetch, completion) = try #require(network.fetches.first)
    #expect(
      fetch.method == "POST" && fetch.url == "https://tokens/t" && fetch.headers == Headers([("x-own", "1")]))
    #expect(fetch.body == Array("grant".utf8) && fetch.timeout == .seconds(5) && fetch.maxBodyBytes == 100)
    completion(
      .success(HTTPFetchResponse(status: 404, headers: Headers([("a", "b")]), body: Array("none".utf8))))
    call.work()
    #expect(call.sentStart != nil)
    #expect(
      log.lines == ["fetch: 0", "file: -1", "user: -1", "method: -1", "fetched: 0 , 404 none with 1 headers"])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    call = try requests("Fetch", network: network)
    call.start()
    call.work()
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    #expect(log.lines.last == "fetched: 1 the call that needed it has ended, 0  with 0 headers")
  }

  @Test func spreadsResponseOverTime() throws {
    let call = try requests("Slow", .serverStreaming)
    call.start()
    call.work()
    #expect(call.receivedStart?.headers == Headers([("x-slow", "1")]) && call.receivedTexts == [])
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    call.clock.advance(by: .seconds(1))
    call.work()
    call.work()
    #expect(call.receivedTexts == ["one", "one"])
    #expect(call.end == ResponseEnd() && call.sentStart == nil)
    #expect(
      log.lines == [
        "start: 0", "plugin misbehaving: start_response a second time", "start again: -2", "direction: -1",
        "after: 0", "start late: -5", "inject: 0", "when_wanted: 0", "inject: 0",
        "respond: 0",
      ])
  }

  @Test func makesCalls() throws {
    let network = Network()
    let call = try call("Call", network: network)
    call.start()
    call.work()
    let own = try #require(network.made.first)
    #expect(network.made.count == 1)
    #expect(own.method.description == "test.Tokens/Get" && own.target == "https://tokens")
    #expect(own.headers == Headers([("x-own", "1")]) && own.message == PluginCallTest.bytes("k"))
    #expect(own.timeout == .seconds(5))
    #expect(call.sentStart == nil)
    network.completion?(
      SubrequestResponse(headers: Headers([("a", "b")]), message: Array("token".utf8), end: ResponseEnd()))
    call.work()
    #expect(call.sentStart != nil)
    #expect(
      log.lines.dropFirst() == [
        "call with JSON and no schema: -11", "call of no method: -1", "call without done: -1", "call: 0",
        "done: 0  [token] 1+0 fields, 0 details",
      ])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func endOfCallCancelsPluginCall() throws {
    let network = Network()
    let call = try call("Call", network: network)
    call.start()
    call.work()
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    let words = "done: 1 the call that needed it has ended [] 0+0 fields, 0 details"
    #expect(log.lines.suffix(3).first == words)
    network.completion?(SubrequestResponse(end: ResponseEnd()))
    call.work()
    #expect(log.lines.filter { $0.hasPrefix("done") }.count == 1)
  }

  // MARK: - MisusePolicy

  @Test func strictnessFailsCallAfterMisuseInCallback() throws {
    let call = try call("Misuse", isStrict: true)
    call.start()
    #expect(
      call.end?.error
        == RPCError(
          .internal, "the plugin misbehaves: proceed with a token that was already used",
          origin: .interceptor("flow")))
    #expect(call.outcome != nil)
  }

  @Test(arguments: ["open", "decline", "stages", "needs"])
  func strictnessFailsCallAfterMisuseBeforeItsStart(_ callback: String) throws {
    var spec = InterceptorSpec(
      name: try Fixtures.path("careless"),
      settings: [InterceptorSpec.Setting(key: "misuse", value: callback)])
    spec.common.isStrict = true
    let plugin = try log.loader().load(spec)
    let (other, call) = (try PluginCallTest([plugin]), try PluginCallTest([plugin]))
    other.start()
    call.start()
    let reason = "the plugin misbehaves: proceed with a token that it never received"
    #expect(call.end?.error == RPCError(.internal, reason, origin: .interceptor("careless")))
    #expect(call.outcome != nil && call.sentStart == nil)
    #expect(other.end == nil)
    #expect(log.lines.filter { $0 == "closed: 2" }.count == (callback == "decline" ? 0 : 1))
    other.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func misuseIsOnlyReportedWithoutStrictness() throws {
    let call = try call("Misuse")
    call.start()
    #expect(call.end == nil && call.sentStart != nil)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func strictnessFailsCallsAfterMisuseOnAnotherThread() throws {
    let call = try call("Thread", isStrict: true)
    call.start()
    call.wait { call.end != nil }
    #expect(
      call.end?.error
        == RPCError(
          .internal, "the plugin misbehaves: after on a thread other than the loop's",
          origin: .interceptor("flow")))
  }

  // MARK: - Beginning and end of a call, and several threads

  private func reentrant(_ method: String, network: (any SubrequestTransport)? = nil) throws -> PluginCallTest
  {
    let spec = InterceptorSpec(name: try Fixtures.path("reentrant"))
    return try PluginCallTest([log.loader().load(spec)], .bidiStreaming, method: method, network: network)
  }

  @Test func rejectsPluginCallAtEndOfCall() throws {
    let call = try reentrant("Say", network: Network())
    call.start()
    call.work()
    #expect(log.lines.suffix(3) == ["post: 0", "call: 0", "posted"])
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    call.work()
    #expect(
      log.lines.dropFirst(3) == [
        "done", "call in done: -4", "after in done: -4", "post in done: -4", "call in close: -4",
      ])
  }

  @Test(arguments: [("Decline", nil), ("Refuse", "refused")])
  func declinedCallRunsNoPostedFunctionAndNoOwnCall(_ method: String, _ reason: String?) throws {
    let network = Network()
    let call = try reentrant(method, network: network)
    call.start()
    call.work()
    #expect(
      log.lines == [
        "post: 0", "call: 0", "done", "call in done: -4", "after in done: -4", "post in done: -4",
      ])
    #expect(network.made.isEmpty)
    #expect(call.end?.error?.message == reason)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func oneThreadMayChangeValueThatAnotherForwards() throws {
    let call = try reentrant("Contend")
    call.start()
    for _ in 0..<2000 { call.chain.send(.bytes(PluginCallTest.bytes("Ada"))) }
    call.wait { call.sent.count == 2000 }
    #expect(call.sent.count == 2000)
    #expect(call.sent.allSatisfy { [3, 5, 32].contains($0.count) })
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }
}
