import RPCurlBase
import RPCurlClient

/// A server without a network, for tests of interceptors and of what makes calls. `[any thread]`
///
/// Calls pass through the whole chain of the client, and end at the script instead of a connection.
///
/// ```swift
/// let server = TestServer(schema: schema)
/// server.fail("demo.v1.Demo/Hello", RPCError(.unavailable, "later", origin: .server))
/// server.respond(to: "demo.v1.Demo/Hello", ["message": "Hello, Ada!"])
/// try await withRPCClient(server, interceptors: [Retry()]) { client in
///   let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
/// }
/// print(server.calls.count)
/// ```
///
/// The responses of a method are used in order, and the last one for all further calls.
///
/// Calls pass the protocol of the client's options as bytes, without a connection: metadata, statuses and details arrive as a
/// server sends them. An error without headers and messages is one response: its status is in the headers (gRPC: trailers-only),
/// in the HTTP status (unary calls over Connect), or follows the headers (gRPC-Web, and streams over Connect).
public final class TestServer: Sendable {
  /// Responds to a call.
  public typealias Handler = @Sendable (ServerCall) async throws -> ServerResponse

  private struct State {
    var handlers: [String: [Handler]] = [:]
    var calls: [RecordedCall] = []
  }

  let schema: Schema
  private let state = Locked(State())

  /// Makes a server without responses.
  ///
  /// - Parameter schema: The methods and the types of their messages; not `.reflection`. Methods with generated types need none.
  public init(schema: Schema = .none) { self.schema = schema }

  /// The calls so far, in the order in which their requests were complete.
  public var calls: [RecordedCall] { state.withLock { $0.calls } }

  /// Responds to the next call of a method, after the whole request.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - messages: The messages of the response.
  ///   - headers: The leading metadata.
  ///   - trailers: The trailing metadata.
  public func respond(
    to method: String, _ messages: FieldValue..., headers: Headers = Headers(),
    trailers: Headers = Headers()
  ) {
    let response = ServerResponse(messages: messages, headers: headers, trailers: trailers)
    handle(method) { call in
      try await call.readRequest()
      return response
    }
  }

  /// Fails the next call of a method, after the whole request.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - error: The error of the call. Its code, message and details are sent.
  ///   - messages: The messages of the response before the error.
  ///   - headers: The leading metadata. With nil and no messages, the server sends nothing before the error: in gRPC, the response
  ///     is trailers-only.
  ///   - trailers: The trailing metadata.
  public func fail(
    _ method: String, _ error: RPCError, after messages: FieldValue..., headers: Headers? = nil,
    trailers: Headers = Headers()
  ) {
    var response = ServerResponse(messages: messages, headers: headers ?? Headers(), trailers: trailers)
    response.error = error
    let isBare = messages.isEmpty && headers == nil
    handle(method) { [response] call in
      try await call.readRequest()
      guard isBare else { return response }
      var error = error
      error.metadata = trailers
      throw error
    }
  }

  /// Responds to the next call of a method with the result of a function.
  ///
  /// - Parameters:
  ///   - method: The method: `pkg.Service/Method`.
  ///   - handler: Makes the response. An `RPCError` that it throws is sent without headers of the response, with its `metadata` as
  ///     trailers; another error has the code `unknown`.
  public func handle(_ method: String, _ handler: @escaping Handler) {
    let name = MethodName(method)?.description ?? method
    state.withLock { $0.handlers[name, default: []].append(handler) }
  }

  func handler(of method: MethodName) -> Handler? {
    state.withLock { state in
      guard let handlers = state.handlers[method.description], let first = handlers.first else { return nil }
      if handlers.count > 1 { state.handlers[method.description]?.removeFirst() }
      return first
    }
  }

  func record(_ call: RecordedCall) { state.withLock { $0.calls.append(call) } }
}

/// A call that a test server has received, with its whole request.
public struct RecordedCall: Sendable {
  /// Method, target and deadline, as the interceptors have left them, and the headers as they have arrived.
  public let start: RequestStart
  /// The messages.
  public let messages: [Message]
}

/// A call, for the function that responds to it.
public struct ServerCall: Sendable {
  /// Method, target and deadline, as the interceptors have left them, and the headers as they have arrived.
  public let start: RequestStart
  /// The messages, as they arrive.
  public let messages: AsyncMessages
  let server: TestServer
  /// The type of the messages of the response.
  let responseType: MessageType

  /// Waits for the whole request, and adds it to the server's `calls`.
  ///
  /// - Returns: The messages.
  /// - Throws: The error of the request, if the call ends first.
  @discardableResult
  public func readRequest() async throws -> [Message] {
    var all: [Message] = []
    for try await message in messages { all.append(message) }
    server.record(RecordedCall(start: start, messages: all))
    return all
  }
}

/// The response of a test server.
public struct ServerResponse: Sendable {
  /// The leading metadata.
  public var headers: Headers
  /// The messages. The next one is requested when the client takes more.
  public var messages: any AsyncSequence<FieldValue, any Error> & Sendable
  /// The trailing metadata.
  public var trailers: Headers
  /// The error; nil for the status `ok`.
  public var error: RPCError?

  /// Makes a response of a sequence of messages.
  public init(
    messages: any AsyncSequence<FieldValue, any Error> & Sendable, headers: Headers = Headers(),
    trailers: Headers = Headers()
  ) {
    self.headers = headers
    self.messages = messages
    self.trailers = trailers
  }

  /// Makes a response of a list of messages.
  public init(messages: [FieldValue], headers: Headers = Headers(), trailers: Headers = Headers()) {
    self.init(messages: Elements(elements: messages), headers: headers, trailers: trailers)
  }
}

/// The elements of an array as an asynchronous sequence.
private struct Elements: AsyncSequence, Sendable {
  typealias Failure = any Error

  let elements: [FieldValue]

  struct AsyncIterator: AsyncIteratorProtocol {
    var rest: ArraySlice<FieldValue>
    mutating func next() async throws -> FieldValue? { rest.popFirst() }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: elements[...]) }
}
