import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct ShadowTests {
  private static let notFound = RPCError(.notFound, "no such item", origin: .server)
  private let services = TestServices()
  private let network = TestNetwork()
  private let clock = ManualClock()

  private func start(
    _ text: String = "shadow,to=http://b:2", kind: CallKind = .unary, target: String = "http://a:1",
    _ headers: [(String, String)] = [], others: [InterceptorRegistration] = []
  ) throws -> TestCall {
    let call = TestCall(
      kind, Journal(), others + [try services.registration(text)], network: network, typed: true, clock: clock
    )
    call.request.target = target
    for (name, value) in headers { call.request.headers.add(name, value) }
    call.start()
    call.send("ping")
    call.close()
    return call
  }

  private func respond(_ text: String?, _ error: RPCError? = nil) throws {
    let copy = try #require(network.calls.last)
    copy.complete(
      SubrequestResponse(message: text.map { TestMessages.bytes($0) }, end: ResponseEnd(error: error)))
  }

  private func respond(to call: TestCall, _ text: String) {
    call.receiveHeaders()
    call.receive(text)
    call.receiveEnd()
  }

  private func warnings(_ call: TestCall) -> [String] {
    call.logged.filter { $0.level == .warning }.map(\.text)
  }

  private func lines(_ path: String) throws -> [JSONValue] {
    try (services.files[path] ?? "").split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
  }

  // MARK: The copy

  @Test func copyIsSentWithTheCall() throws {
    let call = try start("shadow,to=http://b:2/,wait=3s", [("x-a", "1")])
    let copy = try #require(network.calls.first?.call)
    #expect(network.calls.count == 1)
    #expect(copy.method == call.request.method)
    #expect(copy.target == "http://b:2")
    #expect(copy.headers == Headers([("x-a", "1")]))
    #expect(copy.message == TestMessages.bytes("ping"))
    #expect(copy.lingering == .seconds(3))
    #expect(call.wireLines == ["start", "ping", "half-close"])
  }

  @Test func callDoesNotWaitForTheCopy() throws {
    let call = try start()
    respond(to: call, "pong")
    #expect(call.callerLines.suffix(2) == ["metrics 7", "finished"])
    #expect(call.end == ResponseEnd())
    try respond("other")
    #expect(warnings(call) == [#"test.Echo/Say differs at http://b:2: (message) is "pong", there "other""#])
  }

  @Test func copyHasTheDeadlineOfTheCall() throws {
    let call = TestCall(
      .unary, Journal(), [try services.registration("shadow,to=b:2")], network: network, clock: clock)
    call.request.deadline = clock.now + .seconds(7)
    call.start()
    call.send("ping")
    call.close()
    #expect(network.calls.first?.call.timeout == .seconds(7))
  }

  @Test(
    arguments: [
      ("b:2", "http://a:1", "http://b:2"), ("b:2", "https://a:1", "https://b:2"),
      ("https://b/x/", "http://a:1", "https://b/x"), ("[::1]:2", "http://a:1", "http://[::1]:2"),
    ])
  func targetHasTheSchemeOfTheCall(_ to: String, _ target: String, _ expected: String) throws {
    _ = try start("shadow,to=\(to)", target: target)
    #expect(network.calls.first?.call.target == expected)
  }

  @Test func credentialsAreNotCopiedToAnotherServer() throws {
    let headers = [("authorization", "Bearer t"), ("cookie", "c"), ("x-api-key", "k"), ("x-a", "1")]
    func names(_ text: String, _ target: String = "http://a:1") throws -> [String] {
      _ = try start(text, target: target, headers)
      return network.calls.last?.call.headers.fields.map(\.name) ?? []
    }
    #expect(try names("shadow,to=b:2") == ["x-a"])
    #expect(try names("shadow,to=a:2") == ["x-a"])
    #expect(
      try names("shadow,to=b:2,headers=Authorization+x-api-key") == ["authorization", "x-api-key", "x-a"])
    #expect(try names("shadow,to=http://a:1/next") == ["authorization", "cookie", "x-api-key", "x-a"])
  }

  @Test func credentialsOfInterceptorsAreNotCopied() throws {
    let auth = try services.registration("auth,bearer=t,header=x-pass,hosts=localhost")
    _ = try start("shadow,to=http://localhost:2", target: "http://localhost:1", others: [auth])
    #expect(network.calls.first?.call.headers == Headers())
  }

  @Test(
    arguments: [
      ("https://localhost:2", "", true), ("http://localhost:2", "", false),
      ("http://localhost:2", ",allow-plaintext=true", true), ("http://localhost:1/next", "", false),
    ])
  func credentialsThatRequireTLSAreCopiedWithTLS(_ to: String, _ setting: String, _ isCopied: Bool) throws {
    let auth = try services.registration("auth,bearer=t,hosts=localhost\(setting)")
    _ = try start("shadow,to=\(to),headers=authorization", target: "http://localhost:1", others: [auth])
    #expect((network.calls.first?.call.headers.first("authorization") != nil) == isCopied)
  }

  @Test(arguments: [CallKind.clientStreaming, .serverStreaming, .bidiStreaming])
  func streamsAreNotCopied(_ kind: CallKind) throws {
    let call = try start(kind: kind)
    respond(to: call, "pong")
    #expect(network.calls.isEmpty)
    #expect(call.found.map(\.text) == ["not copied: Say is a stream"])
  }

  @Test func callThatIsNotSentIsNotCopied() throws {
    services.files["stubs"] = #"{"response":{"message":"pong"}}"#
    let call = TestCall(
      .unary, Journal(),
      [try services.registration("shadow,to=b:2"), try services.registration("mock,file=stubs")],
      network: network, typed: true)
    call.start()
    call.send("ping")
    call.close()
    #expect(call.end == ResponseEnd())
    #expect(network.calls.isEmpty)
  }

  @Test func subrequestsAndFurtherAttemptsAreNotCopied() throws {
    let shadow = try services.registration("shadow,to=b:2")
    let own = TestCall(.unary, Journal(), [shadow], network: network, excluded: [RegistrationID()])
    own.run()
    #expect(network.calls.isEmpty)
    let retry = try services.registration("retry,attempts=2,initial=1s,jitter=0")
    let call = TestCall(.unary, Journal(), [retry, shadow], network: network, clock: clock)
    call.start()
    call.send("ping")
    call.close()
    call.receiveEnd(RPCError(.unavailable, "busy", origin: .server))
    clock.advance(by: .seconds(1))
    #expect(call.wireStarts == 2)
    #expect(network.calls.count == 1)
  }

  // MARK: Results

  @Test func equalResponsesAreNoted() throws {
    let call = try start("shadow,to=http://b:2,file=out")
    clock.advance(by: .milliseconds(5))
    try respond("pong")
    #expect(call.found.isEmpty)
    clock.advance(by: .milliseconds(2))
    respond(to: call, "pong")
    #expect(
      call.found == [
        Finding(
          interceptor: "shadow", kind: .note, text: "no difference from http://b:2: 7.000 ms, there 5.000 ms")
      ])
    #expect(warnings(call) == [])
    let line = try #require(try lines("out").first)
    #expect(line["same"] == .bool(true))
    #expect(line["ms"] == .number("7.000"))
    #expect(line["shadow_ms"] == .number("5.000"))
    #expect(line["differences"] == .array([]))
  }

  @Test func differentStatusIsReported() throws {
    let call = try start("shadow,to=http://b:2,file=out")
    respond(to: call, "pong")
    try respond(nil, Self.notFound)
    #expect(
      warnings(call) == [
        #"test.Echo/Say differs at http://b:2: (status) is "ok", there "not_found: no such item""#
      ])
    let line = try #require(try lines("out").first)
    #expect(line["same"] == .bool(false))
    #expect(line["code"] == .string("ok"))
    #expect(line["shadow_code"] == .string("not_found"))
    #expect(line["shadow_message"] == .string("no such item"))
  }

  @Test func equalErrorsAreEqual() throws {
    let call = try start()
    call.receiveEnd(Self.notFound)
    try respond(nil, RPCError(.notFound, "other words", origin: .server))
    #expect(warnings(call) == [])
  }

  @Test func canceledCallIsNotCompared() throws {
    let call = try start("shadow,to=b:2,file=out")
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    try respond("pong")
    #expect(services.files["out"] == "")
    #expect(warnings(call) == [])
  }

  @Test(arguments: [true, false])
  func callThatExceedsItsDeadlineIsCompared(_ isCopyFirst: Bool) throws {
    let call = try start("shadow,to=http://b:2,file=out")
    if isCopyFirst { try respond("pong") }
    call.chain.cancel(RPCError(.deadlineExceeded, "after 1 s", origin: .client))
    if !isCopyFirst { try respond("pong") }
    #expect(
      warnings(call) == [
        #"test.Echo/Say differs at http://b:2: (status) is "deadline_exceeded: after 1 s", there "ok""#
      ])
    #expect(try lines("out").map { $0["code"] } == [.string("deadline_exceeded")])
  }

  @Test func ignoredFieldsAreNotCompared() throws {
    let call = try start("shadow,to=b:2,ignore=value")
    respond(to: call, "a")
    try respond("b")
    #expect(call.found.map(\.kind) == [.note])
    #expect(warnings(call) == [])
  }

  @Test func errorNamesTheFileThatCannotBeWritten() throws {
    let call = try start("shadow,to=b:2,file=/dev/full")
    respond(to: call, "pong")
    try respond("pong")
    let errors = call.logged.filter { $0.level == .error }
    #expect(errors.map(\.text) == ["cannot write /dev/full: no space left on device"])
  }

  @Test func resultsAreAppended() throws {
    services.files["out"] = "old\n"
    let call = try start("shadow,to=b:2,file=out,append=true")
    respond(to: call, "pong")
    try respond("pong")
    #expect(services.files["out"]?.hasPrefix("old\n{") == true)
  }

  // MARK: Differences

  private func differences(_ type: String, _ one: String, _ other: String) -> [String] {
    let made = MessageDifference.all(
      DescriptorMessages.make(type, json: one), DescriptorMessages.make(type, json: other))
    return made.map { "\($0.path): \($0.value ?? "absent"), \($0.other ?? "absent")" }
  }

  @Test(
    arguments: [
      ("ErrorInfo", "{}", "{}", []),
      ("ErrorInfo", #"{"reason":"a"}"#, #"{"reason":"b"}"#, [#"reason: "a", "b""#]),
      (
        "ErrorInfo", #"{"reason":"a"}"#, #"{"metadata":{"x":"1"}}"#,
        [#"reason: "a", absent"#, #"metadata: absent, {"x":"1"}"#]
      ),
      (
        "DebugInfo", #"{"stackEntries":["a","b"]}"#, #"{"stackEntries":["a","c","d"]}"#,
        [#"stack_entries[1]: "b", "c""#, #"stack_entries[2]: absent, "d""#]
      ),
      (
        "BadRequest", #"{"fieldViolations":[{"field":"f","description":"x"}]}"#,
        #"{"fieldViolations":[{"field":"f","description":"y"}]}"#,
        [#"field_violations[0].description: "x", "y""#]
      ),
      (
        "ErrorInfo", #"{"metadata":{"a":"1","a b":"2"}}"#, #"{"metadata":{"a":"2","a b":"3"}}"#,
        [#"metadata.a: "1", "2""#, #"metadata["a b"]: "2", "3""#]
      ),
    ] as [(String, String, String, [String])])
  func differencesHaveThePathsOfFields(
    _ type: String, _ one: String, _ other: String, _ expected: [String]
  ) {
    #expect(differences("google.rpc.\(type)", one, other) == expected)
  }

  @Test func unknownFieldsAreCompared() throws {
    let type = DescriptorMessages.type("google.protobuf.Empty")
    let messages = try [[0x78, 0x01], [0x78, 0x02]].map { try Message(type, serialized: $0) }
    #expect(MessageDifference.all(messages[0], messages[0]) == [])
    #expect(MessageDifference.all(messages[0], messages[1]).map(\.path) == ["(unknown fields)"])
  }

  @Test func orderInTheContentOfAnAnyIsNoDifference() throws {
    let entries: [[UInt8]] = [
      [0x1a, 6, 0x0a, 1, 0x61, 0x12, 1, 0x31], [0x1a, 6, 0x0a, 1, 0x62, 0x12, 1, 0x32],
    ]
    let url = Array("x/google.rpc.ErrorInfo".utf8)
    let messages = try [entries[0] + entries[1], entries[1] + entries[0], entries[0]].map { content in
      let any = [0x0a, UInt8(url.count)] + url + [0x12, UInt8(content.count)] + content
      return try Message(
        DescriptorMessages.type("google.rpc.Status"), serialized: [0x1a, UInt8(any.count)] + any)
    }
    #expect(MessageDifference.all(messages[0], messages[1]) == [])
    #expect(MessageDifference.all(messages[0], messages[2]).map(\.path) == ["details[0].metadata.b"])
  }

  @Test func stringsAreComparedByBytes() {
    #expect(
      differences("google.rpc.ErrorInfo", "{\"reason\":\"\u{e9}\"}", "{\"reason\":\"e\u{301}\"}")
        == ["reason: \"\u{e9}\", \"e\u{301}\""])
  }

  @Test func largeMapsAreComparedInLinearTime() {
    func map(_ last: String) -> String {
      let entries = (0..<50_000).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
      return "{\"metadata\":{\(entries),\"z\":\"\(last)\"}}"
    }
    #expect(differences("google.rpc.ErrorInfo", map("a"), map("b")) == [#"metadata.z: "a", "b""#])
  }

  @Test func differencesAreLimited() {
    let names = (0..<200).map { "\"\($0)\"" }.joined(separator: ",")
    let type = "google.rpc.DebugInfo"
    #expect(differences(type, "{}", #"{"stackEntries":[\#(names)]}"#).count == 1)
    #expect(
      differences(type, #"{"stackEntries":["x"]}"#, #"{"stackEntries":[\#(names)]}"#).count
        == MessageDifference.limit)
  }

  // MARK: Configuration

  @Test(arguments: [
    ("shadow", "shadow: to: missing value"),
    ("shadow,to=ftp://b", "shadow: to: must be http://HOST:PORT, https://HOST:PORT or HOST:PORT"),
    ("shadow,to=b/x", "shadow: to: must be http://HOST:PORT, https://HOST:PORT or HOST:PORT"),
    ("shadow,to=http://u:p@b", "shadow: to: must be http://HOST:PORT, https://HOST:PORT or HOST:PORT"),
    ("shadow,to=b:99999", "shadow: to: must be http://HOST:PORT, https://HOST:PORT or HOST:PORT"),
    ("shadow,to=[x]:1", "shadow: to: must be http://HOST:PORT, https://HOST:PORT or HOST:PORT"),
    (
      "shadow,to=b,ignore=.",
      "shadow: ignore: not the path of a field"
    ),
    ("shadow,to=b,headers=a:b", "shadow: headers: a:b is not a valid header name"),
    ("shadow,to=b,file=/no/x", "shadow: file: /no/x: no such file or directory"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description == message)
  }
}
