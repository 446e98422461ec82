import RPCurlClient
import RPCurlClientTesting
import Testing

/// Calls that wait: for a server that is not ready, and for other calls to end.
@Suite(.timeLimit(.minutes(10))) struct WaitingCallTests {
  private static let method = "test.v1.Echo/Unary"
  private static let stream = "test.v1.Echo/Server"
  private let server = testServer()
  /// The names of the calls that the server has received.
  private let received = Signal<[String]>([])
  private let isOpen = Signal(false)

  /// Makes the server respond when the test opens it.
  private func hold() {
    server.handle(Self.stream) { [received, isOpen] call in
      received.change { $0.append(call.start.headers["x-name"] ?? "") }
      await isOpen.wait { $0 }
      return ServerResponse(messages: [["text": "end"]])
    }
  }

  /// Runs `body` with a client that makes one call at a time, the first of which has reached the server.
  private func withBusyClient(_ body: (RPCClient, ResponseStream<Message>) async throws -> Void) async throws
  {
    hold()
    var options = ClientOptions()
    options.maxConcurrentCalls = 1
    try await withRPCClient(server, options: options) { client in
      let first = try await start(client, "a")
      await received.wait { $0 == ["a"] }
      try await body(client, first)
    }
  }

  private func start(_ client: RPCClient, _ name: String) async throws -> ResponseStream<Message> {
    try await client.serverStreaming(Self.stream, [:], headers: ["x-name": name])
  }

  private func error(of stream: ResponseStream<Message>) async -> RPCError? {
    do {
      for try await _ in stream {}
      return nil
    } catch {
      return error
    }
  }

  @Test func callsAboveTheLimitWaitInTheirOrder() async throws {
    try await withBusyClient { client, first in
      var streams = [first]
      for name in ["b", "c", "d"] { streams.append(try await start(client, name)) }
      isOpen.change { $0 = true }
      for stream in streams { #expect(await error(of: stream) == nil) }
    }
    #expect(received.value == ["a", "b", "c", "d"])
  }

  @Test func waitingCallsCanBeCanceled() async throws {
    try await withBusyClient { client, first in
      let (second, third) = (try await start(client, "b"), try await start(client, "c"))
      second.cancel("not needed")
      #expect(await error(of: second)?.message == "not needed")
      isOpen.change { $0 = true }
      #expect(await error(of: third) == nil)
      #expect(await error(of: first) == nil)
    }
    #expect(received.value == ["a", "c"])
  }

  @Test func deadlineIncludesTheTimeOfWaiting() async throws {
    try await withBusyClient { client, first in
      let second = try await client.serverStreaming(Self.stream, [:], timeout: .milliseconds(20))
      let error = await error(of: second)
      #expect(error?.code == .deadlineExceeded)
      #expect(error?.message == "the call took longer than 0.02 seconds, and was not sent")
      isOpen.change { $0 = true }
      #expect(await self.error(of: first) == nil)
    }
    #expect(received.value == ["a"])
  }

  @Test func closeEndsWaitingCalls() async throws {
    try await withBusyClient { client, first in
      let second = try await start(client, "b")
      await client.close()
      #expect(await error(of: first)?.code == .canceled)
      #expect(await error(of: second)?.message == "the client is closed")
    }
  }

  // MARK: A server that is not ready

  /// Fails calls as the transport does for a server that is not ready, until the last.
  private struct Refusing: Interceptor {
    let calls = Signal(0)
    let count: Int
    let cause: ConnectionCause

    var registration: InterceptorRegistration {
      InterceptorRegistration(name: "refusing", factory: AsyncFactory(self), priority: .min)
    }

    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      guard calls.change({ $0 += 1 }) > count else {
        var error = RPCError(.unavailable, cause.description, origin: .connection)
        error.cause = cause
        throw error
      }
      return try await next(request)
    }
  }

  /// The error of a call that waits for a server.
  private func error(
    _ wait: WaitForReady, _ refusing: Refusing, timeout: Duration? = nil
  ) async throws -> RPCError? {
    server.respond(to: Self.method, [:])
    return try await withRPCClient(server, interceptors: [wait, refusing]) { client -> RPCError? in
      do {
        _ = try await client.unary(Self.method, [:], timeout: timeout)
        return nil
      } catch {
        return error as? RPCError
      }
    }
  }

  @Test func callWaitsUntilTheServerIsReady() async throws {
    let refusing = Refusing(count: 2, cause: .refused(server: "h:1"))
    #expect(try await error(WaitForReady(), refusing) == nil)
    #expect(refusing.calls.value == 3)
  }

  @Test func limitEndsTheWait() async throws {
    let refusing = Refusing(count: .max, cause: .unknownHost("h"))
    #expect(try await error(WaitForReady(limit: .milliseconds(1)), refusing)?.cause == .unknownHost("h"))
    #expect(refusing.calls.value == 1)
  }

  @Test func deadlineBeforeTheNextAttemptEndsTheWait() async throws {
    let refusing = Refusing(count: .max, cause: .refused(server: "h:1"))
    let error = try await error(WaitForReady(), refusing, timeout: .milliseconds(20))
    // The deadline may pass in the first attempt already.
    #expect(error?.code == .unavailable || error?.code == .deadlineExceeded)
  }

  @Test(arguments: [ConnectionCause.unknownAuthority(nil), .closed("")])
  func otherCausesEndTheCallAtOnce(_ cause: ConnectionCause) async throws {
    let refusing = Refusing(count: 1, cause: cause)
    #expect(try await error(WaitForReady(), refusing)?.cause == cause)
    #expect(refusing.calls.value == 1)
  }
}
