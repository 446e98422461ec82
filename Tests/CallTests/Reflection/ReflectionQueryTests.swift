import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlCall

@Suite struct ReflectionQueryTests {
  /// a imports b and c, both import d, and each one imports a built-in file.
  private static let diamond = FakeServer(
    files: [
      "a.proto": ["b.proto", "c.proto", "google/protobuf/any.proto"],
      "b.proto": ["d.proto"], "c.proto": ["d.proto"], "d.proto": ["google/protobuf/timestamp.proto"],
    ],
    symbols: ["p.A": "a.proto", "p.B": "b.proto"])

  private func names(_ schema: ReflectedSchema) -> [String] {
    var rest = schema.descriptorSet[...]
    var names: [String] = []
    while !rest.isEmpty {
      let length = Int(rest[rest.startIndex + 1])  // the files here are short
      let file = Array(rest.dropFirst(2).prefix(length))
      names.append(FileOutline(serialized: file)?.name ?? "?")
      rest = rest.dropFirst(2 + length)
    }
    return names
  }

  private func failure(_ body: () throws -> ReflectionQuery.Step) -> ReflectionError? {
    do {
      _ = try body()
      return nil
    } catch {
      return error as? ReflectionError
    }
  }

  @Test func serializesQuestionsAsSpecified() {
    for question in [
      ServerReflectionRequest.services, .file(named: "a/b.proto"), .fileContaining(symbol: "p.Straße"),
      .fileContainingExtension(of: "p.A", number: 536_870_911),
    ] {
      #expect(question.serialized() == Wire.request(question))
    }
  }

  @Test func requestsImportsOfARoundAtOnce() throws {
    var query = ReflectionQuery(.symbols(["p.A"]))
    let (schema, rounds) = try Self.diamond.run(&query)
    #expect(rounds == 3)
    #expect(schema.version == .v1)
    #expect(schema.fileCount == 4)
    #expect(names(schema) == ["a.proto", "b.proto", "c.proto", "d.proto"])
  }

  @Test(arguments: [true, false], [true, false])
  func acceptsResponsesInAnyOrderIfTheyRepeatTheQuestion(inOrder: Bool, sendsImports: Bool) throws {
    var server = Self.diamond
    server.sendsImports = sendsImports
    var query = ReflectionQuery(.symbols(["p.A", "p.B"]))
    let (schema, rounds) = try server.run(&query, inOrder: inOrder)
    #expect(names(schema).sorted() == ["a.proto", "b.proto", "c.proto", "d.proto"])
    #expect(rounds == (sendsImports ? 1 : 2))
  }

  @Test func assignsResponsesWithoutQuestionInOrder() throws {
    var server = Self.diamond
    server.echoesQuestion = false
    var query = ReflectionQuery(.allServices)
    let (schema, rounds) = try server.run(&query)
    #expect(schema.services == ["p.A", "p.B"])
    #expect(schema.fileCount == 4)
    #expect(rounds == 3)
  }

  @Test func listsServicesWithoutRequestingFiles() throws {
    var query = ReflectionQuery(.serviceNames)
    #expect(try Self.diamond.run(&query).schema.services == ["p.A", "p.B"])
    var empty = ReflectionQuery(.allServices)
    #expect(try FakeServer(files: [:], symbols: [:]).run(&empty).schema.services == [])
  }

  @Test func endsWithCyclicImports() throws {
    var query = ReflectionQuery(.symbols(["p.A"]))
    let server = FakeServer(
      files: ["a.proto": ["b.proto"], "b.proto": ["a.proto", "b.proto"]], symbols: ["p.A": "a.proto"])
    #expect(try server.run(&query).schema.fileCount == 2)
  }

  @Test func ignoresMissingImport() throws {
    var query = ReflectionQuery(.symbols(["p.A"]))
    let server = FakeServer(files: ["a.proto": ["gone.proto"]], symbols: ["p.A": "a.proto"])
    #expect(names(try server.run(&query).schema) == ["a.proto"])
  }

  @Test(arguments: [Wire.answer(), Wire.answer(error: 5, "no")])
  func asksForSymbolsOfMissingImport(answer: [UInt8]) throws {
    var query = ReflectionQuery(.symbols(["p.S"]))
    _ = query.start()
    let method = Wire.field(1, "M") + Wire.field(2, ".b.U") + Wire.field(3, ".b.U")
    let service = Wire.field(2, "p") + Wire.field(6, Wire.field(1, "S") + Wire.field(2, method))
    let file = Wire.file("a.proto", imports: ["b.proto"]) + service
    #expect(try query.receive(Wire.answer(file)) == .send([.file(named: "b.proto")]))
    #expect(try query.receive(answer) == .send([.fileContaining(symbol: "b.U")]))
  }

  @Test func keepsFileWithAnotherNameWithoutAskingAgain() throws {
    var query = ReflectionQuery(.symbols(["p.A"]))
    _ = query.start()
    #expect(
      try query.receive(Wire.answer(Wire.file("a.proto", imports: ["x/b.proto"])))
        == .send([.file(named: "x/b.proto")]))
    guard
      case .done(let schema) = try query.receive(Wire.answer(Wire.file("b.proto", imports: ["x/b.proto"])))
    else {
      Issue.record("not done")
      return
    }
    #expect(names(schema) == ["a.proto", "b.proto"])
  }

  @Test func optionalSymbolsNeedNoFurtherRound() throws {
    var query = ReflectionQuery(.existing(["p.X", "p.A", "p.Y"].map { .fileContaining(symbol: $0) }))
    let server = FakeServer(files: ["a.proto": []], symbols: ["p.A": "a.proto"])
    let (schema, rounds) = try server.run(&query)
    #expect(names(schema) == ["a.proto"])
    #expect(rounds == 1)
  }

  @Test func requestsExtensionsByNumber() throws {
    var query = ReflectionQuery(
      .existing([
        .fileContainingExtension(of: "p.A", number: 100), .fileContainingExtension(of: "p.A", number: 101),
        .fileContaining(symbol: "p.X"),
      ]))
    let server = FakeServer(
      files: ["e.proto": ["a.proto"], "a.proto": []], symbols: [:], extensions: ["p.A/101": "e.proto"])
    let (schema, rounds) = try server.run(&query, inOrder: false)
    #expect(names(schema) == ["e.proto", "a.proto"])
    #expect(rounds == 2)
  }

  @Test func refusalOfExtensionNumbersFailsNoOtherRequest() throws {
    var query = ReflectionQuery(
      .existing([.fileContainingExtension(of: "p.A", number: 100), .fileContaining(symbol: "p.A")]))
    _ = query.start()
    #expect(try query.receive(Wire.answer(error: 12, "not implemented")) == .wait)
    guard case .done(let schema) = try query.receive(Wire.answer(Wire.file("a.proto"))) else {
      Issue.record("not done")
      return
    }
    #expect(names(schema) == ["a.proto"])
  }

  @Test func removesLeadingDotsOfServices() throws {
    var query = ReflectionQuery(.allServices)
    _ = query.start()
    #expect(
      try query.receive(Wire.answer(services: [".p.A", "p.B"]))
        == .send([.fileContaining(symbol: "p.A"), .fileContaining(symbol: "p.B")]))
  }

  // MARK: Failures

  @Test func unknownSymbolNamesTheServices() throws {
    var query = ReflectionQuery(.symbols(["p.X", "p.A"]))
    _ = query.start()
    #expect(try query.receive(Wire.answer(error: 5, "no")) == .send([.services]))
    #expect(try query.receive(Self.diamond.answer(.fileContaining(symbol: "p.A"))) == .wait)
    #expect(
      failure { try query.receive(Wire.answer(services: ["p.A", "p.B"])) }
        == .unknownSymbol("p.X", services: ["p.A", "p.B"]))
  }

  @Test(arguments: [
    Wire.answer(error: 12, "no list"), Wire.answer(services: []),
  ])
  func reportsUnknownSymbolWithoutServices(answer: [UInt8]) throws {
    var query = ReflectionQuery(.symbols(["p.X"]))
    _ = query.start()
    #expect(try query.receive(Wire.answer()) == .send([.services]))
    #expect(failure { try query.receive(answer) } == .unknownSymbol("p.X", services: []))
  }

  @Test func unknownSymbolMayEndTheStream() throws {
    var query = ReflectionQuery(.symbols(["p.X"]), version: .v1)
    _ = query.start()
    let notFound = RPCError(.notFound, "no", origin: .server)
    #expect(try query.streamEnded(notFound) == .open([.services]))
    #expect(failure { try query.streamEnded(notFound) } == .unknownSymbol("p.X", services: []))
  }

  @Test func unknownSymbolMayEndTheStreamsOfBothVersions() throws {
    var query = ReflectionQuery(.symbols(["p.X"]))
    let questions = query.start()
    let notFound = RPCError(.notFound, "no", origin: .server)
    for expected in [[.services], questions, [.services]] {
      #expect(try query.streamEnded(notFound) == .open(expected))
    }
    #expect(failure { try query.streamEnded(notFound) } == .unknownSymbol("p.X", services: []))
  }

  @Test func reportsRefusal() {
    var query = ReflectionQuery(.symbols(["p.X"]))
    _ = query.start()
    #expect(
      failure { try query.receive(Wire.answer(error: 7, "not you")) }
        == .refused(.fileContaining(symbol: "p.X"), code: 7, message: "not you"))
  }

  @Test func rejectsInvalidResponses() {
    let answers: [[UInt8]] = [
      [0xFF], [], Wire.answer(services: []), Wire.answer([0xFF, 0xFF]), Wire.answer([]),
      Wire.answer(Wire.field(1, "a\n.proto")), Wire.field(5, []),
    ]
    for answer in answers {
      var query = ReflectionQuery(.symbols(["p.A"]))
      _ = query.start()
      guard case .invalidResponse = failure({ try query.receive(answer) }) else {
        Issue.record("\(answer) was taken")
        continue
      }
    }
  }

  @Test func rejectsResponseWithoutQuestion() throws {
    var query = ReflectionQuery(.symbols(["p.A"]))
    _ = query.start()
    let answer = Wire.answer(Wire.file("a.proto"))
    guard case .done = try query.receive(answer) else {
      Issue.record("not done")
      return
    }
    #expect(failure { try query.receive(answer) } == .invalidResponse("it does not belong to a question"))
  }

  // MARK: Limits

  @Test func limitsImports() {
    var limits = ReflectionQuery.Limits()
    limits.files = 50
    var query = ReflectionQuery(.symbols(["p.A"]), limits: limits)
    _ = query.start()
    var number = 0
    var error: ReflectionError?
    while error == nil, number < 1000 {
      number += 1
      error = failure { try query.receive(Wire.answer(Wire.file("\(number)", imports: ["\(number + 1)"]))) }
    }
    #expect(error == .tooMuch("more than 50 imports"))
  }

  @Test func limitsServices() {
    var limits = ReflectionQuery.Limits()
    limits.files = 50
    let files = (0..<60).flatMap { Wire.field(1, Wire.file("\($0).proto")) }
    let imports = (0..<60).map { "\($0).proto" }
    for answer in [Wire.field(4, files), Wire.answer(Wire.file("a.proto", imports: imports))] {
      var query = ReflectionQuery(.symbols(["p.A"]), limits: limits)
      _ = query.start()
      guard case .tooMuch = failure({ try query.receive(answer) }) else {
        Issue.record("taken")
        continue
      }
    }
    var query = ReflectionQuery(.allServices, limits: limits)
    _ = query.start()
    #expect(
      failure { try query.receive(Wire.answer(services: imports)) } == .tooMuch("more than 50 services"))
  }

  @Test func limitsBytes() {
    var limits = ReflectionQuery.Limits()
    limits.bytes = 1 << 20
    var query = ReflectionQuery(.symbols(["p.A"]), limits: limits)
    _ = query.start()
    let padding = Wire.field(99, [UInt8](repeating: 0, count: 1 << 20))
    #expect(
      failure { try query.receive(Wire.answer(Wire.file("a") + padding)) } == .tooMuch("more than 1 MiB"))
  }

  // MARK: Streams that end

  private static let unimplemented = RPCError(.unimplemented, "no such service", origin: .server)

  @Test func fallsBackToV1alpha() throws {
    var query = ReflectionQuery(.symbols(["p.A"]))
    let questions = query.start()
    #expect(query.version == .v1)
    #expect(try query.streamEnded(Self.unimplemented) == .open(questions))
    #expect(query.version == .v1alpha)
    #expect(failure { try query.streamEnded(Self.unimplemented) } == .notOffered(Self.unimplemented))
  }

  @Test func fallsBackIfV1EndsWithoutAResponse() throws {
    let noResponse = ReflectionError.invalidResponse("the server ended the stream without a response")
    var query = ReflectionQuery(.symbols(["p.A"]))
    let questions = query.start()
    #expect(try query.streamEnded(nil) == .open(questions))
    #expect(query.version == .v1alpha)
    var (refused, unreachable, silent) = (query, query, query)
    #expect(try Self.diamond.run(&query, questions).schema.version == .v1alpha)
    #expect(failure { try refused.streamEnded(Self.unimplemented) } == noResponse)
    let error = RPCError(.unavailable, "refused", origin: .connection)
    #expect(failure { try unreachable.streamEnded(error) } == .failed(error))
    #expect(failure { try silent.streamEnded(nil) } == noResponse)
    var chosen = ReflectionQuery(.symbols(["p.A"]), version: .v1)
    _ = chosen.start()
    #expect(failure { try chosen.streamEnded(nil) } == noResponse)
  }

  @Test(arguments: ReflectionVersion.allCases)
  func doesNotFallBackFromRequestedVersion(version: ReflectionVersion) {
    var query = ReflectionQuery(.symbols(["p.A"]), version: version)
    _ = query.start()
    #expect(query.version == version)
    #expect(failure { try query.streamEnded(Self.unimplemented) } == .notOffered(Self.unimplemented))
  }

  @Test func asksUnansweredQuestionsOnNextStream() throws {
    var query = ReflectionQuery(.symbols(["p.A", "p.B"]))
    _ = query.start()
    #expect(try query.receive(Self.diamond.answer(.fileContaining(symbol: "p.A"))) == .wait)
    #expect(try query.streamEnded(nil) == .open([.fileContaining(symbol: "p.B")]))
    guard case .invalidResponse = failure({ try query.streamEnded(nil) }) else {
      Issue.record("a stream without an answer was taken")
      return
    }
  }

  @Test func reportsStatusOfStream() {
    for code in [StatusCode.unavailable, .unauthenticated, .deadlineExceeded, .internal] {
      var query = ReflectionQuery(.symbols(["p.A"]), version: .v1)
      _ = query.start()
      let error = RPCError(code, "so it is", origin: .server)
      #expect(failure { try query.streamEnded(error) } == .failed(error))
    }
  }

  /// The statuses of servers and proxies for a missing service.
  @Test(
    arguments: [
      .unimplemented, .unavailable, .unknown, .internal, .permissionDenied, .unauthenticated,
      .invalidArgument,
    ] as [StatusCode], [.server, .violation] as [RPCError.Origin])
  func fallsBackAfterFailedResponse(code: StatusCode, origin: RPCError.Origin) throws {
    var query = ReflectionQuery(.symbols(["p.A"]))
    let questions = query.start()
    #expect(try query.streamEnded(RPCError(code, "no route", origin: origin)) == .open(questions))
    #expect(query.version == .v1alpha)
    guard case .done(let schema) = try query.receive(Wire.answer(Wire.file("a.proto"))) else {
      Issue.record("not done")
      return
    }
    #expect(schema.version == .v1alpha)
  }

  /// A call without a response, or a server that lacks time or resources, says nothing about v1alpha.
  @Test(
    arguments: [
      RPCError(.unavailable, "refused", origin: .connection),
      RPCError(.unavailable, "certificate", origin: .tls),
      RPCError(.internal, "URL", origin: .request),
      RPCError(.unavailable, "cut", origin: .interceptor("fault")),
      RPCError(.deadlineExceeded, "10 s", origin: .client), RPCError(.canceled, "Ctrl-C", origin: .client),
      RPCError(.deadlineExceeded, "late", origin: .server), RPCError(.canceled, "gone", origin: .server),
      RPCError(.resourceExhausted, "quota", origin: .server),
      RPCError(.resourceExhausted, "too long", origin: .violation),
    ])
  func doesNotFallBackAfterOtherFailures(error: RPCError) {
    var query = ReflectionQuery(.symbols(["p.A"]))
    _ = query.start()
    #expect(failure { try query.streamEnded(error) } == .failed(error))
    #expect(query.version == .v1)
  }

  @Test func doesNotFallBackAfterResponseOfV1() throws {
    var query = ReflectionQuery(.symbols(["p.A", "p.B"]))
    _ = query.start()
    #expect(try query.receive(Self.diamond.answer(.fileContaining(symbol: "p.A"))) == .wait)
    let error = RPCError(.unavailable, "gone", origin: .server)
    #expect(failure { try query.streamEnded(error) } == .failed(error))
  }

  @Test func reportsFailureOfV1IfV1alphaFailsToo() throws {
    let first = RPCError(.unavailable, "no backend", origin: .server)
    for second in [
      RPCError(.unavailable, "no backend for v1alpha", origin: .server), Self.unimplemented,
      RPCError(.notFound, "no route", origin: .violation),
    ] {
      var query = ReflectionQuery(.symbols(["p.A"]))
      let questions = query.start()
      #expect(try query.streamEnded(first) == .open(questions))
      #expect(failure { try query.streamEnded(second) } == .failed(first))
    }
  }

  @Test func reportsMoreSpecificFailureOfV1alpha() throws {
    for (first, second) in [
      (Self.unimplemented, RPCError(.permissionDenied, "not you", origin: .server)),
      (RPCError(.unavailable, "", origin: .server), RPCError(.deadlineExceeded, "10 s", origin: .client)),
      (RPCError(.unavailable, "", origin: .server), RPCError(.unavailable, "refused", origin: .connection)),
    ] {
      var query = ReflectionQuery(.symbols(["p.A"]))
      let questions = query.start()
      #expect(try query.streamEnded(first) == .open(questions))
      #expect(failure { try query.streamEnded(second) } == .failed(second))
    }
  }

  /// A proxy may respond to every unknown path with not_found.
  @Test(arguments: [ReflectionQuery.Goal.symbols(["p.A"]), .serviceNames, .allServices])
  func fallsBackAfterNotFoundForServiceList(goal: ReflectionQuery.Goal) throws {
    let notFound = RPCError(.notFound, "no route", origin: .server)
    var query = ReflectionQuery(goal)
    let questions = query.start()
    if questions != [.services] { #expect(try query.streamEnded(notFound) == .open([.services])) }
    #expect(try query.streamEnded(notFound) == .open(questions))
    #expect(query.version == .v1alpha)
    #expect(try Self.diamond.run(&query, questions).schema.version == .v1alpha)
  }

  @Test(arguments: ReflectionVersion.allCases)
  func findsReflectionMethod(version: ReflectionVersion) throws {
    let method = try version.method()
    #expect(method.service == "grpc.reflection.\(version).ServerReflection")
    #expect(method.clientStreaming && method.serverStreaming)
  }
}
