import RPCurlClient
import RPCurlClientInterceptors
import Testing

@Test func record() async throws {
  let record = try BuiltIn("record", ["file": "greet.cassette"])
  let schema = try Schema(descriptorSet: "demo.binpb")
  try await withRPCClient("http://localhost:50051", schema: schema, interceptors: [record]) { client in
    _ = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
  }
}
