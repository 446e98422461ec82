// The workloads with grpc-swift-2 and its own transport, each call as its generated code makes it:
// grpc-swift-client PORT WORKLOAD COUNT
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import Workloads

struct Client: BenchClient {
  let grpc: GRPCClient<HTTP2ClientTransport.Posix>
  let serializer = ProtobufSerializer<Bench_V1_Item>()
  let deserializer = ProtobufDeserializer<Bench_V1_Item>()

  func method(_ name: String) -> MethodDescriptor {
    MethodDescriptor(fullyQualifiedService: "bench.v1.Bench", method: name)
  }

  func unary(_ name: String, name text: String, id: Int) async throws -> Int {
    let item = Bench_V1_Item.with {
      $0.name = text
      $0.id = Int64(id)
    }
    let reply = try await grpc.unary(
      request: ClientRequest(message: item), descriptor: method(name), serializer: serializer,
      deserializer: deserializer, options: .defaults
    ) { try $0.message }
    return Int(reply.id)
  }

  func receive(name text: String, id: Int) async throws -> Int {
    let item = Bench_V1_Item.with {
      $0.name = text
      $0.id = Int64(id)
    }
    return try await grpc.serverStreaming(
      request: ClientRequest(message: item), descriptor: method("Receive"),
      serializer: serializer, deserializer: deserializer, options: .defaults
    ) { response in
      var received = 0
      for try await item in response.messages where item.id == 5 { received += 1 }
      return received
    }
  }

  func send(_ count: Int) async throws -> Int {
    let reply = try await grpc.clientStreaming(
      request: StreamingClientRequest { writer in
        for _ in 0..<count {
          try await writer.write(
            .with {
              $0.name = itemName
              $0.id = 5
            })
        }
      }, descriptor: method("Send"), serializer: serializer, deserializer: deserializer, options: .defaults
    ) { try $0.message }
    return Int(reply.id)
  }
}

runWorkload { workload in
  let transport = try HTTP2ClientTransport.Posix(
    target: .ipv4(address: "127.0.0.1", port: workload.port), transportSecurity: .plaintext)
  try await withGRPCClient(transport: transport) { try await workload.run(Client(grpc: $0)) }
}
