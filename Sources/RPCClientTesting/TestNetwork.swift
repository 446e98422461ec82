import RPCClient

/// Runs `body` with a client whose calls a test server receives. The client is closed afterwards: all calls have then
/// ended, and all interceptors have finished.
///
/// - Parameters:
///   - server: The server.
///   - options: The options of all calls.
///   - interceptors: The interceptors of all calls, first to last on the request path.
///   - body: Uses the client.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`.
public func withRPCClient<Result>(
  _ server: TestServer, options: ClientOptions = ClientOptions(), interceptors: [any ChainMember] = [],
  _ body: (RPCClient) async throws -> Result
) async throws -> Result {
  try await withRPCClient(
    "http://test.invalid", schema: server.schema, options: options,
    interceptors: interceptors + [TestNetwork(server: server)], body)
}

extension RPCClient {
  /// Makes a client whose calls a test server receives.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - options: The options of all calls.
  ///   - interceptors: The interceptors of all calls, first to last on the request path.
  public convenience init(
    _ server: TestServer, options: ClientOptions = ClientOptions(), interceptors: [any ChainMember] = []
  ) {
    self.init(
      "http://test.invalid", schema: server.schema, options: options,
      interceptors: interceptors + [TestNetwork(server: server)])
  }
}

/// Responds to calls in place of a connection: the last interceptor of the chain.
private struct TestNetwork: Interceptor {
  let server: TestServer

  var registration: InterceptorRegistration {
    InterceptorRegistration(
      name: "test-network", factory: AsyncFactory(self, receivesBytes: true), priority: .min)
  }

  func intercept(_ request: inout Request, next: Next) async throws -> Response {
    guard let handler = server.handler(of: request.method), let type = request.call.responseType else {
      throw RPCError(
        .unimplemented, "the test server has no response for \(request.method)", origin: .server)
    }
    let given = try await handler(
      ServerCall(start: request.start, messages: request.messages, server: server))
    var response = Response(
      start: ResponseStart(headers: given.headers),
      messages: Encoded(messages: given.messages, type: type, error: given.error))
    response.changeTrailers = { _ in given.trailers }
    return response
  }
}

/// The messages of a response in the type of the method, and the error at their end.
private struct Encoded: AsyncSequence, Sendable {
  typealias Failure = any Error

  let messages: any AsyncSequence<FieldValue, any Error> & Sendable
  let type: MessageType
  let error: RPCError?

  struct AsyncIterator: AsyncIteratorProtocol {
    var messages: any AsyncIteratorProtocol<FieldValue, any Error>
    let type: MessageType
    let error: RPCError?

    mutating func next() async throws -> Message? {
      if let value = try await messages.next(isolation: #isolation) { return try Message(type, value) }
      if let error { throw error }
      return nil
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(messages: messages.makeAsyncIterator(), type: type, error: error)
  }
}
