import RPCurlProtobuf
import RPCurlProtocols

/// Calls with a stream of responses, of requests, or of both.
extension RPCClient {
  // MARK: Server streaming

  /// Makes a server-streaming call with a message of any schema.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - message: The message of the request, such as `["from": 1]`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The messages of the response. If the stream is released before its end, the call is canceled.
  /// - Throws: An error of the request. Errors of the call are thrown where the messages are read.
  public func serverStreaming(
    _ method: String, _ message: FieldValue, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> ResponseStream<Message> {
    let method = try await resolve(method) { $0 == .serverStreaming }
    return ResponseStream(
      call: try startWhole(method, message, CallParameters(headers, timeout, interceptors)),
      decode: method.decode)
  }

  /// Makes a server-streaming call with a message of any schema.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - message: The message of the request.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The messages of the response. If the stream is released before its end, the call is canceled.
  /// - Throws: An error of the request. Errors of the call are thrown where the messages are read.
  public func serverStreaming(
    _ method: String, _ message: Message, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> ResponseStream<Message> {
    try await serverStreaming(
      method, FieldValue(message), headers: headers, timeout: timeout, interceptors: interceptors)
  }

  /// Makes a server-streaming call with generated types.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - message: The message of the request.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The messages of the response. If the stream is released before its end, the call is canceled.
  /// - Throws: An error of the request. Errors of the call are thrown where the messages are read.
  public func serverStreaming<Input, Output>(
    _ method: RPCMethod<Input, Output>, _ message: Input, headers: Headers = Headers(),
    timeout: Duration? = nil, interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> ResponseStream<Output> {
    let method = try resolve(method, .serverStreaming)
    return ResponseStream(
      call: try startWhole(method, message, CallParameters(headers, timeout, interceptors)),
      decode: method.decode)
  }

  // MARK: Client streaming

  /// Makes a client-streaming call with messages of any schema.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - messages: The messages of the request, which are sent as they arrive and as the server reads them.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call, or of the sequence. If the task is canceled, the call is canceled.
  public func clientStreaming<Messages: AsyncSequence & Sendable>(
    _ method: String, _ messages: Messages, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws -> UnaryResponse<Message> where Messages.Element: FieldValueConvertible {
    let method = try await resolve(method) { $0 == .clientStreaming }
    return try await clientStreaming(method, CallParameters(headers, timeout, interceptors)) { writer in
      for try await message in messages {
        guard try await writer.call.send(try writer.encode(FieldValue(message))) else { return }
      }
    }
  }

  /// Makes a client-streaming call with messages of any schema.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - messages: The messages of the request, such as `[["value": 1], ["value": 2]]`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call. If the task is canceled, the call is canceled.
  public func clientStreaming(
    _ method: String, _ messages: [FieldValue], headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws -> UnaryResponse<Message> {
    let method = try await resolve(method) { $0 == .clientStreaming }
    return try await clientStreaming(method, CallParameters(headers, timeout, interceptors)) { writer in
      for message in messages {
        guard try await writer.call.send(try writer.encode(message)) else { return }
      }
    }
  }

  /// Makes a client-streaming call with generated types.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - messages: The messages of the request, which are sent as they arrive and as the server reads them.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call, or of the sequence. If the task is canceled, the call is canceled.
  public func clientStreaming<Input, Output, Messages: AsyncSequence & Sendable>(
    _ method: RPCMethod<Input, Output>, _ messages: Messages, headers: Headers = Headers(),
    timeout: Duration? = nil, interceptors: [any ChainMember] = []
  ) async throws -> UnaryResponse<Output> where Messages.Element == Input {
    try await clientStreaming(
      try resolve(method, .clientStreaming), CallParameters(headers, timeout, interceptors)
    ) { writer in
      try await writer.send(contentsOf: messages)
    }
  }

  /// Sends in a task of its own, so that a server that ends the call early does not wait for the next message.
  private func clientStreaming<Input, Output>(
    _ method: ResolvedMethod<Input, Output>, _ parameters: CallParameters,
    _ send: @escaping @Sendable (RequestWriter<Input>) async throws -> Void
  ) async throws -> UnaryResponse<Output> {
    let call = start(method, parameters)
    let writer = RequestWriter(call: call, encode: method.encode)
    return try await withThrowingTaskGroup(of: UnaryResponse<Output>?.self) { group in
      group.addTask {
        do {
          try await send(writer)
          // A half-close after a cancellation would make the server process a part of the request.
          try call.checkCancellation()
          writer.finish()
        } catch {
          // The error of a call that has ended is that of its response.
          guard !call.channel.hasEnded else { return nil }
          call.cancel("the request failed: \(error)")
          throw RPCError(thrown: error) ?? error
        }
        return nil
      }
      group.addTask { try await self.response(call, method) }
      while let response = try await group.next() {
        guard let response else { continue }
        group.cancelAll()
        return response
      }
      throw ActiveCall.taskCanceled
    }
  }

  // MARK: Bidirectional streaming

  /// Makes a bidirectional call with messages of any schema. When `body` returns, the request is half-closed; if the
  /// response has not been read to its end, the call is canceled. When `body` throws, or the task is canceled, the call
  /// is canceled, and the request is not half-closed.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  ///   - body: Sends and receives.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func bidirectional<Result>(
    _ method: String, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = [],
    _ body: (_ requests: RequestWriter<FieldValue>, _ responses: ResponseStream<Message>) async throws ->
      Result
  ) async throws -> Result {
    try await bidirectional(
      try await resolve(method) { $0 == .bidiStreaming }, CallParameters(headers, timeout, interceptors), body
    )
  }

  /// Makes a bidirectional call with generated types. When `body` returns, the request is half-closed; if the response
  /// has not been read to its end, the call is canceled. When `body` throws, or the task is canceled, the call is
  /// canceled, and the request is not half-closed.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  ///   - body: Sends and receives.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func bidirectional<Input, Output, Result>(
    _ method: RPCMethod<Input, Output>, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = [],
    _ body: (_ requests: RequestWriter<Input>, _ responses: ResponseStream<Output>) async throws -> Result
  ) async throws -> Result {
    try await bidirectional(
      try resolve(method, .bidiStreaming), CallParameters(headers, timeout, interceptors), body)
  }

  private func bidirectional<Input, Output, Result>(
    _ method: ResolvedMethod<Input, Output>, _ parameters: CallParameters,
    _ body: (RequestWriter<Input>, ResponseStream<Output>) async throws -> Result
  ) async throws -> Result {
    let call = start(method, parameters)
    defer { if call.channel.end == nil { call.cancel("the caller has stopped reading") } }
    let result = try await body(
      RequestWriter(call: call, encode: method.encode), ResponseStream(call: call, decode: method.decode))
    // A half-close after an error or a cancellation would make the server process a part of the request.
    if !Task.isCancelled { call.finishSending() }
    return result
  }
}
