import RPCurlClient
import RPCurlProtocols

/// Runs `body` with a client whose calls a test server receives. The client is closed afterwards: all calls have then
/// ended, and all interceptors have finished. `[any thread]`
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
    interceptors: interceptors + [TestNetwork(server: server, options: options)], body)
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
      interceptors: interceptors + [TestNetwork(server: server, options: options)])
  }
}

/// Responds to calls in place of a connection: the last interceptor of the chain. Calls pass the client's and the server's half
/// of their protocol.
private struct TestNetwork: Interceptor {
  let server: TestServer
  let options: ClientOptions

  var registration: InterceptorRegistration {
    InterceptorRegistration(name: "test-network", factory: AsyncFactory(self), priority: .min)
  }

  func intercept(_ request: inout Request, next: Next) async throws -> Response {
    guard let requestType = request.call.requestType, let responseType = request.call.responseType else {
      throw RPCError(.unimplemented, "\(request.method) has no types of messages", origin: .server)
    }
    let wire = try await wire(request)
    let arriving = ArrivingMessages(
      first: try wire.messages.map { try request.codec.parse($0, as: requestType) },
      rest: request.call.kind.clientStreams ? request.messages : nil, wire: wire, codec: request.codec)
    var start = request.start
    start.headers = wire.headers
    let call = ServerCall(start: start, messages: arriving, server: server, responseType: responseType)
    let script = await response(call, wire)
    let messages = ScriptedMessages(
      script: script, wire: wire, type: responseType, codec: request.codec, method: request.method)
    var response: Response
    if request.call.kind.serverStreams {
      response = Response(start: wire.start ?? ResponseStart(), messages: messages)
    } else {
      // The start of a unary call over Connect shows how it ends.
      let whole = await Collected(messages)
      response = Response(start: wire.start ?? ResponseStart(), messages: whole)
    }
    response.changeTrailers = { _ in wire.trailers }
    return response
  }

  /// Sends the start of a request, and the whole request of a call with one message in it, as clients do.
  private func wire(_ request: Request) async throws -> MemoryWire {
    let call = request.call
    var messages: [[UInt8]]?
    if !call.kind.clientStreams {
      var all: [[UInt8]] = []
      for try await message in request.messages { all.append(try request.codec.serialize(message)) }
      messages = all
    }
    var parameters = options.wire(call.kind, request.codec)
    parameters.usesGET = parameters.usesGET && call.hasNoSideEffects
    return try MemoryWire(
      WireProtocols.make(call.protocolName, parameters), request.start,
      ServerMethod(kind: call.kind, allowsGET: call.hasNoSideEffects), messages)
  }

  /// The response of the script; one without messages if it ends the call at once.
  private func response(_ call: ServerCall, _ wire: MemoryWire) async -> ServerResponse {
    do {
      guard !wire.isOver else { return ServerResponse(messages: []) }
      guard let handler = server.handler(of: call.start.method) else {
        throw RPCError(
          .unimplemented, "the test server has no response for \(call.start.method)", origin: .server)
      }
      let response = try await handler(call)
      wire.start(response.headers)
      return response
    } catch {
      wire.end(ResponseEnd(script: error))
      return ServerResponse(messages: [])
    }
  }
}

extension ResponseEnd {
  /// The end that a server sends for an error of its code.
  fileprivate init(script error: any Error) {
    var status = (error as? RPCError) ?? RPCError(.unknown, "\(error)", origin: .server)
    let trailers = status.metadata
    status.metadata = Headers()
    self.init(error: status, trailers: trailers)
  }
}

/// The messages of a request that have passed the wire.
private struct ArrivingMessages: AsyncSequence, Sendable {
  typealias Failure = any Error

  /// Those that have arrived with the start.
  let first: [Message]
  /// Those of a stream that have not been sent.
  let rest: AsyncMessages?
  let wire: MemoryWire
  let codec: CodecName

  struct AsyncIterator: AsyncIteratorProtocol {
    var first: ArraySlice<Message>
    var rest: (any AsyncIteratorProtocol<Message, any Error>)?
    let wire: MemoryWire
    let codec: CodecName

    mutating func next() async throws -> Message? {
      if let message = first.popFirst() { return message }
      guard let message = try await rest?.next(isolation: #isolation) else {
        if rest.take() != nil { try wire.finishSending() }
        return nil
      }
      return try wire.send(try codec.serialize(message)).map { try codec.parse($0, as: message.type) }
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(first: first[...], rest: rest?.makeAsyncIterator(), wire: wire, codec: codec)
  }
}

/// The messages of a script that have passed the wire, and the error at their end.
private struct ScriptedMessages: AsyncSequence, Sendable {
  typealias Failure = any Error

  let script: ServerResponse
  let wire: MemoryWire
  let type: MessageType
  let codec: CodecName
  let method: MethodName

  struct AsyncIterator: AsyncIteratorProtocol {
    let given: ScriptedMessages
    var script: any AsyncIteratorProtocol<FieldValue, any Error>

    mutating func next() async throws -> Message? {
      while true {
        switch given.wire.receive() {
        case .message(let bytes): return try given.codec.parse(bytes, as: given.type)
        case .end(let end):
          guard var error = end.error else { return nil }
          error.metadata = end.trailers
          throw error
        case nil: await advance()
        }
      }
    }

    /// Sends the next message of the script, or its end.
    private mutating func advance() async {
      do {
        guard let value = try await script.next(isolation: #isolation) else {
          let (error, trailers) = (given.script.error, given.script.trailers)
          return given.wire.end(ResponseEnd(error: error, trailers: trailers))
        }
        try given.wire.respond(try given.bytes(of: value))
      } catch {
        given.wire.end(ResponseEnd(script: error))
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(given: self, script: script.messages.makeAsyncIterator())
  }

  private func bytes(of value: FieldValue) throws -> [UInt8] {
    do {
      return try codec.serialize(Message(type, value, as: "the response of \(method)"))
    } catch {
      // A server that cannot make its response.
      throw RPCError(.internal, (error as? RPCError)?.message ?? "\(error)", origin: .server)
    }
  }
}

/// The messages of a sequence, and the error at their end.
private struct Collected: AsyncSequence, Sendable {
  typealias Failure = any Error

  private var messages: [Message] = []
  private var error: (any Error)?

  init(_ sequence: ScriptedMessages) async {
    do {
      for try await message in sequence { messages.append(message) }
    } catch {
      self.error = error
    }
  }

  struct AsyncIterator: AsyncIteratorProtocol {
    var messages: ArraySlice<Message>
    let error: (any Error)?

    mutating func next() async throws -> Message? {
      if let message = messages.popFirst() { return message }
      if let error { throw error }
      return nil
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(messages: messages[...], error: error) }
}
