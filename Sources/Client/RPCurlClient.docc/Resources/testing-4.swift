import RPCurlClient
import RPCurlClientInterceptors
import Testing

@Test func greets() async throws {
  let replay = try BuiltIn("replay", ["file": "greet.cassette"])
  let schema = try Schema(descriptorSet: "demo.binpb")
  try await withRPCClient("http://localhost:50051", schema: schema, interceptors: [replay]) { client in
    let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
    #expect(try reply.message["message"] as String == "Hello, Ada!")
  }
}
