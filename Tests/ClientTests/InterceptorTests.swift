import RPCurlClient
import RPCurlClientTesting
import Testing

/// What the chain promises to interceptors, through asynchronous calls: of asynchronous interceptors, and of those that are
/// called stage by stage.
@Suite(.timeLimit(.minutes(10))) struct InterceptorTests {
  private let server = testServer()
  private let journal = Signal<[String]>([])
  private static let unary = "test.v1.Echo/Unary"
  private static let stream = "test.v1.Echo/Server"
  private let unary = Self.unary
  private let stream = Self.stream

  /// An asynchronous interceptor that calls a closure.
  private struct Whole: Interceptor {
    var replayLimitBytes = 0
    var methods: Set<String>?
    let body: @Sendable (inout Request, Next) async throws -> Response

    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      try await body(&request, next)
    }

    func applies(to call: CallFacts) -> Bool { methods?.contains(call.method.method) ?? true }
  }

  /// An interceptor that is called stage by stage, and notes each stage.
  private final class Staged: StagedInterceptor {
    let stages: Stages = .all
    let name: String
    let journal: Signal<[String]>

    init(_ name: String, _ journal: Signal<[String]>) {
      self.name = name
      self.journal = journal
    }

    private func note(_ text: String) {
      let name = name
      journal.change { $0.append("\(name) \(text)") }
    }

    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
      note("start")
      token.proceed(start)
    }
    func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
      note("message")
      token.proceed(message)
    }
    func requestEnd(_ token: consuming RequestToken<Void>) {
      note("half-close")
      token.proceed()
    }
    func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
      note("got message")
      token.proceed(message)
    }
    func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
      note("end")
      token.proceed(end)
    }
    func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
      note("metrics")
      token.proceed(metrics)
    }
    func finish(_ outcome: Outcome) { note("finish \(outcome.end.code.name)") }
  }

  private func staged(_ name: String) -> InterceptorRegistration {
    let journal = journal
    return InterceptorRegistration(name: name, factory: ClosureFactory { _, _ in Staged(name, journal) })
  }

  private func whole(
    replayLimitBytes: Int = 0,
    _ body:
      @escaping @Sendable (inout InterceptedRequest, NextInterceptor) async throws -> InterceptedResponse
  ) -> Whole {
    Whole(replayLimitBytes: replayLimitBytes, body: body)
  }

  private func noting(_ name: String) -> Whole {
    whole { [journal] request, next in
      journal.change { $0.append("\(name) request") }
      let response = try await next(request)
      journal.change { $0.append("\(name) response") }
      return response
    }
  }

  // MARK: Order

  @Test func requestsPassFirstToLastAndResponsesBack() async throws {
    server.respond(to: unary, [:])
    try await withRPCClient(server, interceptors: [noting("A"), noting("B")]) { client in
      _ = try await client.unary(unary, [:])
    }
    #expect(journal.value == ["A request", "B request", "B response", "A response"])
  }

  @Test func priorityAndPlacementOrderInterceptors() async throws {
    server.respond(to: unary, [:])
    var first = InterceptorRegistration(name: "first", factory: AsyncFactory(noting("first")))
    first.priority = 5
    let last = InterceptorRegistration(
      name: "last", factory: AsyncFactory(noting("last")), after: ["middle"])
    let middle = InterceptorRegistration(name: "middle", factory: AsyncFactory(noting("middle")))
    try await withRPCClient(server, interceptors: [last, middle, first]) { client in
      _ = try await client.unary(unary, [:])
    }
    #expect(journal.value.prefix(3) == ["first request", "middle request", "last request"])
  }

  @Test func eachStageIsReachedOnceInOrder() async throws {
    server.respond(to: unary, ["text": "x"])
    try await withRPCClient(server, interceptors: [staged("A")]) { client in
      _ = try await client.unary(unary, ["text": "y"])
    }
    let lines = journal.value
    #expect(
      lines == [
        "A start", "A message", "A half-close", "A got message", "A end", "A metrics", "A finish ok",
      ])
  }

  // MARK: Verdicts

  @Test func changesOfBothDirectionsArrive() async throws {
    server.respond(to: unary, ["text": "b"], headers: ["h": "1"], trailers: ["t": "1"])
    let change = whole { request, next in
      request.headers["x"] = "changed"
      request.messages = Changed(messages: request.messages, suffix: "1")
      var response = try await next(request)
      response.headers["h"] = "2"
      response.messages = Changed(messages: response.messages, suffix: "2")
      response.changeTrailers = { _ in ["t": "2"] }
      return response
    }
    try await withRPCClient(server, interceptors: [change]) { client in
      let reply = try await client.unary(unary, ["text": "a"])
      #expect(try reply.message["text"] as String == "b2")
      #expect(reply.headers["h"] == "2")
      #expect(reply.trailers["t"] == "2")
    }
    #expect(server.calls.first?.start.headers["x"] == "changed")
    #expect(try server.calls.first?.messages.first?["text"] as String? == "a1")
  }

  @Test func failureBeforeNextSendsNothing() async throws {
    server.respond(to: unary, [:])
    let refuse = whole { _, _ in throw RPCError(.permissionDenied, "no", origin: .interceptor("refuse")) }
    try await withRPCClient(server, interceptors: [staged("A"), refuse, staged("B")]) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary(unary, [:]) }
      #expect(error == RPCError(.permissionDenied, "no", origin: .interceptor("refuse")))
    }
    #expect(server.calls.isEmpty)
    #expect(journal.value.contains("A finish permission_denied"))
    #expect(!journal.value.contains("B start"))
  }

  @Test func interceptorMayWait() async throws {
    server.respond(to: unary, [:])
    let isOpen = Signal(false)
    let waiting = Signal(false)
    let wait = whole { request, next in
      waiting.change { $0 = true }
      await isOpen.wait { $0 }
      return try await next(request)
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

  @Test func interceptorMayOptOut() async throws {
    server.respond(to: unary, [:])
    server.respond(to: "test.v1.Echo/Server", [:])
    var only = noting("A")
    only.methods = ["Server"]
    let none = InterceptorRegistration(name: "none", factory: ClosureFactory { _, _ in nil })
    try await withRPCClient(server, interceptors: [only, none]) { client in
      _ = try await client.unary(unary, [:])
      #expect(journal.value.isEmpty)
      for try await _ in try await client.serverStreaming("test.v1.Echo/Server", [:]) {}
    }
    #expect(journal.value == ["A request", "A response"])
  }

  @Test func interceptorMayRespondInPlaceOfTheServer() async throws {
    let local = whole { request, _ in
      guard let type = request.call.responseType else { throw CancellationError() }
      return InterceptedResponse(
        start: ResponseStart(headers: ["from": "local"]), messages: [try Message(type, ["text": "local"])])
    }
    try await withRPCClient(server, interceptors: [staged("A"), local, staged("B")]) { client in
      let reply = try await client.unary(unary, [:])
      #expect(try reply.message["text"] as String == "local")
      #expect(reply.headers["from"] == "local")
    }
    #expect(server.calls.isEmpty)
    #expect(journal.value.contains("A got message"))
    #expect(!journal.value.contains("B start"))
  }

  @Test func interceptorMayRetry() async throws {
    server.fail(unary, RPCError(.unavailable, "1", origin: .server))
    server.fail(unary, RPCError(.unavailable, "2", origin: .server))
    server.respond(to: unary, ["text": "third"])
    let retry = whole(replayLimitBytes: 1000) { request, next in
      while true {
        do {
          return try await next(request)
        } catch let error as RPCError where error.code == .unavailable {
          continue
        }
      }
    }
    try await withRPCClient(server, interceptors: [staged("A"), retry, staged("B")]) { client in
      let reply = try await client.unary(unary, ["text": "again"])
      #expect(try reply.message["text"] as String == "third")
    }
    #expect(
      try server.calls.map { try $0.messages.first?["text"] as String? } == ["again", "again", "again"])
    #expect(journal.value.filter { $0 == "A start" }.count == 1)
    #expect(journal.value.filter { $0 == "B start" }.count == 3)
    #expect(journal.value.filter { $0.hasPrefix("B finish") }.count == 3)
  }

  @Test(arguments: [1, 100])
  func callThatCannotBeRetriedKeepsItsError(_ attempts: Int) async throws {
    server.fail(unary, RPCError(.unavailable, "late", origin: .server))
    let retry = whole(replayLimitBytes: 1) { request, next in
      for _ in 1...attempts {
        do {
          return try await next(request)
        } catch let error as RPCError where error.code == .unavailable {}
      }
      return try await next(request)
    }
    try await withRPCClient(server, interceptors: [retry]) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary(unary, ["text": "long"]) }
      // It does not repeat forever what cannot be repeated.
      #expect(error?.message.contains(attempts == 1 ? "late" : "too large to be kept") == true)
      #expect(error?.code == (attempts == 1 ? .unavailable : .internal))
    }
    #expect(server.calls.count == 1)
  }

  /// The error of a single response is thrown by `next`, also if the server has sent headers.
  @Test(arguments: [ProtocolName.grpc, .grpcWeb, .connect], [true, false])
  func errorOfASingleResponseIsThrownByNext(_ protocolName: ProtocolName, _ hasHeaders: Bool) async throws {
    let failure = RPCError(.aborted, "late", origin: .server)
    server.handle(unary) { call in
      try await call.readRequest()
      guard hasHeaders else { throw failure }
      var response = ServerResponse(messages: [], headers: ["h": "1"])
      response.error = failure
      return response
    }
    try await withRPCClient(server, options: options(protocolName), interceptors: [noting("A")]) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary(unary, [:]) }
      #expect(error?.code == .aborted)
      #expect(error?.metadata["h"] == (hasHeaders ? "1" : nil))
    }
    #expect(journal.value == ["A request"])
  }

  private func options(_ protocolName: ProtocolName) -> ClientOptions {
    var options = ClientOptions()
    options.protocolName = protocolName
    return options
  }

  /// `next` returns at the start of a stream that does not show its end.
  @Test(arguments: [ProtocolName.grpc, .grpcWeb, .connect], [true, false])
  func errorOfAStreamIsThrownByNextIfItsStartShowsIt(_ protocolName: ProtocolName, _ hasMessage: Bool)
    async throws
  {
    let failure = RPCError(.aborted, "late", origin: .server)
    if hasMessage {
      server.fail(stream, failure, after: ["number": 1])
    } else {
      server.fail(stream, failure)
    }
    let observing = whole { [journal] request, next in
      do {
        var response = try await next(request)
        journal.change { $0.append("next") }
        response.messages = Noted(messages: response.messages, journal: journal)
        return response
      } catch let error as RPCError {
        journal.change { $0.append("error of next \(error.code.name)") }
        throw error
      }
    }
    try await withRPCClient(server, options: options(protocolName), interceptors: [observing]) { client in
      let error = await #expect(throws: RPCError.self) {
        for try await _ in try await client.serverStreaming(stream, [:]) {}
      }
      #expect(error?.code == .aborted)
    }
    #expect(
      journal.value
        == (!hasMessage && protocolName == .grpc ? ["error of next aborted"] : ["next", "error aborted"]))
  }

  /// The retry of the documentation, for errors of `next` and of the messages of a stream.
  @Test(arguments: [ProtocolName.grpc, .grpcWeb, .connect], [unary, stream])
  func documentedRetryRetries(_ protocolName: ProtocolName, _ method: String) async throws {
    let failure = RPCError(.unavailable, "late", origin: .server)
    server.fail(method, failure)
    server.fail(method, failure)
    server.respond(to: method, ["text": "third"])
    let retry = whole(replayLimitBytes: 1000) { request, next in
      for _ in 1...2 {
        do {
          let response = try await next(request)
          return try await response.withFirstMessage()
        } catch let error as RPCError where error.code == .unavailable {
          continue
        }
      }
      return try await next(request)
    }
    try await withRPCClient(server, options: options(protocolName), interceptors: [retry, noting("B")]) {
      client in
      if method == unary {
        let reply = try await client.unary(method, [:])
        #expect(try reply.message["text"] as String == "third")
      } else {
        var texts: [String] = []
        for try await item in try await client.serverStreaming(method, [:]) { texts.append(try item["text"]) }
        #expect(texts == ["third"])
      }
    }
    #expect(server.calls.count == 3)
  }

  // MARK: The end

  @Test(arguments: [true, false]) func finishIsCalledOnceWithOutcomeAndMetrics(_ succeeds: Bool) async throws
  {
    if succeeds {
      server.respond(to: unary, [:])
    } else {
      server.fail(unary, RPCError(.aborted, "no", origin: .server))
    }
    let outcomes = Signal<[Outcome]>([])
    let finishing = whole { request, next in
      request.onFinish { outcome in outcomes.change { $0.append(outcome) } }
      return try await next(request)
    }
    try await withRPCClient(server, interceptors: [finishing]) { client in
      _ = try? await client.unary(unary, [:])
    }
    #expect(outcomes.value.map(\.end.code) == [succeeds ? .ok : .aborted])
    #expect(outcomes.value.allSatisfy { $0.metrics.attempts == 1 })
  }

  @Test func logNamesTheInterceptor() async throws {
    server.respond(to: unary, [:])
    let records = Signal<[String]>([])
    var options = ClientOptions()
    options.log = { record in records.change { $0.append("\(record.source): \(record.text)") } }
    let logging = whole { request, next in
      request.log(.info, "hello")
      return try await next(request)
    }
    try await withRPCClient(server, options: options, interceptors: [logging]) { client in
      _ = try await client.unary(unary, [:])
    }
    // On a busy machine, warnings of long holds may stand before it and after it.
    #expect(records.value.contains("Whole: hello"))
  }

  @Test func factoriesAreConcludedWhenTheClientCloses() async throws {
    struct Collecting: InterceptorFactory {
      let journal: Signal<[String]>
      func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? { nil }
      func callFinished(_ network: FactoryNetwork) { journal.change { $0.append("finished") } }
      func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
        journal.change { $0.append("concluded") }
        completion()
      }
    }
    server.respond(to: unary, [:])
    let collecting = InterceptorRegistration(name: "collect", factory: Collecting(journal: journal))
    try await withRPCClient(server, interceptors: [collecting]) { client in
      _ = try await client.unary(unary, [:])
    }
    #expect(journal.value == ["finished", "concluded"])
  }
}

/// Messages with a suffix after their text.
private struct Changed: AsyncSequence, Sendable {
  typealias Failure = any Error

  let messages: AsyncMessages
  let suffix: String

  struct AsyncIterator: AsyncIteratorProtocol {
    var messages: any AsyncIteratorProtocol<Message, any Error>
    let suffix: String

    mutating func next() async throws -> Message? {
      guard var message = try await messages.next(isolation: #isolation) else { return nil }
      try message.set(.string(try message["text"] + suffix), at: FieldPath("text"))
      return message
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(messages: messages.makeAsyncIterator(), suffix: suffix)
  }
}

extension InterceptedResponse {
  /// The response, when its first message or its end has arrived.
  ///
  /// - Throws: The error of a response without messages.
  fileprivate func withFirstMessage() async throws -> InterceptedResponse {
    var iterator: any AsyncIteratorProtocol<Message, any Error> = messages.makeAsyncIterator()
    let first = try await iterator.next(isolation: #isolation)
    var response = self
    response.messages = Prefixed(first: first, messages: messages)
    return response
  }
}

/// A message, and those after it.
private struct Prefixed: AsyncSequence, Sendable {
  typealias Failure = any Error

  let first: Message?
  let messages: AsyncMessages

  struct AsyncIterator: AsyncIteratorProtocol {
    var first: Message?
    var messages: any AsyncIteratorProtocol<Message, any Error>

    mutating func next() async throws -> Message? {
      if let first = first.take() { return first }
      return try await messages.next(isolation: #isolation)
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(first: first, messages: messages.makeAsyncIterator())
  }
}

/// Messages whose error is noted.
private struct Noted: AsyncSequence, Sendable {
  typealias Failure = any Error

  let messages: AsyncMessages
  let journal: Signal<[String]>

  struct AsyncIterator: AsyncIteratorProtocol {
    var messages: any AsyncIteratorProtocol<Message, any Error>
    let journal: Signal<[String]>

    mutating func next() async throws -> Message? {
      do {
        return try await messages.next(isolation: #isolation)
      } catch {
        let code = (error as? RPCError)?.code.name ?? "\(error)"
        journal.change { $0.append("error \(code)") }
        throw error
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(messages: messages.makeAsyncIterator(), journal: journal)
  }
}

/// Returns all messages when the sequence has ended.
private func all(_ messages: some AsyncSequence<Message, any Error> & Sendable) async throws -> [Message] {
  var all: [Message] = []
  for try await message in messages { all.append(message) }
  return all
}
