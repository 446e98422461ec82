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
      #expect(error?.message.contains("none") == true)
    }
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
