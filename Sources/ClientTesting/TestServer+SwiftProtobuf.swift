#if SwiftProtobuf
  import RPCurlClient
  import SwiftProtobuf

  /// Responses with generated types, which need no schema.
  ///
  /// ```swift
  /// let server = TestServer()
  /// server.on(Demo.hello) { request in .with { $0.message = "Hello, \(request.name)!" } }
  /// try await withRPCClient(server) { client in
  ///   let reply = try await client.unary(Demo.hello, .with { $0.name = "Ada" })
  /// }
  /// ```
  extension TestServer {
    /// Responds to the next call of a unary method.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - body: Makes the message of the response from that of the request. An `RPCError` that it throws is sent, as in `handle`.
    public func on<Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message>(
      _ method: UnaryMethod<Input, Output>, _ body: @escaping @Sendable (Input) async throws -> Output
    ) {
      handle(method) { (requests: [Input]) in
        for request in requests { return [try await body(request)] }
        return []
      }
    }

    /// Responds to the next call of a server-streaming method.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - body: Makes the messages of the response from that of the request. An `RPCError` that it throws is sent, as in `handle`.
    public func on<Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message>(
      _ method: ServerStreamingMethod<Input, Output>,
      _ body: @escaping @Sendable (Input) async throws -> [Output]
    ) {
      handle(method) { (requests: [Input]) in
        for request in requests { return try await body(request) }
        return []
      }
    }

    /// Responds to the next call of a client-streaming method, after the whole request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - body: Makes the message of the response from those of the request. An `RPCError` that it throws is sent, as in `handle`.
    public func on<Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message>(
      _ method: ClientStreamingMethod<Input, Output>,
      _ body: @escaping @Sendable ([Input]) async throws -> Output
    ) {
      handle(method) { [try await body($0)] }
    }

    /// Responds to the next call of a bidirectional method, after the whole request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - body: Makes the messages of the response from those of the request. An `RPCError` that it throws is sent, as in `handle`.
    public func on<Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message>(
      _ method: BidirectionalMethod<Input, Output>,
      _ body: @escaping @Sendable ([Input]) async throws -> [Output]
    ) {
      handle(method) { try await body($0) }
    }

    private func handle<Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message, Kind>(
      _ method: RPCMethod<Input, Output, Kind>,
      _ body: @escaping @Sendable ([Input]) async throws -> [Output]
    ) {
      handle("\(method.name)") { call in
        let requests = try await call.readRequest().map { try Input(serializedBytes: $0.serialized()) }
        let responses = try await body(requests).map { response in
          FieldValue(
            try RPCurlClient.Message(call.responseType, serialized: response.serializedBytes() as [UInt8]))
        }
        return ServerResponse(messages: responses)
      }
    }
  }
#endif
