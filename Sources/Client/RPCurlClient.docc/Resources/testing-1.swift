import RPCurlClient
import RPCurlClientTesting
import Testing

@Test func greets() async throws {
  let server = TestServer(schema: try Schema(descriptorSet: "demo.binpb"))
  server.fail("demo.v1.Demo/Hello", RPCError(.unavailable, "later", origin: .server))
  server.respond(to: "demo.v1.Demo/Hello", ["message": "Hello, Ada!"])
  try await withRPCClient(server) { client in
    await #expect(throws: RPCError.self) { try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"]) }
    let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
    #expect(try reply.message["message"] as String == "Hello, Ada!")
  }
  #expect(server.calls.count == 2)
}
