import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct CassetteTests {
  private let services = TestServices()

  private func call(_ kind: CallKind, _ text: String) throws -> TestCall {
    TestCall(kind, Journal(), [try services.registration(text)], typed: true)
  }

  /// Records a bidirectional call: a greeting, a response to each of two messages, a status.
  private func record(_ settings: String = "") throws {
    let call = try call(.bidiStreaming, "record,file=c.rec\(settings)")
    call.request.headers = Headers([("authorization", "Bearer top"), ("x-a", "1")])
    call.start()
    call.receiveHeaders()
    services.nanosecondsSince1970 += 5_000_000
    call.receive("hello")
    for text in ["a", "b"] {
      call.send(text)
      services.nanosecondsSince1970 += 1_500_000
      call.receive("\(text)!")
    }
    call.close()
    let detail = StatusDetail(typeName: "t.T", value: [1, 2])
    call.chain.receive(
      .responseEnd(
        ResponseEnd(
          error: RPCError(.aborted, "over", details: [detail], origin: .server),
          trailers: Headers([("x-t", "1")]))))
  }

  private var lines: [String] { (services.files["c.rec"] ?? "").split(separator: "\n").map(String.init) }

  @Test func recordsEventsImmediately() throws {
    try record()
    #expect(
      lines == [
        #"{"cassette":"rpcurl","version":1}"#,
        #"{"call":1,"event":"start","time":"2023-11-14T22:13:20.000Z","method":"test.Echo/Say","kind":"bidi_streaming","#
          + #""protocol":"grpc","target":"http://server","headers":[["authorization","Bearer [redacted]"],["x-a","1"]]}"#,
        #"{"call":1,"event":"headers","ms":0.000,"http_status":200,"http_version":"","headers":[["from","server"]]}"#,
        #"{"call":1,"event":"received","ms":5.000,"message":"hello","bytes":"CgVoZWxsbw=="}"#,
        #"{"call":1,"event":"sent","ms":5.000,"message":"a","bytes":"CgFh"}"#,
        #"{"call":1,"event":"received","ms":6.500,"message":"a!","bytes":"CgJhIQ=="}"#,
        #"{"call":1,"event":"sent","ms":6.500,"message":"b","bytes":"CgFi"}"#,
        #"{"call":1,"event":"received","ms":8.000,"message":"b!","bytes":"CgJiIQ=="}"#,
        #"{"call":1,"event":"half_close","ms":8.000}"#,
        #"{"call":1,"event":"end","ms":8.000,"code":"aborted","message":"over","#
          + #""details":[{"type":"t.T","value":"AQI="}],"trailers":[["x-t","1"]]}"#,
      ])
  }

  /// The JSON would take most of the time in which the loop is blocked, and of the file.
  @Test func recordsALargeMessageInBinaryOnly() throws {
    let text = String(repeating: "a", count: 1 << 20)
    for isReplayed in [false, true] {
      let call = try call(.unary, isReplayed ? "replay,file=c.rec" : "record,file=c.rec")
      call.start()
      call.send("small")
      call.close()
      if !isReplayed {
        call.receiveHeaders()
        call.receive(text)
        call.chain.receive(.responseEnd(ResponseEnd()))
      }
      let isReceived = call.callerLines.contains { $0.hasSuffix(text) }
      #expect(isReceived)
    }
    let messages = lines.filter { $0.contains(#""bytes""#) }
    #expect(messages.map { $0.contains(#""message""#) } == [true, false])
  }

  @Test func appendsToExistingFile() throws {
    try record(",append=true")
    try record(",append=true")
    #expect(lines.count == 19)
    #expect(lines.last?.hasPrefix(#"{"call":2,"event":"end""#) == true)
    try record()
    #expect(lines.count == 10)
  }

  @Test(arguments: ["record,append=true", "replay,miss=record"])
  func cassetteThatCannotBeContinuedIsKept(_ use: String) throws {
    services.files["c.rec"] = cassette([("a", "1")])
    services.unreadableFiles = ["c.rec"]
    let unreadable = #expect(throws: ConfigurationError.self) {
      try services.registration("\(use),file=c.rec")
    }
    #expect(unreadable?.reason == "c.rec: input/output error")
    #expect(services.files["c.rec"] == cassette([("a", "1")]))
  }

  /// A process can end within a write, and others then add lines.
  @Test func ignoresLineThatIsIncomplete() throws {
    let whole = cassette([("a", "1"), ("é", "2")])
    let line = Array(#"{"call":1,"event":"received","ms":3,"message":"é\u00e9"}"#.utf8)
    for count in 1..<line.count {
      let content = Array(whole.utf8) + line.prefix(count) + Array("\n".utf8)
      for content in [content, Array(content.dropLast())] {
        let recorded = try CassetteReader.read(content, file: "c")
        #expect(recorded.calls.count == 2 && recorded.incompleteLine != nil)
      }
    }
    for end in ["", "\r", " \r\n", "\n"] {
      let content = Array((whole + #"{"call":2,ev}"# + end).utf8)
      #expect(throws: (any Error).self) { try CassetteReader.read(content, file: "c") }
    }
    services.files["c.rec"] = whole + #"{"call":2,"ev"#
    let call = try call(.unary, "replay,file=c.rec")
    call.start()
    call.send("a")
    call.close()
    #expect(call.callerLines.contains("typed 1"))
    let warning = "c.rec:10: the line is incomplete, and ignored: the process that wrote it was ended"
    #expect(call.logged.map(\.text) == [warning])
  }

  @Test func readsInterruptedRecording() throws {
    let call = try call(.bidiStreaming, "record,file=c.rec")
    call.start()
    call.send("a")
    #expect(try CassetteReader.read(Array(lines.joined(separator: "\n").utf8), file: "c").calls.count == 1)
    let again = try self.call(.bidiStreaming, "replay,file=c.rec")
    again.start()
    again.send("a")
    #expect(again.end?.error?.message == "c.rec:2: the recorded call was interrupted and has no end")
  }

  /// A session cancels its streams at the end of a test; another caller would wait for ever.
  @Test(arguments: [true, false])
  func callThatItsCallerCanceledHasNoEnd(staysOpen: Bool) throws {
    let canceled = try call(.bidiStreaming, "record,file=c.rec")
    canceled.start()
    canceled.send("a")
    canceled.receiveHeaders()
    canceled.receive("b")
    canceled.chain.cancel(RPCError(.canceled, "the test has ended", origin: .client))
    let replay = try services.registration("replay,file=c.rec")
    let again = TestCall(
      .bidiStreaming, Journal(), [replay], typed: true, lifetime: staysOpen ? .untilCanceled : .untilItsEnd)
    again.start()
    again.send("a")
    #expect(again.callerLines.prefix(2) == ["headers", "typed b"])
    #expect(again.end?.code == (staysOpen ? nil : .unavailable))
    again.chain.cancel(RPCError(.canceled, "the test has ended", origin: .client))
    #expect(again.end?.code == (staysOpen ? .canceled : .unavailable))
  }

  /// What is further out is the caller of what is recorded.
  @Test func callThatWasEndedFurtherOutHasNoEnd() throws {
    let hedge = try services.registration("hedge,delay=1s")
    let record = try services.registration("record,file=c.rec")
    let hedged = TestCall(.unary, Journal(), [hedge, record], typed: true, isIdempotent: true)
    hedged.start()
    hedged.send("a")
    hedged.close()
    hedged.clock.advance(by: .seconds(1))
    hedged.receiveHeaders()
    hedged.receive("b")
    hedged.receiveEnd()
    #expect(hedged.end == ResponseEnd())
    let ends = lines.filter { $0.contains(#""event":"end""#) }
    #expect(ends.map { $0.contains(#""code":"canceled""#) } == [true, false])
    #expect(ends.first?.contains(#""origin":"client""#) == true)
    #expect(try answers("", to: ["a", "a"]) == ["b", "b"])
    #expect(try answers(",match=order", to: ["a", "a"]) == ["unavailable", "b"])
  }

  @Test func recordsEndOfCallThatFailsBeforeSending() throws {
    let call = try call(.unary, "record,file=c.rec")
    call.start()
    call.chain.cancel(RPCError(.deadlineExceeded, "late", origin: .client))
    #expect(lines.last?.contains(#""code":"deadline_exceeded","message":"late","origin":"client""#) == true)
  }

  @Test func redactsAdditionalFields() throws {
    try record(",redact=x-*,redact-field=value")
    let text = lines.joined(separator: "\n")
    #expect(text.contains(#"["x-a","[redacted]"]"#) && text.contains(#"["x-t","[redacted]"]"#))
    #expect(
      text.contains(#""message":"[redacted]""#) && !text.contains(#""a!""#) && !text.contains("CgJhIQ=="))
  }

  @Test func replaysAlternatingMessages() throws {
    try record()
    let call = try call(.bidiStreaming, "replay,file=c.rec")
    call.start()
    #expect(call.callerLines == ["headers", "typed hello"])
    call.send("a")
    #expect(call.callerLines.last == "typed a!")
    call.send("b")
    #expect(call.callerLines.last == "typed b!")
    call.close()
    #expect(call.callerLines.suffix(3) == ["end aborted", "metrics 0", "finished"])
    #expect(call.end?.error?.details == [StatusDetail(typeName: "t.T", value: [1, 2])])
    #expect(call.end?.trailers == Headers([("x-t", "1")]))
    #expect(call.receivedStart?.headers == Headers([("from", "server")]))
    #expect(call.wireLines == [])
  }

  @Test func replaysRecordedDelays() throws {
    try record()
    let call = try call(.bidiStreaming, "replay,file=c.rec,timing=original")
    call.start()
    #expect(call.callerLines == ["headers"])
    call.clock.advance(by: .milliseconds(5))
    call.send("a")
    #expect(call.callerLines == ["headers", "typed hello"])
    call.clock.advance(by: .milliseconds(1))
    #expect(call.callerLines == ["headers", "typed hello"])
    call.clock.advance(by: .milliseconds(1))
    #expect(call.callerLines == ["headers", "typed hello", "typed a!"])
  }

  @Test func missNamesDifference() throws {
    try record()
    let call = try call(.bidiStreaming, "replay,file=c.rec")
    call.start()
    call.send("x")
    let error = try #require(call.end?.error)
    #expect(error.code == .unimplemented)
    #expect(
      error.message == "c.rec has no response to test.Echo/Say \"x\"; the closest is c.rec:2: "
        + "message 0: value is \"x\", recorded is \"a\"")
  }

  @Test func tooFewMessagesMiss() throws {
    try record()
    let call = try call(.bidiStreaming, "replay,file=c.rec")
    call.start()
    call.send("a")
    call.close()
    #expect(call.end?.error?.message.contains("it has 2 request messages, this call has 1") == true)
  }

  /// A cassette of unary calls: request and response.
  private func cassette(_ calls: [(String, String)]) -> String {
    var lines = [Cassette.firstLine]
    for (index, (request, answer)) in calls.enumerated() {
      lines.append(#"{"call":\#(index),"event":"start","method":"test.Echo/Say"}"#)
      lines.append(#"{"call":\#(index),"event":"sent","message":"\#(request)"}"#)
      lines.append(#"{"call":\#(index),"event":"received","ms":3,"message":"\#(answer)"}"#)
      lines.append(#"{"call":\#(index),"event":"end","code":"ok"}"#)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The responses to unary calls with these messages.
  private func answers(_ settings: String, to requests: [String]) throws -> [String] {
    let registration = try services.registration("replay,file=c.rec\(settings)")
    return requests.map { request in
      let call = TestCall(.unary, Journal(), [registration], typed: true)
      call.start()
      call.send(request)
      call.close()
      return call.callerLines.first { $0.hasPrefix("typed") }.map { String($0.dropFirst(6)) }
        ?? (call.wireLines.isEmpty ? call.end?.code.name ?? "" : "wire")
    }
  }

  @Test func replaysEqualCallsInOrder() throws {
    services.files["c.rec"] = cassette([("a", "1"), ("b", "2"), ("a", "3")])
    #expect(try answers("", to: ["a", "a", "b", "a", "b"]) == ["1", "3", "2", "3", "2"])
    #expect(try answers(",match=order", to: ["x", "y", "z", "a"]) == ["1", "2", "3", "unimplemented"])
    #expect(try answers(",match=fields,fields=value", to: ["b", "x"]) == ["2", "unimplemented"])
    #expect(try answers(",miss=pass", to: ["b", "x"]) == ["2", "wire"])
  }

  @Test func failureIsRepeatedAsThatOfTheServer() throws {
    services.files["c.rec"] = """
      \(Cassette.firstLine)
      {"call":1,"event":"start","method":"test.Echo/Say"}
      {"call":1,"event":"sent","message":"a"}
      {"call":1,"event":"headers","http_status":503,"headers":[["x-a","1"]]}
      {"call":1,"event":"end","code":"unavailable"}
      {"call":2,"event":"start","method":"test.Echo/Say"}
      {"call":2,"event":"sent","message":"a"}
      {"call":2,"event":"end","code":"unavailable","origin":"connection"}
      {"call":3,"event":"start","method":"test.Echo/Say"}
      {"call":3,"event":"sent","message":"a"}
      {"call":3,"event":"headers","headers":[]}
      {"call":3,"event":"received","message":"pong"}
      {"call":3,"event":"end","code":"ok"}

      """
    func call(_ others: [InterceptorRegistration], _ replay: InterceptorRegistration) -> TestCall {
      let call = TestCall(.unary, Journal(), others + [replay], typed: true, protocolName: .connect)
      call.start()
      call.send("a")
      call.close()
      return call
    }
    let retry = try services.registration("retry,jitter=0")
    let retried = call([retry], try services.registration("replay,file=c.rec"))
    for _ in 0..<2 { retried.clock.advance(by: .seconds(1)) }
    #expect(retried.end == ResponseEnd())
    #expect(retried.attempts.count == 3)
    let replay = try services.registration("replay,file=c.rec")
    let failed = call([], replay)
    #expect(failed.receivedStart == ResponseStart(httpStatus: 503, headers: Headers([("x-a", "1")])))
    #expect(failed.end?.code == .unavailable)
    #expect(call([], replay).callerLines.first == "end unavailable")
  }

  @Test func recordsMisses() throws {
    let registration = try services.registration("replay,file=c.rec,miss=record")
    let call = TestCall(.unary, Journal(), [registration], typed: true)
    call.run()
    #expect(call.callerLines.prefix(3) == ["headers", "pong", "end ok"])
    #expect(lines.count == 7)
    #expect(try answers(",miss=record", to: ["ping"]) == ["pong"])
    #expect(lines.count == 7)
  }

  @Test func comparesWholeClientStream() throws {
    services.files["c.rec"] = """
      \(Cassette.firstLine)
      {"call":1,"event":"start","method":"test.Echo/Say"}
      {"call":1,"event":"sent","message":"a"}
      {"call":2,"event":"start","method":"test.Echo/Say"}
      {"call":2,"event":"sent","message":"a"}
      {"call":1,"event":"sent","message":"b"}
      {"call":2,"event":"half_close"}
      {"call":2,"event":"received","message":"one"}
      {"call":2,"event":"end","code":"ok"}
      {"call":1,"event":"half_close"}
      {"call":1,"event":"something new"}
      {"call":1,"event":"received","message":"two"}
      {"call":1,"event":"end","code":0}

      """
    for (requests, answer) in [(["a", "b"], "typed two"), (["a"], "typed one")] {
      let call = try call(.clientStreaming, "replay,file=c.rec")
      call.start()
      for request in requests { call.send(request) }
      call.close()
      #expect(call.callerLines.contains(answer))
    }
    let miss = try call(.clientStreaming, "replay,file=c.rec,miss=pass")
    miss.start()
    for text in ["a", "b", "c"] { miss.send(text) }
    #expect(miss.wireLines == ["start", "a", "b", "c"])
  }

  @Test(arguments: [
    ("", "is empty, not a cassette"),
    ("{}", "1: the first line must be {\"cassette\":\"rpcurl\",\"version\":1}"),
    ("{\"cassette\":\"rpcurl\",\"version\":2}", "1: version: 2 is newer than this rpcurl supports (1)"),
    ("FIRST\n\n[]", "3: must be an object"),
    ("FIRST\n{\"event\":\"sent\"}", "2: call: missing"),
    ("FIRST\n{\"call\":\"1\",\"event\":\"sent\"}", "2: call: must be a whole number, at least 0"),
    ("FIRST\n{\"call\":9223372036854775807}", "2: call: must be at most 9007199254740992"),
    ("FIRST\n{\"call\":1}", "2: event: missing"),
    (
      "FIRST\n{\"call\":1,\"event\":\"sent\"}",
      "2: call: no call with number 1 has started"
    ),
    ("FIRST\n{\"call\":1,\"event\":\"start\",\"method\":\"x\"}", "2: method: must be the name of a method"),
    ("START\n{\"call\":1,\"event\":\"sent\"}", "3: bytes: missing bytes or message"),
    ("START\n{\"call\":1,\"event\":\"sent\",\"bytes\":\"?\"}", "3: bytes: is not base64"),
    ("START\n{\"call\":1,\"event\":\"sent\",\"bytes\":5}", "3: bytes: must be a string"),
    (
      "START\n{\"call\":1,\"event\":\"sent\",\"bytes\":\"\",\"ms\":-1}",
      "3: ms: must be a number of milliseconds"
    ),
    ("START\n{\"call\":1,\"event\":\"end\"}", "3: code: missing"),
    ("START\n{\"call\":1,\"event\":\"end\",\"code\":99}", "3: code: \"99\" is not a status code"),
    ("START\n{\"call\":1,\"event\":\"headers\",\"headers\":[[\"a\"]]}", "3: headers[0]: must be a header as"),
    (
      "START\n{\"call\":1,\"event\":\"headers\",\"headers\":[[\"a\",\"\\n\"]]}",
      "3: headers[0]: must be a header as"
    ),
    (
      "START\n{\"call\":1,\"event\":\"end\",\"code\":5,\"details\":[{\"type\":\"t\",\"value\":\"?\"}]}",
      "3: details[0].value: is not base64"
    ),
    (
      "START\n{\"call\":1,\"event\":\"end\",\"code\":0}\n{\"call\":1,\"event\":\"half_close\"}",
      "4: event: the call has already ended"
    ),
  ])
  func invalidCassetteNamesPlace(_ text: String, _ message: String) {
    let start = Cassette.firstLine + "\n" + #"{"call":1,"event":"start","method":"a.B/C"}"#
    services.files["c.rec"] = text.replacing("START", with: start).replacing(
      "FIRST", with: Cassette.firstLine)
    let separator = message.first?.isNumber == true ? ":" : ": "
    for use in ["replay", "record,append=true"] where !text.isEmpty || use == "replay" {
      let error = #expect(throws: ConfigurationError.self) { try services.registration("\(use),file=c.rec") }
      let expected = "\(use.prefix(6)): file: c.rec\(separator)\(message)"
      #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
    }
  }

  @Test func invalidMessageFailsCallWithPlace() throws {
    services.files["c.rec"] = cassette([("a", "x")]).replacing(#""message":"x""#, with: #""message":7"#)
    let registration = try services.registration("replay,file=c.rec")
    let call = TestCall(.unary, Journal(), [registration], typed: true)
    call.start()
    call.send("a")
    #expect(
      call.end?.error?.message.hasPrefix("c.rec:4: message: expected") == true,
      "\(call.end?.error?.message ?? "")")
  }

  @Test(arguments: [
    ("record", "record: file: missing value"), ("replay", "replay: file: missing value"),
    ("replay,file=none", "replay: file: none: no such file or directory"),
    ("record,file=/no/such", "record: file: /no/such: no such file or directory"),
    ("replay,file=c.rec,match=maybe", "replay: match: must be one of exact, fields, order"),
    ("replay,file=c.rec,match=fields", "replay: fields: missing value: match=fields requires at least one"),
    ("replay,file=c.rec,match=order,fields=a", "replay: fields: requires match=fields"),
    (
      "replay,file=c.rec,fields=a[",
      "replay: fields: not a valid field path: expected \"]\" at byte 2 of the path"
    ),
    ("replay,file=c.rec,timing=1", "replay: timing: must be one of original, none"),
    ("replay,file=c.rec,miss=x", "replay: miss: must be one of error, pass, record"),
    ("record,file=c.rec,append=maybe", "record: append: must be true or false"),
    ("record,file=c.rec,redact-field=.", "record: redact-field: not the path of a field"),
    ("record,file=c.rec,redact-field=-", "record: redact-field: not a valid field path"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    services.files["c.rec"] = cassette([])
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }
}
