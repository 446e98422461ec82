import RPCurlClient
import RPCurlClientTesting
import RPCurlProtobuf
import Testing

/// What the chain promises to interceptors that are called stage by stage, in the calls of asynchronous clients.
/// `InterceptorTests` has the same for asynchronous interceptors.
@Suite(.timeLimit(.minutes(10))) struct StatementTests {
  private let server = testServer()
  private let journal = Signal<[String]>([])
  private let unary = "test.v1.Echo/Unary"

  /// An interceptor that calls closures at some of its stages.
  private final class Staged: StagedInterceptor {
    var stages: Stages = []
    var requirements = InterceptorRequirements()
    var onStart: ((RequestStart, consuming RequestToken<RequestStart>) -> Void)? {
      didSet { stages.insert(.requestStart) }
    }
    var messages = MessageAccesses()
    var onRequestMessage: ((MessageValue, consuming RequestToken<MessageValue>) -> Void)? {
      didSet { stages.insert(.requestMessage) }
    }
    var onRequestEnd: (() -> Void)? { didSet { stages.insert(.requestEnd) } }
    var onResponseStart: ((ResponseStart, consuming ResponseToken<ResponseStart>) -> Void)? {
      didSet { stages.insert(.responseStart) }
    }
    var onResponseMessage: ((MessageValue, consuming ResponseToken<MessageValue>) -> Void)? {
      didSet { stages.insert(.responseMessage) }
    }
    var onEnd: ((ResponseEnd, consuming ResponseToken<ResponseEnd>) -> Void)? {
      didSet { stages.insert(.responseEnd) }
    }
    var onMetrics: ((CallMetrics) -> Void)? { didSet { stages.insert(.metrics) } }
    var onFinish: ((Outcome) -> Void)?

    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
      if let onStart { onStart(start, token) } else { token.proceed(start) }
    }
    func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
      if let onRequestMessage { onRequestMessage(message, token) } else { token.proceed(message) }
    }
    func requestEnd(_ token: consuming RequestToken<Void>) {
      onRequestEnd?()
      token.proceed()
    }
    func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
      if let onResponseStart { onResponseStart(start, token) } else { token.proceed(start) }
    }
    func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
      if let onResponseMessage { onResponseMessage(message, token) } else { token.proceed(message) }
    }
    func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
      if let onEnd { onEnd(end, token) } else { token.proceed(end) }
    }
    func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
      onMetrics?(metrics)
      token.proceed(metrics)
    }
    func finish(_ outcome: Outcome) { onFinish?(outcome) }
  }

  /// Makes an interceptor for each call, which `set` changes.
  private func staged(
    _ name: String, _ set: @escaping @Sendable (Staged, CallFacts, CallContext) -> Void
  ) -> InterceptorRegistration {
    InterceptorRegistration(
      name: name,
      factory: ClosureFactory { call, context in
        let interceptor = Staged()
        set(interceptor, call, context)
        return interceptor
      })
  }

  /// Notes the start and the end of each attempt.
  private func noting(_ name: String) -> InterceptorRegistration {
    let journal = journal
    return staged(name) { interceptor, _, _ in
      interceptor.onStart = { start, token in
        journal.change { $0.append("\(name) start") }
        token.proceed(start)
      }
      interceptor.onFinish = { outcome in
        let code = outcome.end.code.name
        journal.change { $0.append("\(name) finish \(code)") }
      }
    }
  }

  @Test func interceptorOfBytesReceivesAndChangesSerializedMessages() async throws {
    server.handle(unary) { call in
      let text = try await call.readRequest().first?["text"] as String?
      return ServerResponse(messages: [["text": "\(text ?? "")!"]])
    }
    // Field 1 is the text; the last value of a field counts.
    let bytes = staged("bytes") { interceptor, _, _ in
      interceptor.messages = MessageAccesses(.changeBytes)
      interceptor.onRequestMessage = { message, token in
        #expect((try? message.bytes) == [0x0A, 1, UInt8(ascii: "a")])
        token.proceed(message.appending([0x0A, 1, UInt8(ascii: "b")]))
      }
      interceptor.onResponseMessage = { message, token in
        #expect((try? message.bytes) == [0x0A, 2, UInt8(ascii: "b"), UInt8(ascii: "!")])
        token.proceed(message.appending([0x10, 7]))
      }
    }
    try await withRPCClient(server, interceptors: [bytes]) { client in
      let reply = try await client.unary(unary, ["text": "a"])
      #expect(try reply.message["text"] as String == "b!")
      #expect(try reply.message["number"] as Int == 7)
    }
  }

  @Test func failureBeforeTheStartSendsNothing() async throws {
    server.respond(to: unary, [:])
    let refuse = staged("refuse") { interceptor, _, _ in
      interceptor.onStart = { _, token in
        token.fail(RPCError(.permissionDenied, "no", origin: .interceptor("refuse")), trailers: ["t": "1"])
      }
    }
    try await withRPCClient(server, interceptors: [noting("A"), refuse, noting("B")]) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary(unary, [:]) }
      #expect(error?.code == .permissionDenied)
      #expect(error?.origin == .interceptor("refuse"))
      #expect(error?.metadata["t"] == "1")
    }
    #expect(server.calls.isEmpty)
    #expect(journal.value == ["A start", "A finish permission_denied"])
  }

  @Test func tokenMayBeUsedLaterOnAnotherThread() async throws {
    server.respond(to: unary, [:])
    let isOpen = Signal(false)
    let waiting = Signal(false)
    let wait = staged("wait") { interceptor, _, context in
      let handle = context.handle
      interceptor.onStart = { start, token in
        let held = LoopBound(HeldToken(token))
        waiting.change { $0 = true }
        Task {
          await isOpen.wait { $0 }
          handle.post { held.value.use { $0.proceed(start) } }
        }
      }
    }
    try await withRPCClient(server, interceptors: [wait]) { client in
      async let reply = client.unary(unary, [:])
      await waiting.wait { $0 }
      #expect(server.calls.isEmpty)
      isOpen.change { $0 = true }
      _ = try await reply
    }
    #expect(server.calls.count == 1)
  }

  @Test func interceptorMayDeclineCalls() async throws {
    server.respond(to: unary, [:])
    let journal = journal
    let factory = ClosureFactory { call, _ in
      journal.change { $0.append("\(call.method.method) \(call.kind.rawValue)") }
      return nil
    }
    let scoped = noting("scoped")
    var scope = CallScope()
    scope.methods = Selection([.method("Server")])
    var elsewhere = scoped
    elsewhere.scope = scope
    let declining = InterceptorRegistration(name: "decline", factory: factory)
    try await withRPCClient(server, interceptors: [declining, elsewhere]) { client in
      _ = try await client.unary(unary, [:])
    }
    #expect(journal.value == ["Unary unary"])
  }

  @Test func interceptorMayRespondInPlaceOfTheServer() async throws {
    let local = staged("local") { interceptor, call, _ in
      interceptor.onRequestMessage = { message, token in
        guard let type = call.responseType, let response = try? Message(type, ["text": "local"]) else {
          return token.proceed(message)
        }
        token.respond(
          LocalResponse(headers: ["from": "local"], messages: [.typed(response)], trailers: ["t": "1"]))
      }
    }
    try await withRPCClient(server, interceptors: [noting("A"), local]) { client in
      let reply = try await client.unary(unary, [:])
      #expect(try reply.message["text"] as String == "local")
      #expect(reply.headers["from"] == "local")
      #expect(reply.trailers["t"] == "1")
    }
    #expect(server.calls.isEmpty)
    #expect(journal.value == ["A start", "A finish ok"])
  }

  @Test func interceptorMayRetry() async throws {
    server.fail(unary, RPCError(.unavailable, "1", origin: .server))
    server.respond(to: unary, ["text": "second"])
    let retry = staged("retry") { interceptor, _, _ in
      interceptor.requirements.replayLimitBytes = 1000
      // The headers are held: after them, the call could not be retried.
      var held: (ResponseStart, HeldToken<ResponseStart, Inbound>)?
      interceptor.onResponseStart = { start, token in held = (start, HeldToken(token)) }
      interceptor.onEnd = { end, token in
        if end.code == .unavailable, token.canRetry { return token.retry(headers: ["x-attempt": "2"]) }
        if let (start, token) = held.take() { token.use { $0.proceed(start) } }
        token.proceed(end)
      }
    }
    try await withRPCClient(server, interceptors: [noting("A"), retry, noting("B")]) { client in
      let reply = try await client.unary(unary, ["text": "again"])
      #expect(try reply.message["text"] as String == "second")
    }
    #expect(server.calls.map { $0.start.headers["x-attempt"] } == [nil, "2"])
    #expect(try server.calls.map { try $0.messages.first?["text"] as String? } == ["again", "again"])
    #expect(journal.value.filter { $0 == "A start" }.count == 1)
    #expect(journal.value.filter { $0 == "B start" }.count == 2)
  }

  @Test func metricsFollowTheEnd() async throws {
    server.respond(to: unary, ["text": "x"])
    let metrics = Signal<[CallMetrics]>([])
    let measuring = staged("metrics") { interceptor, _, _ in
      interceptor.onMetrics = { value in metrics.change { $0.append(value) } }
    }
    try await withRPCClient(server, interceptors: [measuring]) { client in
      _ = try await client.unary(unary, ["text": "x"])
    }
    #expect(metrics.value.map(\.attempts) == [1])
    #expect(metrics.value.allSatisfy { $0.total > .zero })
  }

  @Test func canceledCallFinishesEachInterceptorOnce() async throws {
    let started = Signal(false)
    server.handle(unary) { _ in
      started.change { $0 = true }
      try await Task.sleep(for: .seconds(3600))
      return ServerResponse(messages: [[:]])
    }
    let outcomes = Signal<[Outcome]>([])
    try await withRPCClient(
      server, interceptors: [noting("A"), Finishing(outcomes: outcomes), noting("B")]
    ) { client in
      let task = Task { [unary] in try await client.unary(unary, [:]) }
      await started.wait { $0 }
      task.cancel()
      let error = await #expect(throws: RPCError.self) { try await task.value }
      #expect(error?.code == .canceled)
    }
    #expect(outcomes.value.map(\.end.code) == [.canceled])
    #expect(
      journal.value.filter { $0.contains("finish") }.sorted() == ["A finish canceled", "B finish canceled"])
  }

  @Test func requestOfFailedOrCanceledCallIsNotHalfClosed() async throws {
    struct Broken: Error {}
    for method in ["test.v1.Echo/Client", "test.v1.Echo/Bidi"] {
      server.handle(method) { call in
        try await call.readRequest()
        return ServerResponse(messages: [[:]])
      }
    }
    let ends = Signal(0)
    let counting = staged("ends") { interceptor, _, _ in
      interceptor.onRequestEnd = { ends.change { $0 += 1 } }
    }
    try await withRPCClient(server, interceptors: [counting]) { client in
      // Like a stream of which the task is canceled: it ends early, without an error.
      let messages = AsyncStream<FieldValue> {
        withUnsafeCurrentTask { $0?.cancel() }
        return nil
      }
      let error = await #expect(throws: RPCError.self) {
        try await client.clientStreaming("test.v1.Echo/Client", messages)
      }
      #expect(error?.code == .canceled)
      await #expect(throws: Broken.self) {
        try await client.bidirectional("test.v1.Echo/Bidi") { requests, _ in
          try await requests.send([:])
          throw Broken()
        }
      }
    }
    #expect(ends.value == 0)
  }

  /// Notes the outcome of each call.
  private struct Finishing: Interceptor {
    let outcomes: Signal<[Outcome]>

    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      let outcomes = outcomes
      request.onFinish { outcome in outcomes.change { $0.append(outcome) } }
      return try await next(request)
    }
  }
}

extension MessageValue {
  /// The message with further bytes.
  fileprivate func appending(_ more: [UInt8]) -> MessageValue {
    var message = self
    do {
      try message.setBytes(try message.bytes + more)
    } catch {
      Issue.record("\(error)")
    }
    return message
  }
}
