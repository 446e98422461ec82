import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

/// Responses that interceptors further in than the cache make or change.
@Suite struct CacheChainTests {
  private let services = TestServices()

  /// Makes a call through a cache and interceptors further in. The server responds with "pong" if the call reaches it.
  ///
  /// - Parameter texts: The interceptors, separated by blanks.
  @discardableResult
  private func run(_ texts: String, outside: String = "", _ own: [InterceptorRegistration] = []) throws
    -> TestCall
  {
    let chain = try (outside.split(separator: " ") + ["cache"] + texts.split(separator: " ")).map {
      try services.registration(String($0))
    }
    return run(chain + own)
  }

  private func run(_ chain: [InterceptorRegistration], _ protocolName: ProtocolName = .grpc) -> TestCall {
    let call = TestCall(
      .unary, Journal(), chain, typed: true, isIdempotent: true, hasNoSideEffects: true,
      protocolName: protocolName)
    call.start()
    call.send("ping")
    call.close()
    guard call.wireStarts > 0 else { return call }
    call.receiveHeaders()
    call.receive("pong")
    call.receiveEnd()
    return call
  }

  private func texts(_ call: TestCall) -> [String] {
    call.received.map { TestMessages.text($0.serialized) }
  }

  private func isSent(_ texts: String, outside: String = "") throws -> Bool {
    try run(texts, outside: outside).wireStarts > 0
  }

  private func stub(_ text: String) -> String { #"{"response":{"message":"\#(text)"}}"# }

  // MARK: Interceptors with fingerprints

  @Test func responsesOfMockAreNotUsedWithoutIt() throws {
    services.files["stub.json"] = stub("MOCK")
    let mocked = try run("mock,file=stub.json")
    #expect(texts(mocked) == ["MOCK"])
    #expect(mocked.found.map(\.text) == ["miss", "stored for 300.0 seconds"])
    let plain = try run("")
    #expect(plain.wireStarts == 1)
    #expect(texts(plain) == ["pong"])
    let again = try run("mock,file=stub.json")
    #expect(texts(again) == ["MOCK"])
    #expect(again.found.map(\.text) == ["hit: age 0.0 seconds"])
  }

  @Test func changedStubFileIsAnotherKey() throws {
    services.files["stub.json"] = stub("A")
    try run("mock,file=stub.json")
    services.files["stub.json"] = stub("B")
    #expect(texts(try run("mock,file=stub.json")) == ["B"])
    services.files["stub.json"] = stub("A")
    let call = try run("mock,file=stub.json")
    #expect(texts(call) == ["A"])
    #expect(call.found.map(\.text) == ["hit: age 0.0 seconds"])
  }

  @Test(arguments: [
    "edit,response-set=value=x", "edit,set=value=x", "header,set=x-a:1", "header,response-set=x-a:1",
    "auth,bearer=a,allow-plaintext=true", "fault,drop-response=0.001",
    "retry,until=status==ok",
  ])
  func settingsOfInterceptorsThatAlterResponsesArePartOfTheKey(_ text: String) throws {
    let chain = [try services.registration("cache"), try services.registration(text)]
    func isSent(_ chain: [InterceptorRegistration]) -> Bool { run(chain).wireStarts > 0 }
    #expect(isSent(chain))
    #expect(!isSent([try services.registration("cache"), try services.registration(text)]))
    #expect(try self.isSent(""))
    #expect(try !self.isSent(""))
  }

  @Test func otherSettingsAndAnotherOrderAreOtherKeys() throws {
    for text in [
      "edit,response-set=value=a", "edit,response-set=value=b",
      "edit,response-set=value=a edit,response-set=value=b",
      "edit,response-set=value=b edit,response-set=value=a",
    ] {
      #expect(try isSent(text), "\(text)")
      #expect(try !isSent(text), "\(text)")
    }
    #expect(services.cached.count == 4)
  }

  @Test func secretsAreNotInFiles() throws {
    try run("header,set=x-secret:hunter2")
    for (key, content) in services.cached {
      #expect(!String(decoding: key + content, as: UTF8.self).contains("hunter2"))
    }
  }

  /// They have the same responses as without them.
  @Test(arguments: [
    "log", "record,file=f", "metrics", "retry", "hedge,methods=*", "validate", "assert,check=status==ok",
    "limit,concurrency=1", "breaker", "deadline,default=1s", "trace", "trace,file=spans", "shadow,to=b",
  ])
  func interceptorsThatKeepResponsesAreNotPartOfTheKey(_ text: String) throws {
    try run("")
    #expect(try !isSent(text))
    services.cached = [:]
    let call = try run(text)
    #expect(call.found.contains { $0.text == "stored for 300.0 seconds" }, "\(call.found)")
    #expect(try !isSent(""))
  }

  @Test func interceptorsFurtherOutAreNotPartOfTheKey() throws {
    try run("")
    #expect(try !isSent("", outside: "edit,response-set=value=x header,set=x-a:1"))
  }

  @Test func interceptorsForOtherCallsAreNotPartOfTheKey() throws {
    try run("")
    for scope in ["methods=a.B/C", "hosts=elsewhere", "percent=0", "attribute=x"] {
      #expect(try !isSent("edit,response-set=value=x,\(scope)"), "\(scope)")
    }
  }

  // MARK: Interceptors of programs

  /// A registration without a fingerprint.
  private func own(_ change: (Probe) -> Void = { _ in }) -> InterceptorRegistration {
    let probe = Probe("own", .all, Journal())
    change(probe)
    return TestCall.registration(probe)
  }

  @Test func responseIsStoredIfAnUnknownInterceptorChangedNothing() throws {
    let call = try run("", [own()])
    #expect(call.found.map(\.text) == ["miss", "stored for 300.0 seconds"])
    #expect(try !isSent(""))
  }

  @Test func deadlineOfAnUnknownInterceptorChangesNothing() throws {
    let call = try run(
      "",
      [
        own {
          $0.onRequestStart = { start, token in
            var start = start
            start.deadline = MonotonicClock.now + .seconds(1000)
            token.proceed(start)
          }
        }
      ])
    #expect(call.found.map(\.text) == ["miss", "stored for 300.0 seconds"])
  }

  private static let changes: [(String, @Sendable (Probe) -> Void)] = [
    (
      "request header",
      { probe in
        probe.onRequestStart = { start, token in
          var start = start
          start.headers.add("x-a", "1")
          token.proceed(start)
        }
      }
    ),
    (
      "request message",
      { probe in
        probe.onRequestMessage = { message, token in
          var message = message
          try? message.setTyped(TestMessages.make("other"))
          token.proceed(message)
        }
      }
    ),
    (
      "response header",
      { probe in
        probe.onResponseStart = { start, token in
          var start = start
          start.headers.add("x-a", "1")
          token.proceed(start)
        }
      }
    ),
    (
      "response message",
      { probe in
        probe.onResponseMessage = { message, token in
          var message = message
          try? message.setTyped(TestMessages.make("other"))
          token.proceed(message)
        }
      }
    ),
    (
      "held response message",
      { probe in
        probe.onResponseMessage = { message, token in
          let held = HeldToken(token)
          probe.context?.post {
            var message = message
            try? message.setTyped(TestMessages.make("other"))
            held.use { $0.proceed(message) }
          }
        }
      }
    ),
    (
      "replaced response message",
      { probe in
        probe.onResponseMessage = { _, token in
          token.inject(.typed(TestMessages.make("other")))
          token.drop()
        }
      }
    ),
    (
      "trailer",
      { probe in
        probe.onResponseEnd = { end, token in
          var end = end
          end.trailers.add("x-a", "1")
          token.proceed(end)
        }
      }
    ),
    (
      "response at a message",
      { probe in
        probe.onRequestMessage = { _, token in
          token.respond(LocalResponse(messages: [.typed(TestMessages.make("own"))]))
        }
      }
    ),
    (
      "response at the start",
      { probe in
        probe.onRequestStart = { start, token in
          token.respond(LocalResponse(messages: [.typed(TestMessages.make("own"))]))
        }
      }
    ),
  ]

  @Test(arguments: Self.changes.map(\.0))
  func responseThatAnUnknownInterceptorAlteredIsNotStored(_ what: String) throws {
    let change = try #require(Self.changes.first { $0.0 == what }).1
    let call = try run("", [own(change)])
    #expect(
      call.found.last?.text
        == "not stored: own responded to the call or changed it, and is not part of the key", "\(call.found)")
    #expect(services.cached.isEmpty)
    #expect(try isSent(""))
  }

  @Test func changeInAnAttemptIsNotStored() throws {
    let call = try run("retry log", [own(Self.changes[3].1)])
    #expect(
      call.found.last?.text
        == "not stored: own responded to the call or changed it, and is not part of the key")
    #expect(services.cached.isEmpty)
  }

  @Test func waitingCallIsSentIfTheResponseIsNotStored() throws {
    let cache = try services.registration("cache")
    func start() -> TestCall {
      let call = TestCall(
        .unary, Journal(), [cache, own(Self.changes[3].1)], typed: true, hasNoSideEffects: true)
      call.start()
      call.send("ping")
      call.close()
      return call
    }
    let (first, second) = (start(), start())
    #expect(second.wireStarts == 0)
    first.receiveHeaders()
    first.receive("pong")
    first.receiveEnd()
    second.work()
    #expect(second.wireStarts == 1)
  }
}
