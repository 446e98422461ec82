import RPCurlClient

try await withRPCClient("http://localhost:50051", schema: .reflection) { client in
  let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"], timeout: .seconds(10))
  print(try reply.message["message"] as String)
}
