import RPCurlClient
import RPCurlClientTesting
import Testing

/// Interceptors that a client adds and removes while it runs, those of one call, and their own calls.
@Suite(.timeLimit(.minutes(10))) struct ClientInterceptorsTests {
  private let server = testServer()
  private let journal = Signal<[String]>([])
  private let unary = "test.v1.Echo/Unary"

  /// Notes the calls that pass through it.
  private struct Noting: Interceptor {
    let name: String
    let journal: Signal<[String]>
    let messages = MessageAccesses(.none)

    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      let line = "\(name) \(request.method.method)"
      journal.change { $0.append(line) }
      request.onFinish { [name, journal] _ in journal.change { $0.append("\(name) finish") } }
      return try await next(request)
    }
  }

  private func noting(_ name: String) -> Noting { Noting(name: name, journal: journal) }

  /// Notes that it is concluded.
  private struct Collecting: InterceptorFactory {
    let name: String
    let journal: Signal<[String]>

    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? { nil }
    func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
      let name = name
      journal.change { $0.append(name) }
      completion()
    }
  }

  private func collecting(_ name: String) -> InterceptorRegistration {
    InterceptorRegistration(name: name, factory: Collecting(name: name, journal: journal))
  }

  private func starts(_ names: String...) -> Bool {
    journal.value.filter { !$0.hasSuffix("finish") } == names.map { "\($0) Unary" }
  }

  @Test func addedInterceptorIsUsedByLaterCallsUntilItIsRemoved() async throws {
    server.respond(to: unary, [:])
    try await withRPCClient(server, interceptors: [noting("A")]) { client in
      let second = client.addInterceptor(noting("B"))
      let first = client.addInterceptor(
        InterceptorRegistration(name: "first", factory: AsyncFactory(noting("first")), priority: 5))
      _ = try await client.unary(unary, [:])
      #expect(starts("first", "A", "B"))
      #expect(client.interceptors.map(\.name).suffix(2) == ["Noting", "first"])
      #expect(client.removeInterceptor(second))
      #expect(!client.removeInterceptor(second))
      #expect(client.removeInterceptor(first))
      _ = try await client.unary(unary, [:])
      #expect(starts("first", "A", "B", "A"))
    }
  }

  @Test func openCallKeepsItsInterceptors() async throws {
    server.handle("test.v1.Echo/Bidi") { call in ServerResponse(messages: Echo(messages: call.messages)) }
    try await withRPCClient(server) { client in
      let added = client.addInterceptor(noting("A"))
      try await client.bidirectional("test.v1.Echo/Bidi") { requests, responses in
        var messages = responses.makeAsyncIterator()
        try await requests.send(["text": "1"])
        #expect(try await messages.next()?["text"] == "1")
        client.removeInterceptor(added)
        client.addInterceptor(noting("B"))
        try await requests.send(["text": "2"])
        #expect(try await messages.next()?["text"] == "2")
        #expect(journal.value == ["A Bidi"])
        requests.finish()
        #expect(try await messages.next() == nil)
      }
      await journal.wait { $0 == ["A Bidi", "A finish"] }
    }
  }

  @Test func interceptorsMayChangeWhileCallsStart() async throws {
    server.respond(to: unary, [:])
    try await withRPCClient(server) { client in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<20 {
          group.addTask { _ = try await client.unary(unary, [:]) }
          group.addTask { client.removeInterceptor(client.addInterceptor(noting("A"))) }
        }
        try await group.waitForAll()
      }
    }
    #expect(server.calls.count == 20)
    #expect(journal.value.filter { $0 == "A Unary" }.count == journal.value.filter { $0 == "A finish" }.count)
  }

  @Test func interceptorsOfACallFollowThoseOfTheClient() async throws {
    for method in ["Unary", "Server", "Client", "Bidi"] {
      server.handle("test.v1.Echo/\(method)") { call in
        try await call.readRequest()
        return ServerResponse(messages: [[:]])
      }
    }
    try await withRPCClient(server, interceptors: [noting("A")]) { client in
      let own = [noting("own")]
      _ = try await client.unary(unary, [:], interceptors: own)
      for try await _ in try await client.serverStreaming("test.v1.Echo/Server", [:], interceptors: own) {}
      _ = try await client.clientStreaming("test.v1.Echo/Client", [[:]], interceptors: own)
      try await client.bidirectional("test.v1.Echo/Bidi", interceptors: own) { requests, responses in
        requests.finish()
        for try await _ in responses {}
      }
      _ = try await client.unary(unary, [:])
    }
    #expect(
      journal.value.filter { !$0.hasSuffix("finish") } == [
        "A Unary", "own Unary", "A Server", "own Server", "A Client", "own Client", "A Bidi", "own Bidi",
        "A Unary",
      ])
  }

  @Test func formerInterceptorsAreConcludedWhenTheClientCloses() async throws {
    server.respond(to: unary, [:])
    try await withRPCClient(server, interceptors: [collecting("kept")]) { client in
      client.removeInterceptor(client.addInterceptor(collecting("removed")))
      let own = collecting("own")
      for _ in 1...2 { _ = try await client.unary(unary, [:], interceptors: [own]) }
      let added = collecting("added")
      client.addInterceptor(added)
      _ = try await client.unary(unary, [:], interceptors: [added])
      #expect(journal.value.isEmpty)
    }
    #expect(journal.value.sorted() == ["added", "kept", "own", "removed"])
  }

  @Test func ownCallPassesThroughTheOtherInterceptors() async throws {
    struct Token: Interceptor {
      let item: MessageType
      func applies(to call: CallFacts) -> Bool { call.method.method == "Client" }
      func intercept(_ request: inout Request, next: Next) async throws -> Response {
        var own = Subrequest(method: MethodName(service: "test.v1.Echo", method: "Unary"))
        own.message = try Message(item, ["text": "who"]).serialized()
        let response = try await request.call(own)
        if let error = response.end.error { throw error }
        request.headers["token"] = try Message(item, serialized: response.message ?? [])["text"] as String
        return try await next(request)
      }
    }
    server.respond(to: unary, ["text": "secret"])
    server.handle("test.v1.Echo/Client") { call in
      try await call.readRequest()
      return ServerResponse(messages: [[:]])
    }
    let token = Token(item: try TestSchema.type())
    try await withRPCClient(server, interceptors: [token, noting("A")]) { client in
      _ = try await client.clientStreaming("test.v1.Echo/Client", [[:]])
    }
    #expect(server.calls.map(\.start.method.method) == ["Unary", "Client"])
    #expect(server.calls.last?.start.headers["token"] == "secret")
    #expect(journal.value.filter { !$0.hasSuffix("finish") } == ["A Unary", "A Client"])
  }
}
