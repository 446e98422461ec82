import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct LogTests {
  private let services = TestServices()

  /// A bidirectional call with one message each way that takes 12.5 ms, written to `out`.
  private func log(_ settings: String, end: ResponseEnd = ResponseEnd(trailers: Headers([("x-t", "1")])))
    throws
  {
    let call = TestCall(.bidiStreaming, Journal(), [try services.registration("log,file=out\(settings)")])
    call.request.headers = Headers([("authorization", "Bearer top"), ("x-a", "1\u{1b}")])
    call.request.target = "http://me:secret@server"
    call.start()
    call.send("ping")
    call.close()
    services.nanosecondsSince1970 += 2_500_000
    call.chain.receive(
      .responseStart(ResponseStart(httpVersion: "2", headers: Headers([("set-cookie", "c")]))))
    call.receive("pöng")
    services.nanosecondsSince1970 += 10_000_000
    call.chain.receive(.responseEnd(end))
    #expect(call.callerLines.last == "finished")
  }

  private var out: String { services.files["out"] ?? "" }

  @Test func removesUserInfoFromURLs() {
    #expect("http://a:b@c:1/d@e".withoutUserInfo == "http://c:1/d@e")
    #expect("http://c:1/d@e".withoutUserInfo == "http://c:1/d@e")
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (1_709_164_800_123_456_789, "2024-02-29T00:00:00.123Z"),
    (-1, "1969-12-31T23:59:59.999Z"), (4_102_444_799_999_000_000, "2099-12-31T23:59:59.999Z"),
  ])
  func formatsTimes(_ time: Int64, _ text: String) {
    #expect(CivilTime.text(nanosecondsSince1970: time) == text)
  }

  @Test func writesHumanLines() throws {
    try log(
      "",
      end: ResponseEnd(error: RPCError(.notFound, "gone", origin: .server), trailers: Headers([("x-t", "1")]))
    )
    #expect(
      out == """
        22:13:20.000Z test.Echo/Say > bidi_streaming over grpc to http://server
        22:13:20.000Z test.Echo/Say >   authorization: Bearer [redacted]
        22:13:20.000Z test.Echo/Say >   x-a: 1\\u{1B}
        22:13:20.000Z test.Echo/Say > message 0, 6 bytes
        22:13:20.000Z test.Echo/Say > half-close
        22:13:20.002Z test.Echo/Say < HTTP/2 200
        22:13:20.002Z test.Echo/Say <   set-cookie: [redacted]
        22:13:20.002Z test.Echo/Say < message 0, 7 bytes
        22:13:20.012Z test.Echo/Say <   x-t: 1
        22:13:20.012Z test.Echo/Say < not_found (5) after 12.500 ms: gone

        """)
  }

  @Test func writesTruncatedBodiesIfRequested() throws {
    try log(",bodies=true,max-body=3")
    #expect(out.contains("> message 0, 6 bytes: \"pi…\n"))
    // Never within a character.
    #expect(out.contains("< message 0, 7 bytes: \"p…\n"))
    try log(",bodies=true,redact-field=value,redact=x-*")
    #expect(out.contains("6 bytes: \"[redacted]\"\n") && out.contains(">   x-a: [redacted]\n"))
  }

  @Test func writesNDJSON() throws {
    try log(",format=ndjson,bodies=true")
    let events = try out.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    #expect(
      events.map { $0["event"] }
        == ["start", "sent", "half_close", "headers", "message", "end", "metrics"].map { .string($0) })
    #expect(events.allSatisfy { $0["method"] == .string("test.Echo/Say") })
    #expect(events[0]["url"] == .string("http://server/test.Echo/Say"))
    #expect(events[0]["headers"]?.text.hasPrefix(#"[["authorization","Bearer [redacted]"]"#) == true)
    #expect(events[1]["message"] == .string("ping") && events[1]["bytes"] == .number("6"))
    #expect(events[5]["code"] == .string("ok") && events[5]["ms"] == .number("12.500"))
  }

  @Test(arguments: [
    (
      "", ["test.Echo/Say * attribute Token=[redacted]", "test.Echo/Say * attribute tenant=a\\u{1B}"]
    ),
    (",redact=ten*", ["attribute tenant=[redacted]"]),
    (",format=ndjson", [#""attributes":{"Token":"[redacted]","tenant":"a\u001b"}}"#]),
    (
      ",format=har",
      [#""comment":"ok; unary over grpc; attribute Token=[redacted]; attribute tenant=a\u001b"}"#]
    ),
  ])
  func writesAttributesOfTheStart(settings: String, expected: [String]) throws {
    let call = TestCall(.unary, Journal(), [try services.registration("log,file=out\(settings)")])
    try call.chain.attributes.set("Token", "top")
    try call.chain.attributes.set("tenant", "a\u{1b}")
    call.run()
    for text in expected { #expect(out.contains(text), "\(out)") }
    #expect(!out.contains("top"))
    #expect(out.split(separator: "tenant", omittingEmptySubsequences: false).count == 2)
  }

  @Test func archiveIsCompleteAfterEachCall() throws {
    let registration = try services.registration("log,file=out,format=har,bodies=true")
    let unfinished = TestCall(.unary, Journal(), [registration])
    unfinished.start()
    #expect(try JSONValue(parsing: Array(out.utf8))["log"]?["entries"] == .array([]))
    for count in 1...2 {
      let call = TestCall(.unary, Journal(), [registration])
      call.run()
      guard case .array(let entries)? = try JSONValue(parsing: Array(out.utf8))["log"]?["entries"] else {
        Issue.record("no entries: \(out)")
        return
      }
      #expect(entries.count == count)
      #expect(entries[0]["request"]?["postData"]?["text"] == .string("\"ping\""))
      #expect(entries[0]["response"]?["content"]?["text"] == .string(Base64.encode(Array("\"pong\"".utf8))))
      #expect(entries[0]["comment"] == .string("ok; unary over grpc"))
    }
  }

  @Test(arguments: [
    (ProtocolName.connect, true, "ok; unary over connect; sent by GET if --connect-get is given"),
    (.connect, false, "ok; unary over connect"), (.grpc, true, "ok; unary over grpc"),
  ])
  func entryStatesThatItMayBeGET(_ name: ProtocolName, _ hasNoSideEffects: Bool, _ comment: String) throws {
    let registration = try services.registration("log,file=out,format=har")
    TestCall(.unary, Journal(), [registration], hasNoSideEffects: hasNoSideEffects, protocolName: name).run()
    #expect(out.contains("\"comment\":\"\(comment)\""))
  }

  @Test func entryHasMethodOfTheRequest() throws {
    let call = TestCall(.unary, Journal(), [try services.registration("log,file=out,format=har")])
    call.request.method = MethodName(service: "test.Echo", method: "Changed")
    call.run()
    #expect(out.contains("\"url\":\"http://server/test.Echo/Changed\""))
  }

  @Test(arguments: [
    ("log,bodies=true", 1), ("log,bodies=false", 0), ("record", 1), ("record,redact-field=value", 1),
  ])
  func reportsFieldToRedactThatNoMessageHas(_ use: String, _ count: Int) throws {
    let registration = try services.registration("\(use),file=out,redact-field=vaule,redact-field=value")
    let calls = (1...2).map { _ in TestCall(.unary, Journal(), [registration], typed: true) }
    for call in calls { call.run() }
    let texts = calls.flatMap(\.logged).filter { $0.level == .warning }.map(\.text)
    let text = "redact-field=vaule: no message of test.Echo/Say has this field"
    #expect(texts == Array(repeating: text, count: count))
    let untyped = TestCall(
      .unary, Journal(), [try services.registration("\(use),file=out,redact-field=vaule")])
    untyped.run()
    #expect(untyped.logged.isEmpty)
  }

  @Test func timingsAddUp() throws {
    try log(",format=har")
    let entry = try JSONValue(parsing: Array(out.utf8))["log"]?["entries"]
    guard case .array(let entries)? = entry, let timings = entries[0]["timings"] else {
      Issue.record("no entry: \(out)")
      return
    }
    #expect(entries[0]["time"] == .number("12.500"))
    #expect(timings["send"] == .number("0.000"))
    #expect(timings["wait"] == .number("2.500"))
    #expect(timings["receive"] == .number("10.000"))
  }

  @Test func writesCanceledCall() throws {
    let call = TestCall(.unary, Journal(), [try services.registration("log,file=out,format=har")])
    call.start()
    call.chain.cancel(RPCError(.canceled, "enough", origin: .client))
    #expect(out.contains(#""comment":"canceled (1): enough; unary over grpc""#))
  }

  @Test(arguments: [
    ("log,format=xml", "log: format: must be one of human, ndjson, har"),
    ("log,format=har", "log: file: format=har requires a file, which is rewritten after each call"),
    ("log,format=har,file=out,append=true", "log: file: out: format=har cannot append"),
    ("log,file=/no/such", "log: file: /no/such: no such file or directory"),
    ("log,format=har,file=/no/such", "log: file: /no/such: no such file or directory"),
    ("log,max-body=0", "log: max-body: must be a whole number from 1 to 67108864"),
    ("log,bodies=perhaps", "log: bodies: must be true or false"),
    ("log,redact=", "log: redact: must be a header name, with * at its ends for any text"),
    ("log,colour=red", "log: colour: unknown key"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description == message)
  }
}
