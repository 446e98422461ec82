import RPCurlClient

try await withRPCClient("http://localhost:50051", schema: .reflection) { client in
  do {
    let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"], timeout: .seconds(10))
    print(try reply.message["message"] as String)

    for try await item in try await client.serverStreaming("demo.v1.Demo/Count", ["from": 1, "to": 3]) {
      print(try item["number"] as Int)
    }
  } catch let error as RPCError {
    print("\(error.code.name): \(error.message)")
    for detail in await client.details(of: error) {
      print(detail.type.name, String(decoding: try detail.json(), as: UTF8.self))
    }
  }
}
