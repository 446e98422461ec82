import RPCurlClient
import RPCurlClientTesting
import Testing

/// The messages and the half-close of requests, as interceptors and the server receive them.
@Suite(.timeLimit(.minutes(10))) struct RequestTests {
  private let server = testServer()

  /// Counts what it receives of a request, in the form of bytes.
  private final class Counting: StagedInterceptor {
    let stages: Stages = .request
    let messages = MessageAccesses(.readBytes)
    private let counts: Signal<[String: Int]>
    private let name: String

    init(_ name: String, _ counts: Signal<[String: Int]>) {
      self.name = name
      self.counts = counts
    }

    private func count(_ stage: String) {
      let key = "\(name) \(stage)"
      counts.change { $0[key, default: 0] += 1 }
    }

    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
      count("start")
      token.proceed(start)
    }
    func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
      count("message")
      token.proceed(message)
    }
    func requestEnd(_ token: consuming RequestToken<Void>) {
      count("half-close")
      token.proceed()
    }
  }

  private let counts = Signal<[String: Int]>([:])

  private func counting(_ name: String) -> InterceptorRegistration {
    let counts = counts
    return InterceptorRegistration(
      name: name, factory: ClosureFactory { _, _ in Counting(name, counts) })
  }

  /// Replaces the messages by a stream that copies them.
  private struct Copying: Interceptor {
    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      let messages = request.messages
      request.messages = AsyncThrowingStream { continuation in
        Task {
          do {
            try await copy(messages, to: continuation)
            continuation.finish()
          } catch {
            continuation.finish(throwing: error)
          }
        }
      }
      return try await next(request)
    }
  }

  @Test func eachInterceptorReceivesOneHalfCloseForEachKindOfMethod() async throws {
    for method in ["Unary", "Server", "Client", "Bidi"] {
      server.handle("test.v1.Echo/\(method)") { call in
        ServerResponse(messages: [["number": try await call.readRequest().count]])
      }
    }
    let interceptors: [any ChainMember] = [counting("A"), Copying(), counting("B")]
    try await withRPCClient(server, interceptors: interceptors) { client in
      _ = try await client.unary("test.v1.Echo/Unary", [:])
      for try await _ in try await client.serverStreaming("test.v1.Echo/Server", [:]) {}
      _ = try await client.clientStreaming("test.v1.Echo/Client", [[:], [:]])
      try await client.bidirectional("test.v1.Echo/Bidi") { requests, responses in
        try await requests.send([:])
        try await requests.send([:])
        requests.finish()
        requests.finish()
        for try await _ in responses {}
      }
    }
    #expect(
      counts.value == [
        "A start": 4, "A message": 6, "A half-close": 4, "B start": 4, "B message": 6, "B half-close": 4,
      ])
    #expect(server.calls.map(\.messages.count) == [1, 1, 2, 2])
  }

  @Test func noMessageIsLostBetweenInterceptorsOfBothForms() async throws {
    server.handle("test.v1.Echo/Client") { call in
      ServerResponse(messages: [["number": try await call.readRequest().count]])
    }
    try await withRPCClient(server, interceptors: [counting("A"), Copying()]) { client in
      for number in 1...60 {
        let messages = (1...5).map { FieldValue(["number": $0 * number]) }
        let reply = try await client.clientStreaming("test.v1.Echo/Client", messages)
        #expect(try reply.message["number"] as Int == 5)
      }
    }
    #expect(counts.value["A half-close"] == 60)
    for (number, call) in zip(1..., server.calls) {
      #expect(try call.messages.map { try $0["number"] as Int } == (1...5).map { $0 * number })
    }
  }
}

private func copy(
  _ messages: some AsyncSequence<Message, any Error> & Sendable,
  to continuation: AsyncThrowingStream<Message, any Error>.Continuation
) async throws {
  for try await message in messages { continuation.yield(message) }
}
