import RPCurlChain
import RPCurlChainSupport
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct MockTests {
  /// A call of `kind` answered from these stubs; its messages are texts.
  private func call(
    _ kind: CallKind, _ stubs: String, _ settings: String = "", services: TestServices = TestServices()
  ) throws -> TestCall {
    services.files["stubs.json"] = stubs
    return TestCall(
      kind, Journal(), [try services.registration("mock,file=stubs.json\(settings)")], typed: true)
  }

  private func unary(_ stubs: String, _ text: String = "ping", _ settings: String = "") throws -> TestCall {
    let call = try call(.unary, stubs, settings)
    call.start()
    call.send(text)
    call.close()
    return call
  }

  @Test func respondsToUnaryCall() throws {
    let call = try unary(
      #"""
      {"method":"test.Echo/Say","request":"ping",
       "response":{"headers":{"x-a":["1","${request.method}"]},"message":"${request.value}-pong","trailers":{"x-t":"2"}}}
      """#)
    #expect(call.wireLines == [])
    #expect(call.callerLines == ["headers", "typed ping-pong", "end ok", "metrics 0", "finished"])
    #expect(call.receivedStart?.headers == Headers([("x-a", "1"), ("x-a", "test.Echo/Say")]))
    #expect(call.end?.trailers == Headers([("x-t", "2")]))
  }

  @Test func respondsWithStatusAndDetails() throws {
    let call = try unary(
      #"""
      {"response":{"status":{"code":"NOT_FOUND","message":"no ${request.value}","details":[
        {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R","metadata":{"id":"${request.value}"}}]}}}
      """#)
    let error = try #require(call.end?.error)
    #expect((error.code, error.message) == (.notFound, "no ping"))
    #expect(error.details.map(\.typeName) == ["google.rpc.ErrorInfo"])
    let info = try Message(
      DescriptorMessages.type("google.rpc.ErrorInfo"), serialized: error.details[0].value)
    #expect(try String(decoding: info.json(), as: UTF8.self) == #"{"reason":"R","metadata":{"id":"ping"}}"#)
  }

  @Test(arguments: [
    (#"{"request":"x","response":{"message":"no"}} {"request":"ping","response":{"message":"yes"}}"#, "yes"),
    (
      #"{"where":[".value =~ ^x"],"response":{"message":"no"}} {"where":[".value =~ ^p"],"response":{"message":"yes"}}"#,
      "yes"
    ),
    (
      #"{"method":"test.Echo/Other","response":{"message":"no"}} {"method":"*/Say","response":{"message":"yes"}}"#,
      "yes"
    ),
    (
      #"{"exactly":"pin","response":{"message":"no"}} {"exactly":"ping","response":{"message":"yes"}}"#, "yes"
    ),
    (
      #"{"where":["header x-h"],"response":{"message":"no"}} {"where":["header x-h absent"],"response":{"message":"yes"}}"#,
      "yes"
    ),
  ])
  func usesFirstMatchingStub(_ stubs: String, _ answer: String) throws {
    #expect(try unary(stubs).callerLines.contains("typed \(answer)"))
  }

  @Test func missNamesClosestStub() throws {
    let stubs =
      "\n" + #"{"request":"a","where":[".value =~ x"],"response":{}}"# + "\n"
      + #"{"request":"b","response":{}}"#
    let error = try #require(try unary(stubs).end?.error)
    #expect(error.code == .unimplemented)
    #expect(
      error.message
        == #"no stub matches test.Echo/Say "ping"; the closest is stubs.json:3: the message is "ping", expected "b""#
    )
    let other = try unary(#"{"method":"test.Echo/Sag","response":{}}"#)
    #expect(other.end?.error?.message.contains("the closest is for test.Echo/Sag") == true)
  }

  @Test func missHidesExpectedCredential() throws {
    let error = try unary(#"{"where":["header authorization == Bearer hunter2-a"],"response":{}}"#).end?.error
    let expected =
      "header authorization == Bearer [redacted]: expected == Bearer [redacted], got no authorization"
    #expect(error?.message.hasSuffix(expected) == true)
  }

  @Test func forwardsMissIfConfigured() throws {
    let call = try unary(#"{"request":"a","response":{}}"#, "ping", ",miss=pass")
    #expect(call.wireLines == ["start", "ping", "half-close"])
  }

  @Test func usesResponsesInSequenceAndLimit() throws {
    let services = TestServices()
    services.files["stubs.json"] =
      #"{"times":3,"responses":[{"status":"unavailable"},{"message":"a"}]} {"response":{"message":"b"}}"#
    let registration = try services.registration("mock,file=stubs.json")
    let ends = (0..<4).map { _ in
      let call = TestCall(.unary, Journal(), [registration], typed: true)
      call.start()
      call.send("ping")
      return call.callerLines.first { $0.hasPrefix("typed") } ?? call.end?.code.name
    }
    #expect(ends == ["unavailable", "typed a", "typed a", "typed b"])
  }

  // MARK: Variables

  /// The results of calls with one chain: the message or the status of each.
  private func results(_ stubs: String, _ texts: [String]) throws -> [String] {
    let services = TestServices()
    services.files["stubs.json"] = stubs
    let registration = try services.registration("mock,file=stubs.json")
    return texts.map { text in
      let call = TestCall(.unary, Journal(), [registration], typed: true)
      call.start()
      call.send(text)
      return call.callerLines.first { $0.hasPrefix("typed") } ?? call.end?.error.map {
        $0.message.isEmpty ? $0.code.name : $0.message
      } ?? ""
    }
  }

  @Test func laterCallsReadWhatEarlierOnesSet() throws {
    let stubs = #"""
      {"where":[".value =~ ^put", "${seen[${request.value}]} exists"],"response":{"status":"already_exists"}}
      {"where":[".value =~ ^put"],"response":{"set":{"seen[${request.value}]":${request},"newest":"${request.value}"},"message":"new ${newest}"}}
      {"where":["${newest} absent"],"response":{"message":"nothing"}}
      {"where":[".value == ${newest}"],"response":{"message":"the last one"}}
      {"where":[".value == clear"],"response":{"set":{"seen":null,"newest":null},"message":"cleared"}}
      {"response":{"message":"${seen}"}}
      """#
    #expect(
      try results(stubs, ["a", "put1", "put1", "put2", "put\".a[", "x", "clear", "x", "put1"]).map {
        $0.replacing("typed ", with: "")
      } == [
        "nothing", "new put1", "already_exists", "new put2", "new put\".a[",
        #"{"put1":"put1","put2":"put2","put\".a[":"put\".a["}"#, "cleared", "nothing", "new put1",
      ])
  }

  @Test func valueIsSetForOneOfTwoCalls() throws {
    // The second call is selected before the first one ends.
    let services = TestServices()
    services.files["stubs.json"] =
      #"{"where":["${lock} absent"],"response":{"set":{"lock":true},"delay":"1s","message":"mine"}} {"response":{"message":"${lock}"}}"#
    let registration = try services.registration("mock,file=stubs.json")
    let calls = (0..<2).map { _ in
      let call = TestCall(.unary, Journal(), [registration], typed: true)
      call.start()
      call.send("ping")
      return call
    }
    #expect(calls[1].callerLines.contains("typed true"))
    #expect(calls[0].callerLines == [])
  }

  @Test func rulesOfStreamsSetVariables() throws {
    let call = try self.call(
      .bidiStreaming,
      #"""
      {"response":{"set":{"a":0},"each":[
        {"where":[".value == off"],"set":{"a":1}},
        {"set":{"b":"${request.value}"},"message":"${b} ${a}"}]}}
      """#)
    call.start()
    for text in ["x", "off", "y"] { call.send(text) }
    call.close()
    #expect(call.callerLines.filter { $0.hasPrefix("typed") } == ["typed x 0", "typed y 1"])
    #expect(call.end?.code == .ok)
  }

  @Test func errorOfAVariableNamesThePlace() throws {
    let results = try results(
      #"{"response":{"set":{"a":[1],"a[${request.value}]":2},"message":"x"}}"#, ["k"])
    #expect(
      results == [
        "stubs.json:1: response.set.a[${request.value}]: a[\"k\"]: a is not an object: [1]"
      ])
  }

  @Test func waitsForDelays() throws {
    let call = try self.call(
      .serverStreaming,
      #"{"response":{"delay":"1s","messages":["a",{"delay":"2s","message":"b"}],"status":"aborted"}}"#)
    call.start()
    call.send("ping")
    call.close()
    #expect(call.callerLines == [])
    call.clock.advance(by: .seconds(1))
    #expect(call.callerLines == ["headers", "typed a"])
    call.clock.advance(by: .seconds(2))
    #expect(call.callerLines == ["headers", "typed a", "typed b", "end aborted", "metrics 0", "finished"])
  }

  @Test func respondsToClientStreamAtItsEnd() throws {
    let call = try self.call(
      .clientStreaming, #"{"response":{"message":"${request.count} ${request.value}"}}"#)
    call.start()
    for text in ["a", "b", "c"] { call.send(text) }
    #expect(call.callerLines == [])
    call.close()
    #expect(call.callerLines.prefix(2) == ["headers", "typed 3 c"])
  }

  @Test func respondsToEmptyClientStream() throws {
    let call = try self.call(
      .clientStreaming, #"{"response":{"message":"${request.count}"}}"#)
    call.start()
    call.close()
    #expect(call.callerLines.prefix(2) == ["headers", "typed 0"])
  }

  @Test func absentValueIsNoText() throws {
    let call = try self.call(.clientStreaming, #"{"response":{"message":"a ${request.value}"}}"#)
    call.start()
    call.close()
    #expect(call.callerLines.first == "end internal")
  }

  @Test func respondsToEachMessageOfBidirectionalStream() throws {
    let call = try self.call(
      .bidiStreaming,
      #"""
      {"response":{"messages":["hello"],"each":[
        {"where":[".value == bye"],"message":"farewell","status":"out_of_range"},
        {"where":[".value != silence"],"messages":["${request.value}!","${''}${request.count}"]}],
       "trailers":{"x-t":"1"}}}
      """#)
    call.start()
    call.send("a")
    #expect(call.callerLines == ["headers", "typed hello", "typed a!", "typed 1"])
    call.send("silence")
    call.send("b")
    #expect(call.callerLines.dropFirst(4) == ["typed b!", "typed 3"])
    call.send("bye")
    #expect(call.callerLines.dropFirst(6).prefix(2) == ["typed farewell", "end out_of_range"])
    #expect(call.end?.trailers == Headers([("x-t", "1")]))
    #expect(call.logged == [])
  }

  @Test func halfCloseEndsBidirectionalCall() throws {
    let call = try self.call(.bidiStreaming, #"{"response":{"each":{"message":"${request.value}"}}}"#)
    call.start()
    call.send("a")
    call.close()
    #expect(call.callerLines == ["headers", "typed a", "end ok", "metrics 0", "finished"])
    #expect(call.wireLines == [])
  }

  @Test(arguments: [
    (#"{"status":"aborted","trailers":{"x-t":"1"}}"#, false),
    (#"{"headers":{"x-a":"1"},"status":"aborted","trailers":{"x-t":"1"}}"#, true),
    (#"{"message":"a","status":"aborted","trailers":{"x-t":"1"}}"#, true),
  ])
  func failureHasHeadersIfTheStubHasHeadersOrMessages(_ response: String, _ isStarted: Bool) throws {
    for kind in [CallKind.unary, .clientStreaming, .serverStreaming, .bidiStreaming] {
      let call = try call(kind, #"{"response":\#(response)}"#)
      call.start()
      call.send("ping")
      call.close()
      #expect(call.callerLines.first == (isStarted ? "headers" : "end aborted"), "\(kind)")
      #expect(call.end?.code == .aborted)
      #expect(call.end?.trailers == Headers([("x-t", "1")]))
    }
  }

  @Test func failureThatRespondsToTheFirstMessageHasNoHeaders() throws {
    let call = try call(.bidiStreaming, #"{"response":{"each":{"status":"aborted"}}}"#)
    call.start()
    call.send("ping")
    #expect(call.callerLines.first == "end aborted")
  }

  @Test func ruleDelaysAStatusWithoutMessages() throws {
    let call = try call(.bidiStreaming, #"{"response":{"each":{"delay":"1s","status":"aborted"}}}"#)
    call.start()
    call.send("ping")
    #expect(call.end == nil)
    call.clock.advance(by: .seconds(1))
    #expect(call.callerLines.first == "end aborted")
  }

  @Test(
    arguments: ["retry,jitter=0", "hedge,delay=1h"],
    [
      (.unary, .grpc), (.unary, .connect), (.unary, .grpcWeb), (.clientStreaming, .grpc),
      (.serverStreaming, .grpc), (.bidiStreaming, .connect),
    ] as [(CallKind, ProtocolName)])
  func failureIsRepeatedAsThatOfAServer(_ text: String, _ method: (CallKind, ProtocolName)) throws {
    let services = TestServices()
    services.files["stubs.json"] =
      #"{"times":1,"response":{"status":"unavailable"}} {"response":{"message":"pong"}}"#
    let call = TestCall(
      method.0, Journal(),
      [try services.registration(text), try services.registration("mock,file=stubs.json")], typed: true,
      isIdempotent: true, protocolName: method.1)
    call.start()
    call.send("ping")
    call.close()
    call.clock.advance(by: .seconds(1))
    #expect(call.received.map { TestMessages.text($0.serialized) } == ["pong"])
    #expect(call.end == ResponseEnd())
  }

  @Test func cancelDuringDelayEndsCall() throws {
    let call = try self.call(.unary, #"{"response":{"delay":"1h","message":"a"}}"#)
    call.start()
    call.send("ping")
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    #expect(call.callerLines == ["end canceled", "metrics 0", "finished"])
    #expect(call.clock.timerCount == 0)
  }

  /// The values of a request whose message is the largest number.
  private func values() -> RequestValues {
    let functions = TemplateFunctions(TestServices(), seed: 1)
    var values = RequestValues(
      method: MethodName(service: "a.B", method: "C"), others: FunctionValues(functions, pool: nil))
    values.headers = Headers([("x-a", "v")])
    values.count = 3
    values.request = DescriptorMessages.make(
      "google.protobuf.UInt64Value", json: #""18446744073709551615""#)
    return values
  }

  @Test(arguments: [
    ("${request.value}", "18446744073709551615"), ("$request.value", "18446744073709551615"),
    (#""${request.value}""#, #""18446744073709551615""#),
    (#""<${request.value}>""#, #""<18446744073709551615>""#),
    ("[${request.count} ,$request.count]", "[3,3]"), (#""${request.header.X-A}""#, #""v""#),
    (#"${request.header.none}"#, #""""#), ("${request.method}", #""a.B/C""#),
    (#"{"a":["$${x} {{x}} $100 $ref",${random(4,4)},null]}"#, #"{"a":["${x} {{x}} $100 $ref",4,null]}"#),
    (#"${base64("a ${request.count}")}"#, #""YSAz""#),
  ])
  func valuesAreTextInStringsAndJSONOutside(stub: String, json: String) throws {
    let template = try StubTemplate(JSONValue(stub: Array(stub.utf8)), at: "x")
    #expect(try template.filled(values()).text == json)
  }

  @Test(arguments: [
    (".value == ${request.value}", true), (".value > ${request.count}", true),
    (".value == ${request.count}", false),
    ("header x-a == ${request.header.x-a}", true), (".value < ${request.count}", false),
  ])
  func conditionsHaveValues(condition: String, holds: Bool) throws {
    let values = values()
    let stub = try Stub(
      JSONValue(stub: Array(#"{"where":["\#(condition)"],"response":{}}"#.utf8)),
      at: DocumentPlace(file: "stubs.json", line: 1))
    let prepared = try PreparedCondition(stub.condition, "", #require(values.request).type)
    #expect(prepared.differences(from: values).isEmpty == holds)
  }

  @Test(arguments: [
    "{{request.value}}", "a {{ request.value }}", "{{text count}}", "{{header.x-a}}", "{{method}}",
  ])
  func oldTemplatesNameTheNewOnes(_ text: String) {
    let error = #expect(throws: LanguageError.self) {
      try StubTemplate(.string(text), at: "response.message")
    }
    #expect(
      error?.reason.hasSuffix(
        "}} is text; write ${request.PATH}, ${request.header.NAME}, ${request.method} or ${request.count}")
        == true)
  }

  @Test func stubsReadTheEnvironment() throws {
    let services = TestServices()
    services.variables["NAME"] = "Ada"
    services.files["stubs.json"] = #"{"response":{"message":"${env.NAME} ${uuid()}"}}"#
    let registrations = try (0..<2).map { _ in try services.registration("mock,file=stubs.json,seed=1") }
    let texts = registrations.map { registration in
      let call = TestCall(.unary, Journal(), [registration], typed: true)
      call.start()
      call.send("ping")
      return call.callerLines[1]
    }
    #expect(texts[0].hasPrefix("typed Ada "))
    #expect(texts[0] == texts[1])
  }

  @Test(arguments: [
    ("", "mock: file: stubs.json: the file contains no stub"),
    ("[1]", "mock: file: stubs.json:1: must be an object"),
    ("\n{\"response\":", "mock: file: stubs.json:2: unexpected end of the JSON"),
    ("\n{\"method\":\"x\",\n\"response\": tru}", "mock: file: stubs.json:3: expected a value"),
    (#"{"method":"a/b/c","response":{}}"#, "mock: file: stubs.json:1: method: must be pkg.Service/Method"),
    (#"{"method":"*"}"#, "mock: file: stubs.json:1: response: missing"),
    (
      #"{"response":{"message":"$request.value"}}"#,
      #"mock: file: stubs.json:1: response.message: "$request.value" is text; write "${request.value}", or $request.value"#
    ),
    (
      #"{"response":{"headers":{"a":"$env.A"}}}"#,
      #"mock: file: stubs.json:1: response.headers.a: "$env.A" is text; write "${env.A}""#
    ),
    (
      #"{"request":"${request.value}","response":{}}"#,
      "mock: file: stubs.json:1: request: ${request.value} has no value here; a condition of where can have it"
    ),
    (
      #"{"exactly":[$request],"response":{}}"#,
      "mock: file: stubs.json:1: exactly: ${request} has no value here"
    ),
    (#"{"response":{"message":${request.}}}"#, "mock: file: stubs.json:1: unexpected \".}}}\""),
    (#"{"response":{"message":$}}"#, "mock: file: stubs.json:1: expected a value"),
    (#"{"times":${request.count},"response":{}}"#, "mock: file: stubs.json:1: times: must be a whole number"),
    (#"{"respons":{}}"#, "mock: file: stubs.json:1: respons: unknown member; did you mean response?"),
    (
      #"{"response":{"delay":5}}"#,
      #"mock: file: stubs.json:1: response.delay: must be a duration such as "250ms""#
    ),
    (
      #"{"response":{"status":"fine"}}"#,
      #"mock: file: stubs.json:1: response.status: "fine" is not a status code"#
    ),
    (
      #"{"response":{"status":{"message":"x"}}}"#,
      "mock: file: stubs.json:1: response.status.code: missing"
    ),
    (#"{"responses":[{"messages":{}}]}"#, "mock: file: stubs.json:1: responses[0].messages: must be a list"),
    (
      #"{"response":{"message":1,"messages":[]}}"#,
      "mock: file: stubs.json:1: response.messages: cannot be combined with message"
    ),
    (
      #"{"response":{"headers":{"a b":"1"}}}"#,
      "mock: file: stubs.json:1: response.headers.a b: is not a valid header name"
    ),
    (#"{"response":{"headers":{"a":1}}}"#, "mock: file: stubs.json:1: response.headers.a: must be a list"),
    (#"{"response":{"each":{}}}"#, "mock: file: stubs.json:1: response.each.message: missing"),
    (#"{"where":["="],"response":{}}"#, "mock: file: stubs.json:1: where: "),
    (
      #"{"where":[".value == $request.value"],"response":{}}"#,
      "mock: file: stubs.json:1: where: $request.value is text; write ${request.value}"
    ),
    (
      #"{"response":{"message":{"a":["${uid()}"]}}}"#,
      "mock: file: stubs.json:1: response.message: uid is not a function; did you mean uuid?"
    ),
    (
      #"{"response":{"headers":{"a":"{{method}}"}}}"#,
      "mock: file: stubs.json:1: response.headers.a: {{method}} is text; write ${request.PATH}"
    ),
    (
      #"{"where":["status ok"],"response":{}}"#,
      "mock: file: stubs.json:1: where: status ok is not about the request; write header NAME, a path, or ${NAME}"
    ),
    (
      #"{"headers":["x-a:1"],"response":{}}"#,
      #"mock: file: stubs.json:1: headers: unknown member; write "where":["header NAME == VALUE"]"#
    ),
    (
      #"{"response":{"message":"${who}"}}"#,
      #"mock: file: stubs.json:1: ${who}: no stub sets who"#
    ),
    (
      #"{"where":["${users[${nam}]} exists"],"response":{"set":{"name":1,"users[1]":2}}}"#,
      "mock: file: stubs.json:1: ${nam}: no stub sets nam"
    ),
    (
      #"{"response":{"set":{"request":1}}}"#,
      "mock: file: stubs.json:1: response.set.request: request is not a variable; write NAME, or NAME[${EXPRESSION}]"
    ),
    (
      #"{"response":{"set":{"a b":1}}}"#,
      "mock: file: stubs.json:1: response.set.a b: a b is not the name of a variable; "
    ),
    (
      #"{"response":{"set":{"a.b.c":1}}}"#,
      "mock: file: stubs.json:1: response.set.a.b.c: a.b.c cannot be set; "
    ),
    (
      #"{"response":{"set":{"a[${uid()}]":1}}}"#,
      "mock: file: stubs.json:1: response.set.a[${uid()}]: uid is not a function; did you mean uuid?"
    ),
    (
      #"{"response":{"set":{"a":"${uid()}"}}}"#,
      "mock: file: stubs.json:1: response.set.a: uid is not a function"
    ),
    (#"{"response":{"set":["a"]}}"#, "mock: file: stubs.json:1: response.set: must be an object"),
    (#"{"times":0,"response":{}}"#, "mock: file: stubs.json:1: times: must be a whole number, at least 1"),
    (#"{"response":{},"response":{}}"#, "mock: file: stubs.json:1: response: duplicate member"),
  ])
  func invalidStubNamesPlace(_ stubs: String, _ message: String) {
    let services = TestServices()
    services.files["stubs.json"] = stubs
    let error = #expect(throws: ConfigurationError.self) { try services.registration("mock,file=stubs.json") }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    ("mock", "mock: file: missing value"), ("mock,file=none", "mock: file: none: no such file or directory"),
    ("mock,file=stubs.json,miss=maybe", "mock: miss: must be one of error, pass"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let services = TestServices()
    services.files["stubs.json"] = #"{"response":{}}"#
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description == message)
  }

  @Test(arguments: [
    (#"{"response":{"message":{"value":1}}}"#, "stubs.json:1: response.message: expected a string"),
    (
      #"{"response":{"message":["${request.value}"]}}"#,
      "stubs.json:1: response.message: expected a string; without quotes, ${request.value} is JSON"
    ),
    (#"{"response":{"messages":["a","b"]}}"#, "stubs.json:1: test.Echo/Say responds with one message, not 2"),
    (
      #"{"response":{"status":{"code":5,"details":[{"a":1}]}}}"#,
      "stubs.json:1: response.status.details[0]: an Any requires"
    ),
  ])
  func responseThatViolatesSchemaFailsCall(_ stubs: String, _ message: String) throws {
    let error = try #require(try unary(stubs).end?.error)
    #expect(error.message.hasPrefix(message), "\(error.message)")
    #expect(error.origin == .interceptor("mock"))
  }

  /// They are mistakes of the configuration, and found before a message is received.
  @Test(arguments: [
    (#"{"response":{"message":"${request.nope}"}}"#, "request.nope: "),
    (#"{"response":{"message":"${request[0].value}"}}"#, "request[0].value: a stub sees the last message"),
    (#"{"response":{"headers":{"a":"${env.NONE}"},"message":"a"}}"#, "env.NONE: the environment"),
    (#"{"request":{"nope":1},"response":{}}"#, "request: expected"),
    (
      #"{"where":[".nope == 1"],"response":{}}"#, "where: .nope == 1: google.protobuf.StringValue has no"
    ),
    (
      #"{"where":[".nope == ${request.value}"],"response":{}}"#,
      "where: .nope == ${request.value}: google.protobuf.StringValue has no"
    ),
    (#"{"where":[".value == ${request.nope}"],"response":{}}"#, "request.nope: "),

  ])
  func stubThatViolatesSchemaIsAWrongConfiguration(_ stubs: String, _ message: String) throws {
    let error = try #require(try unary(stubs).end?.error)
    #expect(error.message.hasPrefix("file: stubs.json:1: \(message)"), "\(error.message)")
    #expect(error.origin == .configuration("mock"))
  }

  @Test func requestIsPausedWhileDelayedResponsesWait() throws {
    let services = TestServices()
    services.files["stubs.json"] = #"{"response":{"each":{"messages":[{"delay":"1s","message":"r"}]}}}"#
    let call = TestCall(
      .bidiStreaming, Journal(), [try services.registration("mock,file=stubs.json")], windowBytes: 400,
      typed: true)
    call.start()
    call.send("first")
    while call.chain.wantsMoreInput, call.journal.lines.count < 100 { call.send("more") }
    #expect(!call.chain.wantsMoreInput)
    call.close()
    for _ in 0..<20 { call.clock.advance(by: .seconds(1)) }
    #expect(call.chain.wantsMoreInput)
    #expect(call.received.count > 3)
    #expect(call.end == ResponseEnd())
  }
}
