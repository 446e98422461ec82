import RPCurlBase
import RPCurlCFakeCurl
import RPCurlClient
import RPCurlClientTesting
import Testing

/// The server for tests of interceptors.
struct TestServerTests {
  // Other tests of this process use a libcurl without a network.
  init() { fake_install() }

  private func schema() throws -> Schema {
    let pool = DescriptorPool()
    try pool.add(WellKnownSchemas.services, source: "services")
    return Schema(pool)
  }

  private let check = "grpc.health.v1.Health/Check"

  @Test func responsesAreUsedInOrderAndTheLastOneAgain() async throws {
    let server = TestServer(schema: try schema())
    server.fail(check, RPCError(.unavailable, "later", origin: .server))
    server.respond(to: check, ["status": "SERVING"])
    server.respond(to: check, ["status": "NOT_SERVING"])
    try await withRPCClient(server) { client in
      await #expect(throws: RPCError.self) { try await client.unary(check, [:]) }
      for status in ["SERVING", "NOT_SERVING", "NOT_SERVING"] {
        let reply = try await client.unary(check, ["service": "a"])
        #expect(try reply.message["status"] as String == status)
      }
    }
    #expect(server.calls.count == 4)
    #expect(try server.calls.last?.messages.first?["service"] as String? == "a")
  }

  @Test func callWithoutResponseIsUnimplemented() async throws {
    let server = TestServer(schema: try schema())
    try await withRPCClient(server) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary(check, [:]) }
      #expect(error?.code == .unimplemented)
      #expect(error?.origin == .server)
    }
  }

  @Test func responseThatDoesNotFitTheMethodFailsTheCall() async throws {
    let server = TestServer(schema: try schema())
    server.respond(to: check, ["none": 1])
    try await withRPCClient(server) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary(check, [:]) }
      #expect(error?.code == .internal)
      #expect(error?.message.hasPrefix("the response of \(check) does not fit") == true)
      #expect(error?.message.contains("none") == true)
    }
  }

  private let watch = "grpc.health.v1.Health/Watch"

  /// What an interceptor sees of a response.
  private final class Observer: Interceptor {
    let seen = Locked<(start: ResponseStart?, nextThrows: Bool)>((nil, false))

    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      do {
        let response = try await next(request)
        seen.withLock { $0.start = response.start }
        return response
      } catch {
        seen.withLock { $0.nextThrows = true }
        throw error
      }
    }
  }

  @Test(arguments: ProtocolName.allCases, [true, false])
  func failuresArriveAsServersSendThem(name: ProtocolName, hasHeaders: Bool) async throws {
    let server = TestServer(schema: try schema())
    let details = [StatusDetail(typeName: "a.B", value: [1, 2])]
    let failure = RPCError(.aborted, "caf\u{E9} 100%\n", details: details, origin: .server)
    for method in [check, watch] {
      server.fail(method, failure, headers: hasHeaders ? ["h": "1"] : nil, trailers: ["t": "2"])
    }
    var options = ClientOptions()
    options.protocolName = name
    let observer = Observer()
    try await withRPCClient(server, options: options, interceptors: [observer]) { client in
      var errors: [RPCError?] = []
      errors.append(await #expect(throws: RPCError.self) { try await client.unary(check, [:]) })
      #expect(observer.seen.withLock { $0.nextThrows })
      observer.seen.withLock { $0.nextThrows = false }
      errors.append(
        await #expect(throws: RPCError.self) {
          for try await _ in try await client.serverStreaming(watch, [:]) {}
        })
      for error in errors {
        #expect(error?.code == .aborted)
        #expect(error?.message == failure.message)
        #expect(error?.details == details)
        #expect(error?.metadata["t"] == "2")
        #expect(error?.metadata["h"] == (hasHeaders ? "1" : nil))
      }
    }
    // Only the start of a trailers-only response of gRPC shows how a stream ends.
    let seen = observer.seen.withLock { $0 }
    #expect(seen.nextThrows == (name == .grpc && !hasHeaders))
    #expect(seen.nextThrows || seen.start?.headers["content-type"]?.hasPrefix("application/") == true)
  }

  @Test(arguments: ProtocolName.allCases)
  func streamsFailAfterMessages(name: ProtocolName) async throws {
    let server = TestServer(schema: try schema())
    server.fail(
      watch, RPCError(.unavailable, "later", origin: .server), after: ["status": "SERVING"],
      ["status": "NOT_SERVING"])
    var options = ClientOptions()
    options.protocolName = name
    options.codec = .json
    options.compression = .gzip
    try await withRPCClient(server, options: options) { client in
      var texts: [String] = []
      let error = await #expect(throws: RPCError.self) {
        for try await item in try await client.serverStreaming(watch, ["service": "a"]) {
          texts.append(try item["status"] as String)
        }
      }
      #expect(texts == ["SERVING", "NOT_SERVING"])
      #expect(error?.code == .unavailable)
    }
    #expect(try server.calls.first?.messages.first?["service"] as String? == "a")
  }

  @Test func errorsOfHandlersHaveTheCodeUnknown() async throws {
    struct Failure: Error {}
    let server = TestServer(schema: try schema())
    server.handle(check) { _ in throw Failure() }
    try await withRPCClient(server) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary(check, [:]) }
      #expect(error?.code == .unknown)
      #expect(error?.origin == .server)
    }
  }

  @Test func requestsArriveWithTheFieldsOfClients() async throws {
    let server = TestServer(schema: try schema())
    server.respond(to: check, [:])
    var options = ClientOptions()
    options.userAgent = "tests/1"
    try await withRPCClient(server, options: options) { client in
      _ = try await client.unary(check, [:], headers: ["x-a": "1"])
      let error = await #expect(throws: RPCError.self) {
        try await client.unary(check, [:], headers: ["x-a": "caf\u{E9}"])
      }
      // gRPC forbids it.
      #expect(error?.origin != .server)
    }
    #expect(server.calls.map { $0.start.headers["user-agent"] } == ["tests/1"])
    #expect(server.calls.map { $0.start.headers["x-a"] } == ["1"])
  }

  @Test func clientMayBeMadeWithoutScope() async throws {
    let server = TestServer(schema: try schema())
    server.respond(to: check, [:])
    let client = RPCClient(server)
    _ = try await client.unary(check, [:])
    await client.close()
    let error = await #expect(throws: RPCError.self) { try await client.unary(check, [:]) }
    #expect(error?.code == .canceled)
  }
}
