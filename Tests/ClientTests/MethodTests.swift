import RPCurlClientTesting
import Testing

@testable import RPCurlClient

/// Methods whose kind is a type, and their check against a schema.
struct MethodTests {
  private let server = testServer()
  private let schema = TestSchema.schema

  private typealias Dynamic<Kind: MethodKind> = RPCMethod<FieldValue, Message, Kind>
  private typealias Bytes<Kind: MethodKind> = RPCMethod<[UInt8], [UInt8], Kind>

  private func bytes<Kind>(
    _ method: String, service: String = "test.v1.Echo", messages: MessageNames? = nil
  ) -> Bytes<Kind> {
    Bytes(
      MethodName(service: service, method: method), messages: messages, serialize: { $0 }, parse: { $0 })
  }

  /// The error of what a schema does not confirm.
  private func failure<Kind: MethodKind>(_ name: String, in schema: Schema, _ kind: Kind.Type) -> RPCError? {
    #expect(throws: RPCError.self) { _ = try schema.method(name) as Dynamic<Kind> }
  }

  @Test func methodsOfASchemaAreCalled() async throws {
    for method in ["Unary", "Server", "Client", "Bidi"] {
      server.handle("test.v1.Echo/\(method)") { call in
        ServerResponse(messages: [FieldValue(try await call.readRequest()[0])])
      }
    }
    let unary: UnaryMethod = try schema.method("test.v1.Echo/Unary")
    let serverStreaming: ServerStreamingMethod = try schema.method("test.v1.Echo/Server")
    let clientStreaming: ClientStreamingMethod = try schema.method("test.v1.Echo/Client")
    let bidirectional: BidirectionalMethod = try schema.method("test.v1.Echo/Bidi")
    #expect("\(unary.name)" == "test.v1.Echo/Unary")
    try await withRPCClient(server) { client in
      let reply = try await client.unary(unary, ["text": "a"]).message
      #expect(try reply["text"] as String == "a")
      let again = try await client.unary(unary, reply)
      #expect(try again.message["text"] as String == "a")
      for stream in [
        try await client.serverStreaming(serverStreaming, ["text": "b"]),
        try await client.serverStreaming(serverStreaming, try Message(reply.type, ["text": "b"])),
      ] {
        for try await item in stream { #expect(try item["text"] as String == "b") }
      }
      let sum = try await client.clientStreaming(clientStreaming, [["text": "c"], ["text": "d"]])
      #expect(try sum.message["text"] as String == "c")
      try await client.bidirectional(bidirectional) { requests, responses in
        try await requests.send(["text": "e"])
        requests.finish()
        for try await item in responses { #expect(try item["text"] as String == "e") }
      }
    }
    #expect(server.calls.count == 6)
  }

  @Test func clientFindsMethodsOfItsSchema() async throws {
    server.respond(to: "test.v1.Echo/Unary", ["text": "a"])
    try await withRPCClient(server) { client in
      let unary: UnaryMethod = try await client.method("test.v1.Echo/Unary")
      let reply = try await client.unary(unary, [:])
      #expect(try reply.message["text"] as String == "a")
      let error = await #expect(throws: RPCError.self) {
        _ = try await client.method("test.v1.Echo/Server") as Dynamic<CallKind.Unary>
      }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func methodCarriesItsSchema() async throws {
    let server = testServer(.none)
    server.handle("test.v1.Echo/Unary") { call in
      ServerResponse(messages: [FieldValue(try await call.readRequest()[0])])
    }
    let unary: UnaryMethod = try schema.method("test.v1.Echo/Unary")
    try await withRPCClient(server) { client in
      let reply = try await client.unary(unary, ["text": "a"])
      #expect(try reply.message["text"] as String == "a")
    }
  }

  @Test(arguments: [
    ("test.v1.Echo/Unry", "; did you mean test.v1.Echo/Unary?"),
    ("Echo/Unary", "; did you mean test.v1.Echo/Unary?"),
    ("test.v1.Echo.Servers", "; did you mean test.v1.Echo/Server?"),
    ("test.v1.Eco/Unary", "; did you mean test.v1.Echo/Unary?"), ("test.v1.Echo/Nothing", ""),
    ("other.Service/Method", ""),
  ])
  func unknownNameNamesSimilarOnes(_ name: String, _ question: String) throws {
    let error = try #require(failure(name, in: schema, CallKind.Unary.self))
    #expect(error.code == .unimplemented)
    #expect(error.origin == .request)
    let path = name == "test.v1.Echo.Servers" ? "test.v1.Echo/Servers" : name
    #expect(error.message == "\(path) is not in the schema\(question)")
  }

  @Test func wrongNamesAndKindsAreErrors() throws {
    let kind = try #require(failure("test.v1.Echo/Server", in: schema, CallKind.Unary.self))
    #expect(kind.code == .invalidArgument)
    #expect(kind.message == "test.v1.Echo/Server is a method of the kind server_streaming, not unary")
    #expect(failure("test.v1.Echo/Bidi", in: schema, CallKind.ClientStreaming.self)?.code == .invalidArgument)
    #expect(failure("nothing", in: schema, CallKind.Unary.self)?.code == .invalidArgument)
    for source in [Schema.reflection, .none] {
      #expect(failure("a.B/C", in: source, CallKind.Unary.self)?.code == .failedPrecondition)
    }
  }

  @Test func schemaChecksGeneratedTypes() async throws {
    for method in ["Unary", "Server"] { server.respond(to: "test.v1.Echo/\(method)", [:]) }
    let item = "test.v1.Item"
    try await withRPCClient(server) { client in
      _ = try await client.unary(bytes("Unary", messages: (item, item)), [])
      for (method, code, why) in [
        (
          bytes("Server"), .invalidArgument,
          "test.v1.Echo/Server is a method of the kind server_streaming, not unary"
        ),
        (
          bytes("Unry"), .unimplemented,
          "test.v1.Echo/Unry is not in the schema; did you mean test.v1.Echo/Unary?"
        ),
        (
          bytes("Unary", messages: ("a.Request", item)), .invalidArgument,
          "the request of test.v1.Echo/Unary is a test.v1.Item, not a a.Request"
        ),
        (
          bytes("Unary", messages: (item, "a.Reply")), .invalidArgument,
          "the response of test.v1.Echo/Unary is a test.v1.Item, not a a.Reply"
        ),
      ] as [(Bytes<CallKind.Unary>, StatusCode, String)] {
        let error = await #expect(throws: RPCError.self) { try await client.unary(method, []) }
        #expect(error?.code == code)
        #expect(error?.message == why)
      }
    }
    #expect(server.calls.count == 1)
  }

  /// The kind belongs to the method, not to its name.
  @Test func methodsOfOneNameDifferInKindWithoutASchema() async throws {
    let server = testServer(.none)
    server.handle("a.B/C") { call in
      ServerResponse(messages: try await call.readRequest().map { FieldValue($0) })
    }
    try await withRPCClient(server) { client in
      let unary: UnaryMethod<[UInt8], [UInt8]> = bytes("C", service: "a.B")
      let reply = try await client.unary(unary, [8, 1])
      #expect(reply.message == [8, 1])
      let streaming: ClientStreamingMethod<[UInt8], [UInt8]> = bytes("C", service: "a.B")
      let sum = try await client.clientStreaming(streaming, [[8, 2]])
      #expect(sum.message == [8, 2])
    }
  }

  @Test func dynamicMessagesNeedASchema() async throws {
    try await withRPCClient(testServer(.none)) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary("a.B/C", [:]) }
      #expect(error?.code == .failedPrecondition)
    }
  }
}
