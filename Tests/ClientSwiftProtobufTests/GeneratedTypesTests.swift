// With `swift test --traits SwiftProtobuf`, and in the build of the sample package (Tests/EndToEnd/swift_examples.py).
#if SwiftProtobuf
  import RPCurlClient
  import RPCurlCFakeCurl
  import RPCurlClientSwiftProtobuf
  import RPCurlClientTesting
  import SwiftProtobuf
  import Testing

  /// Calls with generated types, those of the well-known types.
  struct GeneratedTypesTests {
    private typealias Words<Kind: MethodKind> = RPCMethod<
      Google_Protobuf_StringValue, Google_Protobuf_StringValue, Kind
    >

    /// Reverses the bytes of the text of each message.
    private func server() -> TestServer {
      fake_install()
      let server = TestServer(schema: .none)
      for method in ["Unary", "Server", "Client", "Bidi"] {
        server.handle("test.v1.Words/\(method)") { call in
          ServerResponse(messages: Copies(messages: call.messages))
        }
      }
      return server
    }

    private func method<Kind>(_ name: String) -> Words<Kind> { Words(service: "test.v1.Words", method: name) }

    /// The schema of the server.
    private func schema() throws -> Schema {
      let set = Google_Protobuf_FileDescriptorSet.with {
        $0.file = [
          .with { file in
            file.name = "google/protobuf/wrappers.proto"
            file.package = "google.protobuf"
            file.syntax = "proto3"
            file.messageType = [
              .with { message in
                message.name = "StringValue"
                message.field = [
                  .with {
                    $0.name = "value"
                    $0.number = 1
                    $0.label = .optional
                    $0.type = .string
                  }
                ]
              }
            ]
          },
          .with { file in
            file.name = "words.proto"
            file.package = "test.v1"
            file.syntax = "proto3"
            file.dependency = ["google/protobuf/wrappers.proto"]
            file.service = [
              .with { service in
                service.name = "Words"
                service.method = [("Unary", false), ("Server", true)].map { name, streams in
                  .with {
                    $0.name = name
                    $0.inputType = ".google.protobuf.StringValue"
                    $0.outputType = ".google.protobuf.StringValue"
                    $0.serverStreaming = streams
                  }
                }
              }
            ]
          },
        ]
      }
      return try Schema(descriptorSet: set.serializedBytes())
    }

    @Test func callsOfAllKindsHaveGeneratedTypes() async throws {
      try await withRPCClient(server()) { client in
        let reply = try await client.unary(method("Unary"), .with { $0.value = "a" })
        #expect(reply.message.value == "a")
        var texts: [String] = []
        for try await item in try await client.serverStreaming(
          method("Server"), .with { $0.value = "b" })
        { texts.append(item.value) }
        let (requests, continuation) = AsyncStream.makeStream(of: Google_Protobuf_StringValue.self)
        continuation.yield(.with { $0.value = "c" })
        continuation.finish()
        texts.append(
          try await client.clientStreaming(method("Client"), requests).message.value)
        try await client.bidirectional(method("Bidi")) { requests, responses in
          try await requests.send(.with { $0.value = "d" })
          requests.finish()
          for try await item in responses { texts.append(item.value) }
        }
        #expect(texts == ["b", "c", "d"])
      }
    }

    @Test func schemaChecksKindAndMessages() async throws {
      let schema = try schema()
      let unary: UnaryMethod<Google_Protobuf_StringValue, Google_Protobuf_StringValue> =
        try schema.method("test.v1.Words/Unary")
      try await withRPCClient(server()) { client in
        let reply = try await client.unary(unary, .with { $0.value = "a" })
        #expect(reply.message.value == "a")
      }
      typealias Other<Kind: MethodKind> = RPCMethod<
        Google_Protobuf_StringValue, Google_Protobuf_Struct, Kind
      >
      let errors = [
        #expect(throws: RPCError.self) {
          _ = try schema.method("test.v1.Words/Server") as Words<CallKind.Unary>
        },
        #expect(throws: RPCError.self) {
          _ = try schema.method("test.v1.Words/Unary") as Other<CallKind.Unary>
        },
        #expect(throws: RPCError.self) {
          _ = try schema.method("test.v1.Words/Uniry") as Words<CallKind.Unary>
        },
      ]
      #expect(
        errors.map { $0?.message } == [
          "test.v1.Words/Server is a method of the kind server_streaming, not unary",
          "the response of test.v1.Words/Unary is a google.protobuf.StringValue, not a google.protobuf.Struct",
          "test.v1.Words/Uniry is not in the schema; did you mean test.v1.Words/Unary?",
        ])
      try await withRPCClient("http://test.invalid", schema: schema) { client in
        let error = await #expect(throws: RPCError.self) {
          try await client.unary(Other(service: "test.v1.Words", method: "Unary"), .init())
        }
        #expect(error?.code == .invalidArgument)
      }
    }

    @Test func responseThatCannotBeParsedIsAnError() async throws {
      let method = UnaryMethod<Google_Protobuf_StringValue, Google_Protobuf_Struct>(
        service: "test.v1.Words", method: "Unary")
      try await withRPCClient(server()) { client in
        let error = await #expect(throws: RPCError.self) {
          try await client.unary(method, .with { $0.value = "\u{1}" })
        }
        #expect(error?.code == .internal)
        #expect(error?.origin == .violation)
      }
    }

    @Test func testServerRespondsWithGeneratedTypes() async throws {
      fake_install()
      let server = TestServer()
      let unary: Words<CallKind.Unary> = method("Unary")
      let stream: Words<CallKind.ServerStreaming> = method("Server")
      let upload: Words<CallKind.ClientStreaming> = method("Client")
      let both: Words<CallKind.Bidirectional> = method("Bidi")
      server.on(unary) { request in .with { $0.value = request.value + "!" } }
      server.on(stream) { request in request.value.map { letter in .with { $0.value = "\(letter)" } } }
      server.on(upload) { requests in .with { $0.value = requests.map(\.value).joined() } }
      server.on(both) { requests in requests.reversed() }
      server.on(unary) { request in
        let detail = try StatusDetail(Google_Protobuf_StringValue.with { $0.value = "why" })
        throw RPCError(.aborted, "no \(request.value)", details: [detail], origin: .server)
      }
      try await withRPCClient(server) { client in
        #expect(try await client.unary(unary, .with { $0.value = "a" }).message.value == "a!")
        let error = await #expect(throws: RPCError.self) {
          try await client.unary(unary, .with { $0.value = "b" })
        }
        #expect(error?.message == "no b")
        #expect(try error?.details(of: Google_Protobuf_StringValue.self).map(\.value) == ["why"])
        var texts: [String] = []
        for try await item in try await client.serverStreaming(stream, .with { $0.value = "xy" }) {
          texts.append(item.value)
        }
        let (requests, continuation) = AsyncStream.makeStream(of: Google_Protobuf_StringValue.self)
        for text in ["c", "d"] { continuation.yield(.with { $0.value = text }) }
        continuation.finish()
        texts.append(try await client.clientStreaming(upload, requests).message.value)
        try await client.bidirectional(both) { requests, responses in
          for text in ["e", "f"] { try await requests.send(.with { $0.value = text }) }
          requests.finish()
          for try await item in responses { texts.append(item.value) }
        }
        #expect(texts == ["x", "y", "cd", "f", "e"])
      }
    }

    @Test func detailsOfErrorsHaveGeneratedTypes() throws {
      let value: [UInt8] = try Google_Protobuf_StringValue.with { $0.value = "x" }.serializedBytes()
      let error = RPCError(
        .aborted, "", details: [StatusDetail(typeName: "google.protobuf.StringValue", value: value)],
        origin: .server)
      #expect(try error.details(of: Google_Protobuf_StringValue.self).map(\.value) == ["x"])
      #expect(try error.details(of: Google_Protobuf_Int32Value.self).isEmpty)
    }
  }

  /// The messages of a request as those of a response.
  private struct Copies: AsyncSequence, Sendable {
    typealias Failure = any Error

    let messages: AsyncMessages

    struct AsyncIterator: AsyncIteratorProtocol {
      var messages: any AsyncIteratorProtocol<RPCurlClient.Message, any Error>
      mutating func next() async throws -> FieldValue? {
        try await messages.next(isolation: #isolation).map { FieldValue($0) }
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(messages: messages.makeAsyncIterator()) }
  }
#endif
