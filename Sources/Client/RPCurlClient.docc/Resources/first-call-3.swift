import RPCurlClient

try await withRPCClient("http://localhost:50051", schema: .reflection) { client in
  let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"], timeout: .seconds(10))
  print(try reply.message["message"] as String)

  for try await item in try await client.serverStreaming("demo.v1.Demo/Count", ["from": 1, "to": 3]) {
    print(try item["number"] as Int)
  }
}
