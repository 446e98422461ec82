import RPCurlProtobuf
import RPCurlProtocols

/// Calls with a stream of responses, of requests, or of both. They run on the actor of the caller.
extension RPCClient {
  // MARK: Server streaming

  /// Makes a server-streaming call with dynamic messages. Its method is found in the schema of the client for each call:
  /// ``Schema/method(_:)`` finds it before.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - message: The message of the request, such as `["from": 1]`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The messages of the response. If the stream is released before its end, the call is canceled.
  /// - Throws: Before anything is sent, `unimplemented` if the schema does not have the method, and `invalidArgument` if it has
  ///   another kind or cannot have the message. Errors of the call are thrown where the messages are read.
  public func serverStreaming(
    _ method: String, _ message: FieldValue, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> ResponseStream<Message> {
    let method = try await resolve(method, .serverStreaming)
    return ResponseStream(
      call: try startWhole(method, message, CallParameters(headers, timeout, interceptors)),
      decode: method.decode)
  }

  /// Makes a server-streaming call with dynamic messages. Its method is found in the schema of the client for each call:
  /// ``Schema/method(_:)`` finds it before.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - message: The message of the request.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The messages of the response. If the stream is released before its end, the call is canceled.
  /// - Throws: Before anything is sent, `unimplemented` if the schema does not have the method, and `invalidArgument` if it has
  ///   another kind or cannot have the message. Errors of the call are thrown where the messages are read.
  public func serverStreaming(
    _ method: String, _ message: Message, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> ResponseStream<Message> {
    try await serverStreaming(
      method, FieldValue(message), headers: headers, timeout: timeout, interceptors: interceptors)
  }

  /// Makes a server-streaming call.
  ///
  /// - Parameters:
  ///   - method: The method, with dynamic messages or with generated types.
  ///   - message: The message of the request, such as `["from": 1]` or `.with { $0.from = 1 }`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The messages of the response. If the stream is released before its end, the call is canceled.
  /// - Throws: Before anything is sent, `invalidArgument` if the method cannot have the message, and for generated types
  ///   `unimplemented` or `invalidArgument` if the client has a schema that does not have the method, or has it with another kind or
  ///   other messages. Errors of the call are thrown where the messages are read.
  public func serverStreaming<Input, Output>(
    _ method: ServerStreamingMethod<Input, Output>, _ message: Input, headers: Headers = Headers(),
    timeout: Duration? = nil, interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> ResponseStream<Output> {
    let method = try resolve(method)
    return ResponseStream(
      call: try startWhole(method, message, CallParameters(headers, timeout, interceptors)),
      decode: method.decode)
  }

  /// Makes a server-streaming call with dynamic messages.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - message: The message of the request.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The messages of the response. If the stream is released before its end, the call is canceled.
  /// - Throws: Before anything is sent, `invalidArgument` if the request is another message. Errors of the call are thrown where the
  ///   messages are read.
  public func serverStreaming(
    _ method: ServerStreamingMethod<FieldValue, Message>, _ message: Message, headers: Headers = Headers(),
    timeout: Duration? = nil, interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> ResponseStream<Message> {
    try await serverStreaming(
      method, FieldValue(message), headers: headers, timeout: timeout, interceptors: interceptors)
  }

  // MARK: Client streaming

  /// Makes a client-streaming call with dynamic messages. Its method is found in the schema of the client for each call:
  /// ``Schema/method(_:)`` finds it before.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - messages: The messages of the request, which are sent as they arrive and as the server reads them. A task of its own
  ///     iterates the sequence.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call, or of the sequence: a `CancellationError` becomes an `RPCError` with the code `canceled`. Before
  ///   anything is sent, `unimplemented` if the schema does not have the method, and `invalidArgument` if it has another kind. If the
  ///   task is canceled, the call is canceled.
  public func clientStreaming<Messages: AsyncSequence & Sendable>(
    _ method: String, _ messages: Messages, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws -> UnaryResponse<Message> where Messages.Element: FieldValueConvertible {
    let method = try await resolve(method, .clientStreaming)
    return try await clientStreaming(method, CallParameters(headers, timeout, interceptors)) { writer in
      for try await message in messages {
        guard try await writer.call.send(try writer.encode(FieldValue(message))) else { return }
      }
    }
  }

  /// Makes a client-streaming call with dynamic messages. Its method is found in the schema of the client for each call:
  /// ``Schema/method(_:)`` finds it before.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - messages: The messages of the request, such as `[["value": 1], ["value": 2]]`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: `RPCError`: the error of the call; before anything is sent, `unimplemented` if the schema does not have the method, and
  ///   `invalidArgument` if it has another kind. If the task is canceled, the call is canceled.
  public func clientStreaming(
    _ method: String, _ messages: [FieldValue], headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws -> UnaryResponse<Message> {
    try await clientStreaming(
      try await resolve(method, .clientStreaming), messages, CallParameters(headers, timeout, interceptors))
  }

  /// Makes a client-streaming call.
  ///
  /// - Parameters:
  ///   - method: The method, with dynamic messages or with generated types.
  ///   - messages: The messages of the request, which are sent as they arrive and as the server reads them. A task of its own
  ///     iterates the sequence.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call, or of the sequence: a `CancellationError` becomes an `RPCError` with the code `canceled`. Before
  ///   anything is sent, for generated types, `unimplemented` or `invalidArgument` if the client has a schema that does not have the
  ///   method, or has it with another kind or other messages. If the task is canceled, the call is canceled.
  public func clientStreaming<Input, Output, Messages: AsyncSequence & Sendable>(
    _ method: ClientStreamingMethod<Input, Output>, _ messages: Messages, headers: Headers = Headers(),
    timeout: Duration? = nil, interceptors: [any ChainMember] = []
  ) async throws -> UnaryResponse<Output> where Messages.Element == Input {
    try await clientStreaming(
      try resolve(method), CallParameters(headers, timeout, interceptors)
    ) { writer in
      try await writer.send(contentsOf: messages)
    }
  }

  /// Makes a client-streaming call.
  ///
  /// - Parameters:
  ///   - method: The method, with dynamic messages or with generated types.
  ///   - messages: The messages of the request, such as `[["value": 1], ["value": 2]]`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: `RPCError`: the error of the call; before anything is sent, for generated types, `unimplemented` or `invalidArgument` if
  ///   the client has a schema that does not have the method, or has it with another kind or other messages. If the task is canceled,
  ///   the call is canceled.
  public func clientStreaming<Input, Output>(
    _ method: ClientStreamingMethod<Input, Output>, _ messages: [Input], headers: Headers = Headers(),
    timeout: Duration? = nil, interceptors: [any ChainMember] = []
  ) async throws -> UnaryResponse<Output> {
    try await clientStreaming(
      try resolve(method), messages, CallParameters(headers, timeout, interceptors))
  }

  private func clientStreaming<Input, Output>(
    _ method: ResolvedMethod<Input, Output>, _ messages: [Input], _ parameters: CallParameters
  ) async throws -> UnaryResponse<Output> {
    try await clientStreaming(method, parameters) { writer in
      for message in messages {
        guard try await writer.call.send(try writer.encode(message)) else { return }
      }
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

  /// Makes a bidirectional call with dynamic messages. When `body` returns, the request is half-closed; if the
  /// response has not been read to its end, the call is canceled. When `body` throws, or the task is canceled, the call
  /// is canceled, and the request is not half-closed.
  ///
  /// Its method is found in the schema of the client for each call: ``Schema/method(_:)`` finds it before.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  ///   - body: Sends and receives, on the actor of the caller.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; before it runs, `unimplemented` if the schema does not have the method, and `invalidArgument` if it
  ///   has another kind.
  public func bidirectional<Result>(
    _ method: String, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = [],
    _ body: (_ requests: RequestWriter<FieldValue>, _ responses: ResponseStream<Message>) async throws ->
      Result
  ) async throws -> Result {
    try await bidirectional(
      try await resolve(method, .bidiStreaming), CallParameters(headers, timeout, interceptors), body)
  }

  /// Makes a bidirectional call. When `body` returns, the request is half-closed; if the response
  /// has not been read to its end, the call is canceled. When `body` throws, or the task is canceled, the call is
  /// canceled, and the request is not half-closed.
  ///
  /// - Parameters:
  ///   - method: The method, with dynamic messages or with generated types.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the whole call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  ///   - body: Sends and receives, on the actor of the caller.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; before it runs, for generated types, `unimplemented` or `invalidArgument` if the client has a schema
  ///   that does not have the method, or has it with another kind or other messages.
  public func bidirectional<Input, Output, Result>(
    _ method: BidirectionalMethod<Input, Output>, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = [],
    _ body: (_ requests: RequestWriter<Input>, _ responses: ResponseStream<Output>) async throws -> Result
  ) async throws -> Result {
    try await bidirectional(try resolve(method), CallParameters(headers, timeout, interceptors), body)
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
