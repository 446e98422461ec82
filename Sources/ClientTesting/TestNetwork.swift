import RPCurlClient
import RPCurlProtocols

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
    InterceptorRegistration(name: "test-network", factory: AsyncFactory(self), priority: .min)
  }

  func intercept(_ request: inout Request, next: Next) async throws -> Response {
    let (given, isWhole) = try await response(to: request)
    guard let type = request.call.responseType else {
      throw RPCError(.unimplemented, "\(request.method) has no type of its response", origin: .server)
    }
    var response = Response(
      start: ServerStart(request.call, given, isWhole: isWhole).start,
      messages: Encoded(messages: given.messages, type: type, error: given.error))
    response.changeTrailers = { _ in given.trailers }
    return response
  }

  /// The response of the script, and whether it is an error that is thrown before a response.
  private func response(to request: Request) async throws -> (ServerResponse, isWhole: Bool) {
    do {
      guard let handler = server.handler(of: request.method) else {
        throw RPCError(
          .unimplemented, "the test server has no response for \(request.method)", origin: .server)
      }
      let call = ServerCall(start: request.start, messages: request.messages, server: server)
      return (try await handler(call), false)
    } catch var error as RPCError {
      var response = ServerResponse(messages: [], trailers: error.metadata)
      error.metadata = Headers()
      response.error = error
      return (response, true)
    }
  }
}

/// The start of a response as a server of the call's protocol sends it.
private struct ServerStart {
  let start: ResponseStart

  /// - Parameter isWhole: Whether the response has no messages and no headers of its own, only an error.
  init(_ call: CallFacts, _ response: ServerResponse, isWhole: Bool) {
    var start = ResponseStart(headers: response.headers)
    if let error = response.error {
      switch call.protocolName {
      case .grpc where isWhole:
        // Trailers-only (PROTOCOL-HTTP2, "Responses").
        start.headers = response.trailers
        start.headers.set("grpc-status", "\(error.code.rawValue)")
        start.headers.set("grpc-message", PercentEncoding.encode(Array(error.message.utf8)))
      case .connect where call.kind == .unary: start.httpStatus = HTTPStatusMapping.status(error.code)
      // The status is in the body or in the trailers.
      case .grpc, .grpcWeb, .connect: break
      }
    }
    self.start = start
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
