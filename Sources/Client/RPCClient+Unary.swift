import RPCurlProtobuf
import RPCurlProtocols

/// Calls with one message each way. They run on the actor of the caller.
extension RPCClient {
  /// Makes a unary call with dynamic messages. Its method is found in the schema of the client for each call:
  /// ``Schema/method(_:)`` finds it before.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - message: The message of the request, such as `["name": "Ada"]`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call; before anything is sent, `unimplemented` if the schema does not have the method, and
  ///   `invalidArgument` if it is not unary or cannot have the message. If the task is canceled, the call is canceled.
  public func unary(
    _ method: String, _ message: FieldValue, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> UnaryResponse<Message> {
    try await unary(
      try await resolve(method, .unary), message, CallParameters(headers, timeout, interceptors))
  }

  /// Makes a unary call with dynamic messages. Its method is found in the schema of the client for each call:
  /// ``Schema/method(_:)`` finds it before.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - message: The message of the request.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call; before anything is sent, `unimplemented` if the schema does not have the method, and
  ///   `invalidArgument` if it is not unary or its request is another message. If the task is canceled, the call is canceled.
  public func unary(
    _ method: String, _ message: Message, headers: Headers = Headers(), timeout: Duration? = nil,
    interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> UnaryResponse<Message> {
    try await unary(
      method, FieldValue(message), headers: headers, timeout: timeout, interceptors: interceptors)
  }

  /// Makes a unary call.
  ///
  /// - Parameters:
  ///   - method: The method, with dynamic messages or with generated types.
  ///   - message: The message of the request, such as `["name": "Ada"]` or `.with { $0.name = "Ada" }`.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call; before anything is sent, `invalidArgument` if the method cannot have the message, and for
  ///   generated types `unimplemented` or `invalidArgument` if the client has a schema that does not have the method, or has it with
  ///   another kind or other messages. If the task is canceled, the call is canceled.
  public func unary<Input, Output>(
    _ method: UnaryMethod<Input, Output>, _ message: Input, headers: Headers = Headers(),
    timeout: Duration? = nil, interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> UnaryResponse<Output> {
    try await unary(try resolve(method), message, CallParameters(headers, timeout, interceptors))
  }

  /// Makes a unary call with dynamic messages.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - message: The message of the request.
  ///   - headers: Metadata to send, after that of the client's options.
  ///   - timeout: The timeout of the call, which is also sent to the server; nil for that of the options.
  ///   - interceptors: Interceptors of this call only, after those of the client.
  /// - Returns: The response.
  /// - Throws: The error of the call; before anything is sent, `invalidArgument` if the request is another message. If the task is
  ///   canceled, the call is canceled.
  public func unary(
    _ method: UnaryMethod<FieldValue, Message>, _ message: Message, headers: Headers = Headers(),
    timeout: Duration? = nil, interceptors: [any ChainMember] = []
  ) async throws(RPCError) -> UnaryResponse<Message> {
    try await unary(
      method, FieldValue(message), headers: headers, timeout: timeout, interceptors: interceptors)
  }

  private func unary<Input, Output>(
    _ method: ResolvedMethod<Input, Output>, _ message: Input, _ parameters: CallParameters
  ) async throws(RPCError) -> UnaryResponse<Output> {
    let call = try startWhole(method, message, parameters)
    return try await response(call, method)
  }

  /// Starts a call with one message in its request.
  func startWhole<Input, Output>(
    _ method: ResolvedMethod<Input, Output>, _ message: Input, _ parameters: CallParameters
  ) throws(RPCError) -> ActiveCall {
    let payload = try method.encode(message)
    return start(method, parameters, payload)
  }

  /// Waits for the response of a call with one message in it.
  func response<Input, Output>(
    _ call: ActiveCall, _ method: ResolvedMethod<Input, Output>
  ) async throws(RPCError) -> UnaryResponse<Output> {
    let payload = try await call.message()
    return UnaryResponse(
      message: try method.decode(payload), headers: call.channel.start?.headers ?? Headers(),
      trailers: call.channel.end?.trailers ?? Headers())
  }
}
