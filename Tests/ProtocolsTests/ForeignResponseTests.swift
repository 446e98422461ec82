import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct ForeignResponseTests {
  static let protocols: [(ProtocolName, CallKind)] = [
    (.grpc, .unary), (.grpc, .bidiStreaming), (.grpcWeb, .unary), (.grpcWeb, .serverStreaming),
    (.connect, .unary),
    (.connect, .serverStreaming),
  ]

  /// The error of a call with a response, as it is shown.
  private func error(
    _ status: Int, _ type: String, _ body: [UInt8], _ headers: [(String, String)] = [],
    over wire: (ProtocolName, CallKind) = (.grpc, .unary), hiding secrets: [String] = [], pieceBytes: Int = 7
  ) -> RPCError? {
    let recorder = HTTPResponse(status: status, headers: [("content-type", type)] + headers, body: body)
      .feed(WireProtocols.make(wire.0, .of(wire.1)), pieceBytes: pieceBytes)
    #expect(recorder.messages.isEmpty)
    var error = recorder.end?.error
    error?.explain(hiding: SecretMask(secrets))
    return error
  }

  private func words(_ type: String, _ body: String) -> String? {
    error(502, type, Array(body.utf8))?.message
      .replacing("the server responded with HTTP 502, without a gRPC status", with: "")
  }

  @Test(arguments: protocols)
  func errorHasTextOfForeignResponse(wire: (ProtocolName, CallKind)) {
    let found = error(503, "text/plain", Array("no healthy\nupstream".utf8), over: wire)
    #expect(found?.code == .unavailable)
    #expect(found?.origin == .violation)
    #expect(found?.message.hasSuffix("no healthy upstream") == true)
    #expect(found?.response?.status == 503)
    #expect(found?.response?.text == "no healthy\nupstream")
  }

  /// A hint has one line that a person reads.
  @Test func cutsLongHeaders() {
    let long = String(repeating: "a", count: 100_000)
    let response = ForeignResponse(
      status: 302, headers: Headers(["location", "server", "via", "retry-after"].map { ($0, long) }))
    #expect(response.location?.utf8.count ?? 0 < 300 && response.source?.utf8.count ?? 0 < 300)
    #expect(response.location?.hasSuffix("…") == true && response.source?.hasSuffix("…") == true)
    #expect(response.retryAfter == nil)
    #expect(ForeignResponse(status: 429, headers: Headers([("retry-after", "")])).retryAfter == nil)
    #expect(ForeignResponse(status: 429, headers: Headers([("retry-after", "7")])).retryAfter == "7")
  }

  @Test(arguments: protocols)
  func errorHasTextOfPageWithStatus200(wire: (ProtocolName, CallKind)) {
    let found = error(200, "text/html", Array("<html><title>Sign in</title>".utf8), over: wire)
    #expect(found?.code == .unknown)
    #expect(found?.message.hasSuffix(": Sign in") == true)
  }

  @Test(arguments: protocols)
  func decodesStatusOfGateway(wire: (ProtocolName, CallKind)) {
    let body = Array(#"{"code":5, "message":"no such item", "details":[]}"#.utf8)
    let found = error(404, "application/json", body, over: wire)
    #expect(found?.code == .notFound)
    #expect(found?.message == "no such item")
    #expect(found?.origin == .server)
  }

  @Test(arguments: protocols)
  func errorHasTextOfJSONOfProxy(wire: (ProtocolName, CallKind)) {
    let body = Array(#"{"error":"no healthy upstream"}"#.utf8)
    let found = error(503, "application/json", body, over: wire)
    #expect(found?.code == .unavailable)
    #expect(found?.message.hasSuffix(": no healthy upstream") == true)
  }

  @Test(arguments: [
    #"{"code":404,"message":"m"}"#, #"{"code":0,"message":"m"}"#, #"{"code":5}"#,
    #"{"code":5,"message":"m","id":1}"#,
  ])
  func otherJSONIsNoStatus(body: String) {
    let found = error(404, "application/json", Array(body.utf8))
    #expect(found?.code == .unimplemented)
    #expect(found?.origin == .violation)
  }

  @Test func textOfJSONIsThatOfItsError() {
    #expect(words("application/json", #"{"message":"m","x":1}"#) == ": m")
    #expect(words("application/json", #"{"error":"no","error_description":"expired"}"#) == ": no: expired")
    #expect(words("text/plain", #" {"error":{"code":404,"message":"m"}}"#) == ": m")
    #expect(words("application/problem+json", #"{"title":"t","detail":"d","status":502}"#) == ": t: d")
    #expect(words("application/json", #"{ "a" : [1, 2] }"#) == #": {"a":[1,2]}"#)
    #expect(words("application/json", #"{"cut":"#) == #": {"cut":"#)
  }

  @Test func textOfPageIsItsTitleOrWithoutTags() {
    #expect(words("text/html", "<HTML><TITLE lang=en>\n502 Bad &amp; slow\n</TITLE>…") == ": 502 Bad & slow")
    #expect(
      words("", "<!DOCTYPE html><html><head><title></title></head><p>Really <b>bad</b>") == ": Really bad")
    #expect(words("text/html", "<style>p{}</style><script>x<y</script><!-- > -->a<br>b") == ": a b")
    #expect(words("text/html", "<title") == "")
    #expect(words("text/html", "") == "")
  }

  @Test func bodyAndLineAreCut() {
    let found = error(502, "text/plain", Array(String(repeating: "ä", count: 5000).utf8), pieceBytes: 1000)
    #expect(found?.response?.body.count == 1024)
    #expect(found?.message.hasSuffix("ä…") == true)
    #expect((found?.message.utf8.count ?? 0) < 400)
    #expect(
      error(502, "text/plain", Array(("x" + String(repeating: "ä", count: 5000)).utf8))?.response?.body.count
        == 1023)
  }

  /// An endless body does not delay the end.
  @Test(arguments: protocols)
  func endsWhenEnoughIsRead(wire: (ProtocolName, CallKind)) {
    let call = WireProtocols.make(wire.0, .of(wire.1))
    let recorder = ResponseRecorder()
    let head = ResponseStart(
      httpStatus: 502, httpVersion: "2", headers: Headers([("content-type", "text/plain")]))
    #expect(call.receive(head: head, recorder) == nil)
    #expect(call.awaited == .text)
    let piece = [UInt8](repeating: 0x61, count: 1 << 10)
    var ends = 0
    for _ in 0..<100 {
      var offset = 0
      while offset < piece.count {
        if call.receive(body: piece.span.bytes, from: &offset, recorder) != nil { ends += 1 }
      }
    }
    #expect(ends == 1)
    #expect(call.awaited == nil)
  }

  @Test func statusAppliesIfTheBodyIsCut() {
    var end: ResponseEnd?
    HTTPResponse(status: 502, headers: [("content-type", "text/plain")], body: [0x61]).feed(
      WireProtocols.make(.grpc, .of(.unary)), to: ResponseRecorder(),
      failure: RPCError(.unavailable, "lost", origin: .connection)
    ) { if let found = $0 { end = found } }
    #expect(end?.error?.origin == .violation)
    #expect(end?.error?.response?.body == [0x61])
  }

  @Test(arguments: ["\u{1b}[31mupstream down\u{1b}[0m", "oops\u{7} in a line"])
  func textMayHaveControlCharacters(text: String) {
    #expect(error(503, "text/plain", Array(text.utf8))?.response?.text == text)
  }

  @Test(arguments: [[0x89, 0x50, 0, 1], [0x89, 0xFF, 0xFE, 0x50, 0x31, 0x90, 0x80]])
  func binaryBodyHasNoText(body: [UInt8]) {
    let found = error(502, "image/png", body)
    #expect(found?.response?.text == nil)
    #expect(found?.message == "the server responded with HTTP 502, without a gRPC status")
    #expect(found?.response?.body == body)
  }

  @Test(arguments: protocols)
  func decodesContentEncoding(wire: (ProtocolName, CallKind)) throws {
    let body = try Compression.gzip.compress(Array("a long text".utf8))
    let found = error(502, "text/plain", body, [("content-encoding", "gzip")], over: wire)
    #expect(found?.response?.text == "a long text")
    let unknown = error(502, "text/plain", body, [("content-encoding", "x")], over: wire)
    #expect(unknown?.response?.text == nil)
    #expect(unknown?.code == .unavailable)
  }

  @Test func decompressesOnlyWhatIsShown() throws {
    let bomb = try Compression.gzip.compress([UInt8](repeating: 0x61, count: 100 << 20))
    let found = error(502, "text/plain", bomb, [("content-encoding", "gzip")], pieceBytes: 1 << 20)
    #expect(found?.response?.body.count == 1024)
  }

  @Test func textHasNoCredentials() {
    let body = "token t0ken-value, " + Base64.encode(Array("Bearer t0ken-value".utf8)) + ", t0ken%2Dvalue"
    let found = error(
      401, "text/plain", Array(body.utf8), [("via", "proxy t0ken-value")], hiding: ["t0ken-value"])
    #expect(found.map { "\($0)" }?.contains("t0ken") == false)
    #expect(found?.message.contains("token [redacted]") == true)
    #expect(found?.response?.source == "via proxy [redacted]")
    let lines = error(401, "text/plain", Array("bad t0ken-\n  value".utf8), hiding: ["t0ken-value"])
    #expect(lines?.message.hasSuffix(": bad [redacted]") == true)
    let gateway = error(
      401, "application/json", Array(#"{"code":16,"message":"bad t0ken-value"}"#.utf8),
      hiding: ["t0ken-value"])
    #expect(gateway?.message == "bad [redacted]")
  }
}
