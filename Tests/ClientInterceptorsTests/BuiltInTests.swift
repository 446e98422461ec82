import RPCurlCFakeCurl
import RPCurlClient
import RPCurlClientInterceptors
import RPCurlClientTesting
import RPCurlCommandSupport
import Testing

/// Built-in interceptors in the calls of Swift programs.
@Suite(.timeLimit(.minutes(10))) struct BuiltInTests {
  private let check = "grpc.health.v1.Health/Check"
  private let schema: Schema
  private let server: TestServer

  init() throws {
    // Other tests of this process use a libcurl without a network.
    fake_install()
    let pool = DescriptorPool()
    try pool.add(WellKnownSchemas.services, source: "services")
    schema = Schema(pool)
    server = TestServer(schema: schema)
  }

  @Test func settingsAreThoseOfTheManual() async throws {
    server.fail(check, RPCError(.unavailable, "1", origin: .server))
    server.fail(check, RPCError(.unavailable, "2", origin: .server))
    server.respond(to: check, ["status": "SERVING"])
    let retry = try BuiltIn("retry", ["attempts": "3", "initial": "1ms", "jitter": "0"])
    let header = try BuiltIn("header", ["set": "x-tenant:a,b", "after": "retry"])
    try await withRPCClient(server, interceptors: [header, retry]) { client in
      let reply = try await client.unary(check, [:])
      #expect(try reply.message["status"] as String == "SERVING")
    }
    #expect(server.calls.map { $0.start.headers["x-tenant"] } == ["a,b", "a,b", "a,b"])
  }

  @Test func settingsMayBeWrittenAsOnTheCommandLine() async throws {
    server.respond(to: check, [:])
    let header = try BuiltIn(parsing: "header,set=x-tenant:a,,b,methods=*/Watch+*/Check")
    try await withRPCClient(server, interceptors: [header]) { client in
      _ = try await client.unary(check, [:])
    }
    #expect(server.calls.first?.start.headers["x-tenant"] == "a,b")
  }

  @Test func mockRespondsWithoutAServer() async throws {
    let directory = try #require(TemporaryDirectory())
    defer { directory.remove() }
    let stubs =
      #"{"method":"\#(check)","request":{"service":"a"},"response":{"message":{"status":"SERVING"}}}"#
    let file = directory.write("stubs.json", stubs.utf8)
    let mock = try BuiltIn("mock", ["file": file])
    try await withRPCClient("http://test.invalid", schema: schema, interceptors: [mock]) { client in
      let reply = try await client.unary(check, ["service": "a"])
      #expect(try reply.message["status"] as String == "SERVING")
      let error = await #expect(throws: RPCError.self) { try await client.unary(check, ["service": "b"]) }
      #expect(error?.code == .unimplemented)
      #expect(error?.origin == .interceptor("mock"))
    }
  }

  @Test func recordedCallsAreReplayed() async throws {
    let directory = try #require(TemporaryDirectory())
    defer { directory.remove() }
    let file = "\(directory.path)/calls.cassette"
    server.respond(to: check, ["status": "NOT_SERVING"])
    try await withRPCClient(server, interceptors: [try BuiltIn("record", ["file": file])]) { client in
      _ = try await client.unary(check, ["service": "a"])
    }
    let replay = try BuiltIn("replay", ["file": file])
    try await withRPCClient("http://test.invalid", schema: schema, interceptors: [replay]) { client in
      let reply = try await client.unary(check, ["service": "a"])
      #expect(try reply.message["status"] as String == "NOT_SERVING")
    }
    #expect(server.calls.count == 1)
  }

  @Test func oneInterceptorServesSeveralClients() async throws {
    server.respond(to: check, [:])
    let limit = try BuiltIn("limit", ["concurrency": "1"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [server, check] in
          try await withRPCClient(server, interceptors: [limit]) { client in
            for _ in 0..<20 { _ = try await client.unary(check, [:]) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(server.calls.count == 80)
  }

  @Test func clientsShareATokenAlsoIfTheCallThatFetchesItIsCanceled() async throws {
    server.respond(to: check, [:])
    let directory = try #require(TemporaryDirectory())
    defer { directory.remove() }
    let (path, check) = (directory.path, check)
    // A fetch lasts until the test has written the token. If the second call waits already when the first one is canceled,
    // the fetch goes on for it; otherwise it makes another one.
    let command = "touch \(path)/$$; until [ -s \(path)/token ]; do sleep 0.01; done; cat \(path)/token"
    let auth = try BuiltIn(
      parsing: "auth,bearer=cmd:sh -c '\(command)',hosts=test.invalid,allow-plaintext=true")
    let first = RPCClient(server, interceptors: [auth])
    let second = RPCClient(server, interceptors: [auth])
    let fetching = Task { try await first.unary(check, [:]) }
    while directory.names.isEmpty { await Task.yield() }
    let waiting = Task { try await second.unary(check, [:]) }
    fetching.cancel()
    _ = try? await fetching.value
    directory.write("token", "secret".utf8)
    _ = try await waiting.value
    #expect(server.calls.map { $0.start.headers["authorization"] } == ["Bearer secret"])
    await first.close()
    await second.close()
  }

  @Test(arguments: [
    ("rety", "did you mean retry?"), ("none", "no built-in interceptor has this name"),
    ("retry,attempts=0", "attempts"),
    ("retry,none=1", "unknown key"), ("mock,file=/nonexistent/stubs", "/nonexistent/stubs"),
    ("header,set", "KEY=VALUE"), ("header,set=env:RPCURL_NO_SUCH_VARIABLE", "is not set"),
  ])
  func invalidSettingsAreErrors(_ text: String, _ reason: String) throws {
    let error = #expect(throws: RPCError.self) { try BuiltIn(parsing: text) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains(reason) == true)
    #expect(error?.origin == .configuration(String(text.prefix { $0 != "," })))
  }
}
