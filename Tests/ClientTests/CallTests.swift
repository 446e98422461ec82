import FoundationEssentials
import RPCurlClient
import RPCurlClientTesting
import Testing

/// The four kinds of calls, without a network.
struct CallTests {
  private let server = testServer()

  /// A message above the limit of a channel pauses the response until it is received.
  @Test func largeResponse() async throws {
    let text = String(repeating: "x", count: 1 << 20)
    server.respond(to: "test.v1.Echo/Unary", ["text": text])
    try await withRPCClient(server) { client in
      let reply = try await client.unary("test.v1.Echo/Unary", [:])
      #expect(try reply.message["text"] as String == text)
    }
  }

  @Test(arguments: [
    ("", ""), ("h:80", ""), ("unix:/run/x", ""), ("ftp://h", ""), ("http://", ": missing host"),
    ("http:///h:1", ": missing host"), ("http://h:x", ""), ("http://[::1", ""), ("http://h a", ""),
    ("http://h:0", ": the port is not a number from 1 to 65535"),
    ("http://h/#f", ": a fragment is not allowed"),
    ("http://u:secret@h", ": credentials are not allowed in it"),
  ])
  func invalidTargetFailsEachCall(_ target: String, _ why: String) async throws {
    let method = UnaryMethod<[UInt8], [UInt8]>(
      MethodName(service: "test.v1.Echo", method: "Unary"), serialize: { $0 }, parse: { $0 })
    for schema in [TestSchema.schema, .reflection] {
      try await withRPCClient(target, schema: schema) { client in
        let errors = [
          await #expect(throws: RPCError.self) { try await client.unary("test.v1.Echo/Unary", [:]) },
          await #expect(throws: RPCError.self) { try await client.unary(method, []) },
        ]
        for case let error? in errors {
          #expect(error.code == .invalidArgument && error.origin == .request)
          #expect(error.message.hasSuffix("not of the form http[s]://host[:port][/prefix]\(why)"))
          #expect(!error.message.contains("secret"))
        }
      }
    }
  }

  @Test(arguments: ["http://h/", "HTTP://h", "http://h//"]) func targetIsNormalized(_ target: String) {
    #expect(RPCClient(target, schema: TestSchema.schema).target == "http://h")
  }

  @Test func unaryCallReturnsMessageAndMetadata() async throws {
    server.respond(
      to: "test.v1.Echo/Unary", ["text": "pong", "number": 7], headers: ["h": "1"], trailers: ["t": "2"])
    try await withRPCClient(server) { client in
      let reply = try await client.unary("test.v1.Echo/Unary", ["text": "ping"], headers: ["x": "y"])
      #expect(try reply.message["text"] as String == "pong")
      #expect(try reply.message["number"] as Int == 7)
      #expect(reply.headers["h"] == "1")
      #expect(reply.trailers["t"] == "2")
    }
    let call = try #require(server.calls.first)
    #expect(server.calls.count == 1)
    #expect(call.start.headers["x"] == "y")
    #expect(try call.messages.map { try $0["text"] as String } == ["ping"])
  }

  @Test func serverStreamingReturnsMessagesInOrder() async throws {
    server.respond(
      to: "test.v1.Echo/Server", ["number": 1], ["number": 2], ["number": 3], trailers: ["t": "2"])
    try await withRPCClient(server) { client in
      let stream = try await client.serverStreaming("test.v1.Echo/Server", ["text": "ping"])
      var numbers: [Int] = []
      for try await item in stream { numbers.append(try item["number"]) }
      #expect(numbers == [1, 2, 3])
      #expect(stream.trailers?["t"] == "2")
    }
  }

  @Test func clientStreamingSendsSequence() async throws {
    server.handle("test.v1.Echo/Client") { call in
      let numbers = try await call.readRequest().map { try $0["number"] as Int }
      return ServerResponse(messages: [["number": numbers.reduce(0, +)]])
    }
    try await withRPCClient(server) { client in
      let numbers = AsyncStream { continuation in
        for number in 1...100 { continuation.yield(["number": number] as FieldValue) }
        continuation.finish()
      }
      let sum = try await client.clientStreaming("test.v1.Echo/Client", numbers)
      #expect(try sum.message["number"] as Int == 5050)
      let other = try await client.clientStreaming("test.v1.Echo/Client", [["number": 1], ["number": 2]])
      #expect(try other.message["number"] as Int == 3)
    }
  }

  @Test func bidirectionalCallRespondsToEachMessage() async throws {
    server.handle("test.v1.Echo/Bidi") { call in ServerResponse(messages: Echo(messages: call.messages)) }
    try await withRPCClient(server) { client in
      let texts = try await client.bidirectional("test.v1.Echo/Bidi") { requests, responses in
        var texts: [String] = []
        try await requests.send(["text": "1"])
        for try await response in responses {
          texts.append(try response["text"])
          guard texts.count < 5 else {
            requests.finish()
            continue
          }
          try await requests.send(["text": "\(texts.count + 1)"])
        }
        return texts
      }
      #expect(texts == ["1", "2", "3", "4", "5"])
    }
  }

  @Test func errorHasCodeMessageDetailsMetadataAndOrigin() async throws {
    let error = RPCError(
      .notFound, "gone", details: [StatusDetail(typeName: "a.B", value: [1])], origin: .server)
    server.fail("test.v1.Echo/Unary", error, trailers: ["t": "2"])
    try await withRPCClient(server) { client in
      let thrown = await #expect(throws: RPCError.self) {
        try await client.unary("test.v1.Echo/Unary", [:])
      }
      #expect(thrown?.code == .notFound)
      #expect(thrown?.message == "gone")
      #expect(thrown?.details == error.details)
      #expect(thrown?.origin == .server)
      #expect(thrown?.metadata["t"] == "2")
    }
  }

  @Test func errorOfSendHasTheMetadataOfTheResponse() async throws {
    server.handle("test.v1.Echo/Bidi") { _ in
      var response = ServerResponse(messages: [], headers: ["h": "1"], trailers: ["t": "2"])
      response.error = RPCError(.aborted, "enough", origin: .server)
      return response
    }
    try await withRPCClient(server) { client in
      try await client.bidirectional("test.v1.Echo/Bidi") { requests, responses in
        let read = await #expect(throws: RPCError.self) { for try await _ in responses {} }
        let sent = await #expect(throws: RPCError.self) { try await requests.send([:]) }
        #expect(sent?.metadata["h"] == "1")
        #expect(sent?.metadata["t"] == "2")
        #expect(sent == read)
      }
    }
  }

  @Test func detailsOfAnErrorAreMessages() async throws {
    let reason = Array("\u{a}\u{3}why".utf8)  // Field 1 of both types: `text`, and `reason`.
    let error = RPCError(
      .notFound, "gone",
      details: ["test.v1.Item", "none.Such", "google.rpc.ErrorInfo"].map {
        StatusDetail(typeName: $0, value: reason)
      } + [StatusDetail(typeName: "test.v1.Item", value: [0xFF])], origin: .server)
    server.fail("test.v1.Echo/Unary", error)
    try await withRPCClient(server) { client in
      let thrown = await #expect(throws: RPCError.self) {
        try await client.unary("test.v1.Echo/Unary", [:])
      }
      let details = await client.details(of: try #require(thrown))
      #expect(details.map(\.type.name) == ["test.v1.Item", "google.rpc.ErrorInfo"])
      #expect(try details.first?["text"] as String? == "why")
      #expect(try details.last?["reason"] as String? == "why")
    }
  }

  @Test func errorAfterMessagesIsThrownAfterThem() async throws {
    server.fail(
      "test.v1.Echo/Server", RPCError(.aborted, "enough", origin: .server), after: ["number": 1],
      ["number": 2])
    try await withRPCClient(server) { client in
      var numbers: [Int] = []
      do throws(RPCError) {
        for try await item in try await client.serverStreaming("test.v1.Echo/Server", [:]) {
          numbers.append((try? item["number"] as Int) ?? 0)
        }
        Issue.record("no error")
      } catch {
        #expect(error.code == .aborted)
      }
      #expect(numbers == [1, 2])
    }
  }

  @Test(arguments: [
    ("test.v1.Echo/None", StatusCode.unimplemented), ("nothing", .invalidArgument),
    ("test.v1.Echo/Server", .invalidArgument),
  ])
  func rejectsMethodsThatCannotBeCalled(_ method: String, _ code: StatusCode) async throws {
    try await withRPCClient(server) { client in
      let error = await #expect(throws: RPCError.self) { try await client.unary(method, [:]) }
      #expect(error?.code == code)
      #expect(error?.origin == .request)
    }
  }

  @Test func rejectsMessageThatDoesNotFit() async throws {
    try await withRPCClient(server) { client in
      for message: FieldValue in [["none": 1], ["number": "x"], ["list": 5], ["color": "BLUE"]] {
        let error = await #expect(throws: RPCError.self) {
          try await client.unary("test.v1.Echo/Unary", message)
        }
        #expect(error?.code == .invalidArgument)
      }
    }
    #expect(server.calls.isEmpty)
  }

  @Test func generatedTypesNeedNoSchema() async throws {
    server.respond(to: "test.v1.Echo/Unary", ["text": "pong"])
    let method = UnaryMethod<[UInt8], [UInt8]>(
      MethodName(service: "test.v1.Echo", method: "Unary"), serialize: { $0 }, parse: { $0 })
    try await withRPCClient(server) { client in
      let reply = try await client.unary(method, [10, 1, 120])
      #expect(reply.message == [10, 4, 112, 111, 110, 103])
    }
    #expect(try server.calls.first?.messages.first?["text"] as String? == "x")
  }

  @Test func errorOfGeneratedTypesIsThatOfTheCall() async throws {
    struct Broken: Error {}
    server.respond(to: "test.v1.Echo/Unary", [:])
    for (thrown, code) in [
      (CancellationError(), StatusCode.canceled), (RPCError(.dataLoss, "", origin: .client), .dataLoss),
      (Broken(), .invalidArgument),
    ] as [(any Error, StatusCode)] {
      let method = UnaryMethod<[UInt8], [UInt8]>(
        MethodName(service: "test.v1.Echo", method: "Unary"), serialize: { _ in throw thrown }, parse: { $0 })
      try await withRPCClient(server) { client in
        let error = await #expect(throws: RPCError.self) { try await client.unary(method, []) }
        #expect(error?.code == code)
      }
    }
  }

  @Test func errorHasALocalizedDescription() {
    let error: any Error = RPCError(.notFound, "no item 9", origin: .server)
    #expect((error as? any LocalizedError)?.errorDescription == "not_found: no item 9")
  }

  @Test func thousandCallsAtOnce() async throws {
    server.handle("test.v1.Echo/Unary") { call in
      let messages = try await call.readRequest()
      return ServerResponse(messages: messages.map { FieldValue($0) })
    }
    try await withRPCClient(server) { client in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<1000 {
          group.addTask {
            let reply = try await client.unary("test.v1.Echo/Unary", ["number": number])
            return try reply.message["number"]
          }
        }
        var numbers: Set<Int> = []
        for try await number in group { numbers.insert(number) }
        #expect(numbers.count == 1000)
      }
    }
  }
}

/// The messages of a request as those of a response.
struct Echo: AsyncSequence, Sendable {
  typealias Failure = any Error

  let messages: AsyncMessages

  struct AsyncIterator: AsyncIteratorProtocol {
    var messages: any AsyncIteratorProtocol<Message, any Error>
    mutating func next() async throws -> FieldValue? {
      try await messages.next(isolation: #isolation).map { FieldValue($0) }
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(messages: messages.makeAsyncIterator()) }
}
