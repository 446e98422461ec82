import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct CacheTests {
  private static let unavailable = RPCError(.unavailable, "busy", origin: .server)
  private let services = TestServices()

  /// Calls of a method without side effects that share an interceptor.
  private final class Calls {
    let registration: InterceptorRegistration
    var protocolName = ProtocolName.grpc
    var hasNoSideEffects = true
    var target = "http://server"
    var headers: [(String, String)] = []

    init(_ registration: InterceptorRegistration) { self.registration = registration }

    func start(_ message: String = "ping", kind: CallKind = .unary) -> TestCall {
      let call = TestCall(
        kind, Journal(), [registration], typed: true, hasNoSideEffects: hasNoSideEffects,
        protocolName: protocolName)
      call.request.target = target
      for (name, value) in headers { call.request.headers.add(name, value) }
      call.start()
      call.send(message)
      call.close()
      return call
    }

    /// Makes a call, to which the server responds if the call reaches it.
    @discardableResult
    func run(
      _ message: String = "ping", response: String = "pong", headers: [(String, String)] = [],
      error: RPCError? = nil
    ) -> TestCall {
      let call = start(message)
      guard call.wireStarts > 0 else { return call }
      respond(to: call, response, headers, error: error)
      return call
    }

    func respond(
      to call: TestCall, _ response: String = "pong", _ headers: [(String, String)] = [],
      error: RPCError? = nil
    ) {
      call.chain.receive(.responseStart(ResponseStart(headers: Headers(headers))))
      if error == nil { call.receive(response) }
      call.chain.receive(.responseEnd(ResponseEnd(error: error, trailers: Headers([("cost", "1")]))))
    }

    /// Whether a call is sent to the server.
    func isSent(_ message: String = "ping") -> Bool { run(message, response: "again").wireStarts == 1 }
  }

  private func calls(_ text: String = "cache") throws -> Calls { Calls(try services.registration(text)) }

  private func texts(_ call: TestCall) -> [String] {
    call.received.map { TestMessages.text($0.serialized) }
  }

  private func advance(_ seconds: Int64) { services.nanosecondsSince1970 += seconds * 1_000_000_000 }

  // MARK: Stored responses

  @Test func respondsToRepeatedCall() throws {
    let calls = try calls()
    let first = calls.run(response: "pong", headers: [("x-server", "a")])
    #expect(texts(first) == ["pong"])
    advance(12)
    let second = calls.start()
    #expect(second.wireStarts == 0)
    #expect(texts(second) == ["pong"])
    #expect(second.end == ResponseEnd(trailers: Headers([("cost", "1")])))
    #expect(second.receivedStart?.headers == Headers([("x-server", "a")]))
    #expect(first.found.map(\.text) == ["miss", "stored for 300.0 seconds"])
    #expect(second.found.map(\.text) == ["hit: age 12.0 seconds"])
    #expect((first.found + second.found).allSatisfy { $0.kind == .note })
  }

  @Test func otherProcessesUseStoredResponses() throws {
    try calls().run()
    #expect(try !calls().isSent())
  }

  @Test func requestsHaveResponsesOfTheirOwn() throws {
    let calls = try calls()
    calls.run("a", response: "1")
    #expect(calls.isSent("b"))
    calls.target = "http://other"
    #expect(calls.isSent("a"))
    calls.target = "http://server"
    calls.protocolName = .connect
    #expect(calls.isSent("a"))
    calls.protocolName = .grpc
    #expect(texts(calls.start("a")) == ["1"])
  }

  @Test func unknownFieldsArePartOfTheKey() throws {
    let calls = try calls()
    for field in [[0x78, 0x01], [0x78, 0x02], [0x78, 0x01]] as [[UInt8]] {
      let call = TestCall(.unary, Journal(), [calls.registration], typed: true, hasNoSideEffects: true)
      call.start()
      call.chain.send(.bytes(TestMessages.bytes("ping") + field))
      call.close()
      if call.wireStarts > 0 { calls.respond(to: call, "field \(field[1])") }
      #expect(texts(call) == ["field \(field[1])"])
    }
    #expect(services.cached.count == 2)
  }

  @Test(arguments: ["authorization", "cookie", "x-api-key", "x-tenant"])
  func headersOfTheKeySeparateResponses(_ name: String) throws {
    let calls = try calls("cache,vary=X-Tenant")
    calls.headers = [(name, "ada"), ("x-request-id", "1")]
    calls.run()
    calls.headers = [(name, "ada"), ("x-request-id", "2")]
    #expect(!calls.isSent())
    calls.headers = [(name, "eve")]
    #expect(calls.isSent())
    calls.headers = []
    #expect(calls.isSent())
  }

  @Test func credentialsOfAnInterceptorArePartOfTheKey() throws {
    let cache = try services.registration("cache")
    for (token, isSent) in [("a", true), ("b", true), ("a", false)] {
      let auth = try services.registration("auth,bearer=\(token),header=x-pass,hosts=localhost")
      let call = TestCall(.unary, Journal(), [auth, cache], typed: true, hasNoSideEffects: true)
      call.request.target = "http://localhost"
      call.run()
      #expect((call.wireStarts == 1) == isSent)
    }
  }

  @Test func responsesAreUsedUntilTheTTL() throws {
    let calls = try calls("cache,ttl=10s")
    calls.run()
    advance(9)
    #expect(!calls.isSent())
    advance(1)
    let call = calls.run()
    #expect(call.wireStarts == 1)
    #expect(
      call.found.map(\.text) == [
        "miss: the stored response is too old: age 10.0 seconds", "stored for 10.0 seconds",
      ])
    #expect(!calls.isSent())
  }

  @Test func responsesFromTheFutureAreNotUsed() throws {
    let calls = try calls()
    calls.run()
    advance(-1)
    #expect(calls.isSent())
  }

  @Test func refreshReplacesStoredResponses() throws {
    try calls().run(response: "old")
    let call = try calls("cache,refresh=true").run(response: "new")
    #expect(call.found.map(\.text) == ["refresh: stored responses are ignored", "stored for 300.0 seconds"])
    #expect(texts(try calls().start()) == ["new"])
  }

  @Test func errorsAreNotStored() throws {
    let calls = try calls()
    let call = calls.run(error: Self.unavailable)
    #expect(call.end?.error == Self.unavailable)
    #expect(call.found.map(\.text) == ["miss", "not stored: the call failed"])
    #expect(services.cached.isEmpty)
    #expect(calls.isSent())
  }

  @Test func callSucceedsIfItsResponseCannotBeStored() throws {
    services.cacheProblem = SystemError("no space left on device")
    let call = try calls().run()
    #expect(texts(call) == ["pong"])
    #expect(call.found.map(\.text) == ["miss", "not stored: no space left on device"])
  }

  // MARK: Methods

  @Test func methodsWithSideEffectsMustBeNamed() throws {
    for (text, isUsed) in [
      ("cache", false), ("cache,methods=!a.B/C", false), ("cache,methods=test.Echo/Say", true),
      ("cache,methods=*", true),
    ] {
      let calls = try calls(text)
      calls.hasNoSideEffects = false
      let call = calls.run(text)
      #expect(calls.isSent(text) == !isUsed, "\(text)")
      guard !isUsed else { continue }
      #expect(
        call.found.map(\.text) == [
          "not used: the schema does not mark Say as free of side effects; methods=test.Echo/Say uses it"
        ])
    }
  }

  @Test(arguments: [CallKind.clientStreaming, .serverStreaming, .bidiStreaming])
  func streamsPass(_ kind: CallKind) throws {
    let calls = try calls("cache,methods=*")
    for _ in 0..<2 {
      let call = calls.start(kind: kind)
      #expect(call.wireStarts == 1)
      calls.respond(to: call)
      #expect(call.found.map(\.text) == ["not used: Say is a stream"])
    }
  }

  @Test func subrequestsPass() throws {
    let calls = try calls("cache,methods=*")
    for _ in 0..<2 {
      let call = TestCall(
        .unary, Journal(), [calls.registration], excluded: [RegistrationID()], hasNoSideEffects: true)
      call.run()
      #expect(call.wireStarts == 1)
    }
  }

  // MARK: Concurrent calls

  @Test func identicalCallsShareOneResponse() throws {
    let calls = try calls()
    let first = calls.start()
    let others = [calls.start(), calls.start()]
    #expect(others.map(\.wireStarts) == [0, 0])
    calls.respond(to: first, "once")
    for call in others {
      call.work()
      #expect(texts(call) == ["once"])
      #expect(call.wireStarts == 0)
      #expect(call.found.map(\.text) == ["miss", "shared with an identical call: age 0.0 seconds"])
    }
  }

  @Test func waitingCallsAreSentIfTheFirstFails() throws {
    let calls = try calls()
    let first = calls.start()
    let second = calls.start()
    calls.respond(to: first, error: Self.unavailable)
    second.work()
    #expect(second.wireStarts == 1)
    calls.respond(to: second, "pong")
    #expect(texts(second) == ["pong"])
    #expect(!calls.isSent())
  }

  @Test func waitingCallsAreSentIfTheFirstIsCanceled() throws {
    let calls = try calls()
    let first = calls.start()
    let second = calls.start()
    first.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    second.work()
    #expect(second.wireStarts == 1)
    #expect(services.cached.isEmpty)
  }

  @Test func canceledWaiterIsNotResumed() throws {
    let calls = try calls()
    let first = calls.start()
    let second = calls.start()
    second.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    calls.respond(to: first)
    second.work()
    #expect(second.end?.code == .canceled)
    #expect(!calls.isSent())
  }

  @Test func furtherAttemptsDoNotWait() throws {
    let clock = ManualClock()
    let call = TestCall(
      .unary, Journal(),
      [try services.registration("hedge,delay=1s"), try services.registration("cache")], typed: true,
      isIdempotent: true, hasNoSideEffects: true, clock: clock)
    call.start()
    call.send("ping")
    call.close()
    clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 2)
  }

  @Test func furtherAttemptsAreSent() throws {
    let cache = try services.registration("cache")
    let call = TestCall(
      .unary, Journal(), [try services.registration("retry,until=.value == DONE"), cache], typed: true,
      hasNoSideEffects: true)
    call.start()
    call.send("ping")
    call.close()
    for text in ["PENDING", "DONE"] {
      call.receiveHeaders()
      call.receive(text)
      call.receiveEnd()
      call.clock.advance(by: .seconds(1))
    }
    #expect(texts(call) == ["DONE"])
    #expect(texts(Calls(cache).start()) == ["DONE"])
  }

  @Test(
    arguments: [("cache,refresh=true", []), ("cache", [("cache-control", "no-cache")])]
      as [(String, [(String, String)])])
  func callsThatRefreshDoNotWait(_ text: String, _ headers: [(String, String)]) throws {
    let calls = try calls(text)
    calls.protocolName = .connect
    let first = calls.start()
    calls.headers = headers
    let second = calls.start()
    #expect([first, second].map(\.wireStarts) == [1, 1])
  }

  @Test func waitingCallIsSentIfTheResponseIsTooOldForIt() throws {
    let calls = try calls()
    calls.protocolName = .connect
    let first = calls.start()
    calls.headers = [("cache-control", "max-age=5")]
    let second = calls.start()
    #expect(second.wireStarts == 0)
    calls.respond(to: first, "old", [("age", "5")])
    second.work()
    #expect(second.wireStarts == 1)
  }

  @Test func differentCallsDoNotWait() throws {
    let calls = try calls()
    _ = calls.start("a")
    #expect(calls.start("b").wireStarts == 1)
  }

  // MARK: Headers of HTTP

  @Test(
    arguments: [
      ([("cache-control", "no-store")], 0, true), ([("cache-control", "max-age=100, NO-CACHE")], 0, true),
      ([("cache-control", #"private="a, no-store", max-age=100"#)], 99, false),
      ([("cache-control", "private")], 299, false), ([("cache-control", "max-age=10")], 9, false),
      ([("cache-control", "max-age=10")], 10, true), ([("cache-control", "max-age=1000")], 300, true),
      ([("cache-control", "max-age=10"), ("age", "8")], 1, false),
      ([("cache-control", "max-age=10"), ("age", "8")], 2, true),
      ([("date", "Tue, 14 Nov 2023 22:13:12 GMT"), ("cache-control", "max-age=10")], 1, false),
      ([("date", "Tue, 14 Nov 2023 22:13:12 GMT"), ("cache-control", "max-age=10")], 2, true),
      ([("date", "Tue, 14 Nov 2023 22:13:12 GMT"), ("age", "3")], 291, false),
      ([("date", "Tue, 14 Nov 2023 22:13:12 GMT"), ("age", "9")], 291, true),
      ([("date", "Fri, 31 Dec 9999 23:59:59 GMT")], 299, false),
      ([("date", "Mon, 01 Jan 0001 00:00:00 GMT")], 0, true), ([("date", "Tue, 14 Nov 2023")], 299, false),
      ([("date", "Thu, 31 Nov 2022 22:13:12 GMT")], 299, false),
      ([("age", "290")], 10, true), ([("cache-control", "max-age=x")], 0, true),
      ([("cache-control", "max-age=100"), ("cache-control", "max-age=5")], 5, true),
      ([("expires", "0")], 0, true), ([("expires", "0"), ("cache-control", "max-age=10")], 9, false),
      ([("vary", "Accept-Language, *")], 0, true), ([("age", "99999999999999999999")], 0, true),
    ] as [([(String, String)], Int64, Bool)])
  func headersOfTheServerLimitTheUse(_ headers: [(String, String)], _ after: Int64, _ isSent: Bool) throws {
    let calls = try calls()
    calls.protocolName = .connect
    calls.run(headers: headers)
    advance(after)
    #expect(calls.isSent() == isSent)
    // In other protocols they are metadata.
    calls.protocolName = .grpc
    calls.run(headers: headers)
    advance(1)
    #expect(!calls.isSent())
  }

  @Test func theTimeOfTheResponseCountsAsAge() throws {
    let calls = try calls("cache,ttl=10s")
    let call = calls.start()
    advance(4)
    calls.respond(to: call)
    advance(5)
    #expect(!calls.isSent())
    advance(1)
    #expect(calls.isSent())
  }

  @Test func responsesAreStoredForTheRestOfTheirTime() throws {
    let calls = try calls()
    calls.protocolName = .connect
    let stored = calls.run("a", headers: [("cache-control", "max-age=10"), ("age", "8")])
    #expect(stored.found.map(\.text) == ["miss", "stored for 2.0 seconds"])
    let old = calls.start("b")
    let waiting = calls.start("b")
    calls.respond(to: old, "old", [("cache-control", "max-age=10"), ("age", "10")])
    #expect(old.found.map(\.text) == ["miss", "not stored: it is already too old"])
    #expect(services.cached.count == 1)
    waiting.work()
    #expect(waiting.wireStarts == 1)
  }

  @Test func storedResponseHasItsAge() throws {
    let calls = try calls()
    calls.protocolName = .connect
    calls.run(headers: [("age", "8")])
    advance(2)
    #expect(calls.start().receivedStart?.headers.values("age") == ["10"])
  }

  @Test func headersThatVaryNamesMustBeTheSame() throws {
    let calls = try calls()
    calls.protocolName = .connect
    calls.headers = [("accept-language", "de")]
    calls.run(headers: [("vary", "Accept-Language, x-lacking")])
    #expect(!calls.isSent())
    calls.headers = [("accept-language", "de"), ("x-lacking", "")]
    #expect(calls.run(response: "other", headers: [("vary", "accept-language")]).wireStarts == 1)
    calls.headers = [("accept-language", "en")]
    let call = calls.run(headers: [("vary", "accept-language")])
    #expect(call.wireStarts == 1)
    #expect(call.found.first?.text == "miss: the stored response is for other request headers (Vary)")
    #expect(!calls.isSent())
  }

  @Test(arguments: ["authorization", "x-tenant"])
  func headersThatVaryNamesAreNotStored(_ name: String) throws {
    let calls = try calls()
    calls.protocolName = .connect
    calls.headers = [(name, "hunter2")]
    calls.run(headers: [("vary", name)])
    #expect(!calls.isSent())
    #expect(services.cached.values.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("hunter2") })
    calls.headers = [(name, "hunter3")]
    #expect(calls.isSent())
  }

  @Test(arguments: [("no-cache", true), ("max-age=5", true), ("max-age=6", false), ("no-store", true)])
  func headersOfTheRequestLimitTheUse(_ value: String, _ isSent: Bool) throws {
    let calls = try calls()
    calls.protocolName = .connect
    calls.run(response: "old")
    advance(5)
    calls.headers = [("cache-control", value)]
    #expect((calls.run(response: "new").wireStarts == 1) == isSent)
    calls.headers = []
    #expect(texts(calls.start()) == [isSent && value != "no-store" ? "new" : "old"])
  }

  // MARK: Damaged files

  @Test(arguments: [
    "", "\n", "{}\n", "[]\n",
    #"{"version":1,"date":1700000000000000000,"headers":[],"trailers":[],"vary":[]}"# + "\n",
    #"{"version":2,"date":1700000000000000000,"headers":[],"trailers":[]}"#,
    #"{"version":2,"date":-5,"headers":[],"trailers":[]}"# + "\n",
    #"{"version":2,"date":9999999999999999999999,"headers":[],"trailers":[]}"# + "\n",
    #"{"version":2,"date":1700000000000000000,"headers":[["a\n","b"]],"trailers":[]}"# + "\n",
    #"{"version":2,"date":1700000000000000000,"max_age":"x","headers":[],"trailers":[]}"# + "\n",
    #"{"version":2,"date":1700000000000000000,"headers":[],"trailers":[]}"# + "\n\u{7F}",
  ])
  func otherContentIsAbsent(_ content: String) throws {
    let calls = try calls()
    calls.run()
    for key in services.cached.keys { services.cached[key] = Array(content.utf8) }
    #expect(calls.isSent())
    #expect(!calls.isSent())
  }

  @Test func largestAgeIsAccepted() throws {
    let calls = try calls()
    calls.run()
    let content =
      #"{"version":2,"date":1,"max_age":9223372036854775807,"headers":[],"trailers":[]}"# + "\n"
    for key in services.cached.keys { services.cached[key] = Array(content.utf8) }
    #expect(calls.isSent())
  }

  // MARK: Configuration

  @Test(arguments: [
    ("ttl=0", "cache: ttl: must be more than 0"),
    ("ttl=x", "cache: ttl: must be a duration such as 1.5, 250ms, 2m"),
    ("size=1k", "cache: size: must be at least 64k"), ("refresh=x", "cache: refresh: must be true or false"),
    ("vary=a+b:c", "cache: vary: b:c is not a valid header name"),
  ])
  func invalidConfigurationNamesKey(_ setting: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration("cache,\(setting)") }
    #expect(error?.description == message)
  }

  @Test func missingDirectoryIsAnError() {
    services.variables["HOME"] = ""
    let error = #expect(throws: ConfigurationError.self) { try services.registration("cache") }
    #expect(error?.description == "cache: no directory for the cache: HOME is not set")
  }
}
