// With `swift test --traits SwiftProtobuf`.
#if SwiftProtobuf
  import RPCurlClient
  import RPCurlCFakeCurl
  import RPCurlClientSwiftProtobuf
  import RPCurlClientTesting
  import SwiftProtobuf
  import Testing

  /// Calls with generated types, those of the well-known types.
  struct GeneratedTypesTests {
    private typealias Method = RPCMethod<Google_Protobuf_StringValue, Google_Protobuf_StringValue>

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

    private func method(_ name: String, _ kind: CallKind) -> Method {
      Method(service: "test.v1.Words", method: name, kind: kind)
    }

    @Test func callsOfAllKindsHaveGeneratedTypes() async throws {
      try await withRPCClient(server()) { client in
        let reply = try await client.unary(method("Unary", .unary), .with { $0.value = "a" })
        #expect(reply.message.value == "a")
        var texts: [String] = []
        for try await item in try await client.serverStreaming(
          method("Server", .serverStreaming), .with { $0.value = "b" })
        { texts.append(item.value) }
        let (requests, continuation) = AsyncStream.makeStream(of: Google_Protobuf_StringValue.self)
        continuation.yield(.with { $0.value = "c" })
        continuation.finish()
        texts.append(
          try await client.clientStreaming(method("Client", .clientStreaming), requests).message.value)
        try await client.bidirectional(method("Bidi", .bidiStreaming)) { requests, responses in
          try await requests.send(.with { $0.value = "d" })
          requests.finish()
          for try await item in responses { texts.append(item.value) }
        }
        #expect(texts == ["b", "c", "d"])
      }
    }

    @Test func kindOfTheMethodMustFit() async throws {
      try await withRPCClient(server()) { client in
        let error = await #expect(throws: RPCError.self) {
          try await client.unary(method("Server", .serverStreaming), .init())
        }
        #expect(error?.code == .invalidArgument)
      }
    }

    @Test func responseThatCannotBeParsedIsAnError() async throws {
      let method = RPCMethod<Google_Protobuf_StringValue, Google_Protobuf_Struct>(
        service: "test.v1.Words", method: "Unary")
      try await withRPCClient(server()) { client in
        let error = await #expect(throws: RPCError.self) {
          try await client.unary(method, .with { $0.value = "\u{1}" })
        }
        #expect(error?.code == .internal)
        #expect(error?.origin == .violation)
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
