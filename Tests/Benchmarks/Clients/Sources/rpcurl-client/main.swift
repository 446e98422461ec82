// The workloads with this library: rpcurl-client generated|DESCRIPTOR-SET PORT WORKLOAD COUNT
import RPCurlClient
import RPCurlClientSwiftProtobuf
import Workloads

/// With the types that swift-protobuf generates.
struct GeneratedClient: BenchClient {
  typealias Item = Bench_V1_Item
  let client: RPCClient
  let methods = ["Unary", "Gate"].reduce(into: [:]) {
    $0[$1] = UnaryMethod<Item, Item>(service: "bench.v1.Bench", method: $1)
  }
  let receive = ServerStreamingMethod<Item, Item>(service: "bench.v1.Bench", method: "Receive")
  let send = ClientStreamingMethod<Item, Item>(service: "bench.v1.Bench", method: "Send")

  func unary(_ name: String, name text: String, id: Int) async throws -> Int {
    guard let method = methods[name] else { throw Failure("no method \(name)") }
    let item = Item.with {
      $0.name = text
      $0.id = Int64(id)
    }
    return Int(try await client.unary(method, item).message.id)
  }

  func receive(name text: String, id: Int) async throws -> Int {
    let request = Item.with {
      $0.name = text
      $0.id = Int64(id)
    }
    var received = 0
    for try await item in try await client.serverStreaming(receive, request) where item.id == 5 {
      received += 1
    }
    return received
  }

  func send(_ count: Int) async throws -> Int {
    let items = Items(count: count) {
      Item.with {
        $0.name = itemName
        $0.id = 5
      }
    }
    return Int(try await client.clientStreaming(send, items).message.id)
  }
}

/// With dynamic messages and a schema.
struct DynamicClient: BenchClient {
  let client: RPCClient

  func unary(_ name: String, name text: String, id: Int) async throws -> Int {
    try await client.unary("bench.v1.Bench/\(name)", ["name": text, "id": id]).message["id"]
  }

  func receive(name text: String, id: Int) async throws -> Int {
    var received = 0
    for try await item in try await client.serverStreaming(
      "bench.v1.Bench/Receive", ["name": text, "id": id])
    where try item["id"] as Int == 5 { received += 1 }
    return received
  }

  func send(_ count: Int) async throws -> Int {
    let items = Items(count: count) { ["name": itemName, "id": 5] as FieldValue }
    return try await client.clientStreaming("bench.v1.Bench/Send", items).message["id"]
  }
}

/// The same item, many times.
struct Items<Element: Sendable>: AsyncSequence, Sendable {
  let count: Int
  let make: @Sendable () -> Element

  struct AsyncIterator: AsyncIteratorProtocol {
    var remaining: Int
    let make: @Sendable () -> Element

    mutating func next() async -> Element? {
      guard remaining > 0 else { return nil }
      remaining -= 1
      return make()
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(remaining: count, make: make) }
}

let form = CommandLine.arguments.dropFirst().first ?? ""
runWorkload { workload in
  let schema = form == "generated" ? Schema.none : try Schema(descriptorSet: form)
  // One of the programs that are compared has the system's.
  var options = ClientOptions()
  options.allowsOldLibcurl = true
  try await withRPCClient("http://127.0.0.1:\(workload.port)", schema: schema, options: options) { client in
    if form == "generated" {
      try await workload.run(GeneratedClient(client: client))
    } else {
      try await workload.run(DynamicClient(client: client))
    }
  }
}
