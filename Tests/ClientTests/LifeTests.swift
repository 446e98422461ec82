import RPCurlClientTesting
import Synchronization
import Testing

@testable import RPCurlClient

/// Cancellation, deadlines, backpressure, and the end of clients.
@Suite(.timeLimit(.minutes(10))) struct LifeTests {
  private let server = testServer()

  /// Counts the calls that have finished, and how.
  private struct Finishes: Interceptor {
    let codes: Signal<[StatusCode]>

    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      request.onFinish { outcome in codes.change { $0.append(outcome.end.code) } }
      return try await next(request)
    }
  }

  private let finishes = Finishes(codes: Signal([]))
  private let entered = Signal(0)

  /// Makes the server never respond to unary calls.
  private func hang() {
    server.handle("test.v1.Echo/Unary") { [entered] call in
      entered.change { $0 += 1 }
      try await Task.sleep(for: .seconds(3600))
      return ServerResponse(messages: [])
    }
  }

  // MARK: Cancellation

  @Test func canceledTaskCancelsTheCall() async throws {
    hang()
    try await withRPCClient(server, interceptors: [finishes]) { client in
      let task = Task { try await client.unary("test.v1.Echo/Unary", [:]) }
      await entered.wait { $0 == 1 }
      task.cancel()
      let error = await #expect(throws: RPCError.self) { try await task.value }
      #expect(error?.code == .canceled)
      #expect(error?.message == "the task was canceled")
      await finishes.codes.wait { $0 == [.canceled] }
    }
    #expect(finishes.codes.value == [.canceled])
  }

  @Test func taskThatIsCanceledBeforeTheCallSendsNothing() async throws {
    server.respond(to: "test.v1.Echo/Unary", [:])
    try await withRPCClient(server) { client in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await client.unary("test.v1.Echo/Unary", [:])
      }
      let error = await #expect(throws: RPCError.self) { try await task.value }
      #expect(error?.code == .canceled)
    }
  }

  @Test func taskThatIsCanceledBeforeReflectionSendsNothing() async throws {
    try await withRPCClient(testServer(.reflection), interceptors: [finishes]) { client in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await client.unary("test.v1.Echo/Unary", [:])
      }
      let error = await #expect(throws: RPCError.self) { try await task.value }
      #expect(error?.message == "the task was canceled")
    }
    #expect(finishes.codes.value.isEmpty)
  }

  @Test func breakOutOfStreamCancelsTheCall() async throws {
    server.handle("test.v1.Echo/Server") { _ in ServerResponse(messages: Endless(made: Signal(0))) }
    try await withRPCClient(server, interceptors: [finishes]) { client in
      for try await _ in try await client.serverStreaming("test.v1.Echo/Server", [:]) { break }
      await finishes.codes.wait { $0 == [.canceled] }
    }
    #expect(finishes.codes.value == [.canceled])
  }

  @Test func canceledReaderThrowsInsteadOfEnding() async throws {
    server.respond(to: "test.v1.Echo/Server", [:], [:], [:])
    try await withRPCClient(server) { client in
      let read = Signal(0)
      let task = Task {
        for try await _ in try await client.serverStreaming("test.v1.Echo/Server", [:]) {
          read.change { $0 += 1 }
          withUnsafeCurrentTask { $0?.cancel() }
        }
      }
      let error = await #expect(throws: RPCError.self) { try await task.value }
      #expect(error?.code == .canceled)
      #expect(read.value == 1)
    }
  }

  @Test func bidirectionalCallEndsWithItsScope() async throws {
    server.handle("test.v1.Echo/Bidi") { call in ServerResponse(messages: Echo(messages: call.messages)) }
    try await withRPCClient(server, interceptors: [finishes]) { client in
      try await client.bidirectional("test.v1.Echo/Bidi") { requests, responses in
        try await requests.send([:])
        for try await _ in responses { break }
      }
      await finishes.codes.wait { $0 == [.canceled] }
    }
  }

  // MARK: Deadlines

  @Test func deadlineEndsTheCall() async throws {
    hang()
    try await withRPCClient(server, interceptors: [finishes]) { client in
      let error = await #expect(throws: RPCError.self) {
        try await client.unary("test.v1.Echo/Unary", [:], timeout: .milliseconds(20))
      }
      #expect(error?.code == .deadlineExceeded)
      #expect(error?.origin == .client)
    }
    #expect(finishes.codes.value == [.deadlineExceeded])
  }

  @Test func timeoutOfTheOptionsAppliesToCallsWithoutOne() async throws {
    hang()
    var options = ClientOptions()
    options.timeout = .milliseconds(20)
    try await withRPCClient(server, options: options) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary("test.v1.Echo/Unary", [:]) }
      #expect(error?.code == .deadlineExceeded)
    }
  }

  // MARK: Backpressure

  @Test func slowReaderPausesTheServer() async throws {
    let made = Signal(0)
    server.handle("test.v1.Echo/Server") { _ in ServerResponse(messages: Endless(made: made)) }
    try await withRPCClient(server) { client in
      let stream = try await client.serverStreaming("test.v1.Echo/Server", [:])
      var messages = stream.makeAsyncIterator()
      _ = try await messages.next()
      // The server stops when the buffers between it and the reader are full.
      let count = await made.settled()
      #expect(count < 2 * CallChannel.limit.count)
      for _ in 0..<count { _ = try await messages.next() }
      await made.wait { $0 > count }
    }
  }

  @Test func slowServerSuspendsTheWriter() async throws {
    let sent = Signal(0)
    let reading = Signal(false)
    server.handle("test.v1.Echo/Client") { call in
      await reading.wait { $0 }
      return ServerResponse(messages: [["number": try await call.readRequest().count]])
    }
    try await withRPCClient(server) { client in
      let text = String(repeating: "x", count: 64 << 10)
      let messages = AsyncStream<FieldValue> {
        let count = sent.change { $0 += 1 }
        return count > 500 ? nil : ["text": text]
      }
      async let reply = client.clientStreaming("test.v1.Echo/Client", messages)
      // The window of the chain is 4 MiB.
      let count = await sent.settled()
      #expect(count < 300)
      reading.change { $0 = true }
      let message = try await reply.message
      #expect(try message["number"] as Int == 500)
    }
  }

  @Test func serverThatEndsEarlyEndsTheWriter() async throws {
    server.handle("test.v1.Echo/Client") { _ in ServerResponse(messages: [["number": 7]]) }
    try await withRPCClient(server) { client in
      // The sequence never ends by itself.
      let (messages, continuation) = AsyncStream.makeStream(of: FieldValue.self)
      continuation.yield(["number": 1])
      let reply = try await client.clientStreaming("test.v1.Echo/Client", messages)
      #expect(try reply.message["number"] as Int == 7)
      _ = continuation
    }
  }

  @Test func errorOfTheSequenceIsThrownAndCancelsTheCall() async throws {
    struct Broken: Error {}
    server.handle("test.v1.Echo/Client") { call in
      ServerResponse(messages: [["number": try await call.readRequest().count]])
    }
    try await withRPCClient(server, interceptors: [finishes]) { client in
      let messages = AsyncThrowingStream<FieldValue, any Error> { throw Broken() }
      await #expect(throws: Broken.self) {
        try await client.clientStreaming("test.v1.Echo/Client", messages)
      }
    }
    #expect(finishes.codes.value == [.canceled])
  }

  @Test func cancellationOfTheSequenceIsTheCodeCanceled() async throws {
    server.handle("test.v1.Echo/Client") { call in
      ServerResponse(messages: [["number": try await call.readRequest().count]])
    }
    server.handle("test.v1.Echo/Bidi") { call in ServerResponse(messages: Echo(messages: call.messages)) }
    try await withRPCClient(server, interceptors: [finishes]) { client in
      let messages = AsyncThrowingStream<FieldValue, any Error> { throw CancellationError() }
      let error = await #expect(throws: RPCError.self) {
        try await client.clientStreaming("test.v1.Echo/Client", messages)
      }
      #expect(error?.code == .canceled)
      let other = await #expect(throws: RPCError.self) {
        try await client.bidirectional("test.v1.Echo/Bidi") { requests, _ in
          try await requests.send(contentsOf: messages)
        }
      }
      #expect(other?.code == .canceled)
    }
    #expect(finishes.codes.value == [.canceled, .canceled])
  }

  @Test func sendAfterTheHalfCloseIsAnError() async throws {
    server.handle("test.v1.Echo/Bidi") { call in ServerResponse(messages: Echo(messages: call.messages)) }
    try await withRPCClient(server) { client in
      try await client.bidirectional("test.v1.Echo/Bidi") { requests, responses in
        requests.finish()
        let error = await #expect(throws: RPCError.self) { try await requests.send([:]) }
        #expect(error?.code == .failedPrecondition)
        for try await _ in responses {}
      }
    }
  }

  @Test func manyMessagesArriveInOrder() async throws {
    let count = 50_000
    server.handle("test.v1.Echo/Server") { _ in ServerResponse(messages: Endless(made: Signal(0))) }
    try await withRPCClient(server) { client in
      var next = 1
      for try await item in try await client.serverStreaming("test.v1.Echo/Server", [:]) {
        guard try item["number"] as Int == next else {
          Issue.record("\(try item["number"] as Int) instead of \(next)")
          break
        }
        next += 1
        if next > count { break }
      }
      #expect(next == count + 1)
    }
  }

  // MARK: The end of the client

  @Test func leavingTheScopeEndsEveryCallOnce() async throws {
    hang()
    var tasks: [Task<UnaryResponse<Message>, any Error>] = []
    try await withRPCClient(server, interceptors: [finishes]) { client in
      for _ in 0..<10 { tasks.append(Task { try await client.unary("test.v1.Echo/Unary", [:]) }) }
      await entered.wait { $0 == 10 }
    }
    #expect(finishes.codes.value == Array(repeating: .canceled, count: 10))
    for task in tasks {
      let error = await #expect(throws: RPCError.self) { try await task.value }
      #expect(error?.message == "the client is closed")
    }
  }

  @Test func releasedClientEndsItsCalls() async throws {
    server.handle("test.v1.Echo/Server") { _ in ServerResponse(messages: Endless(made: Signal(0))) }
    var client: RPCClient? = RPCClient(server, interceptors: [finishes])
    let stream = try await client?.serverStreaming("test.v1.Echo/Server", [:])
    var messages = try #require(stream).makeAsyncIterator()
    #expect(try await messages.next() != nil)
    client = nil
    await finishes.codes.wait { $0 == [.canceled] }
    do {
      while try await messages.next() != nil {}
      Issue.record("the stream has ended without an error")
    } catch {
      #expect(error.code == .canceled)
    }
  }

  @Test func errorOfTheScopeIsThrownAfterCallsHaveEnded() async throws {
    struct Broken: Error {}
    hang()
    await #expect(throws: Broken.self) {
      try await withRPCClient(server, interceptors: [finishes]) { client in
        Task { try await client.unary("test.v1.Echo/Unary", [:]) }
        await entered.wait { $0 == 1 }
        throw Broken()
      }
    }
    #expect(finishes.codes.value == [.canceled])
  }
}

/// Messages with the numbers from 1 on.
private struct Endless: AsyncSequence, Sendable {
  typealias Failure = any Error

  let made: Signal<Int>

  struct AsyncIterator: AsyncIteratorProtocol {
    let made: Signal<Int>
    var number = 0
    mutating func next() async throws -> FieldValue? {
      number += 1
      let number = number
      made.change { $0 = number }
      return ["number": number]
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(made: made) }
}
