import RPCurlClient
import RPCurlClientInterceptors
import Testing

@Test func greets() async throws {
  // greet.json: {"method": "demo.v1.Demo/Hello", "response": {"message": {"message": "Hello, Ada!"}}}
  let mock = try BuiltIn("mock", ["file": "greet.json"])
  let schema = try Schema(descriptorSet: "demo.binpb")
  try await withRPCClient("http://localhost:50051", schema: schema, interceptors: [mock]) { client in
    let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
    #expect(try reply.message["message"] as String == "Hello, Ada!")
  }
}
