import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct ConnectUnaryProtocolTests {
  private static let proto = [("content-type", "application/proto")]
  private static let json = [("content-type", "application/json")]

  private func feed(_ response: HTTPResponse, pieceBytes: Int = .max) -> ResponseRecorder {
    response.feed(ConnectUnaryProtocol(.of(.unary)), pieceBytes: pieceBytes)
  }

  private func error(_ body: String, status: Int = 404, headers: [(String, String)] = json) -> RPCError? {
    let response = HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    let whole = feed(response)
    #expect(feed(response, pieceBytes: 1).events == whole.events)
    return whole.end?.error
  }

  @Test func requestIsPlainHTTP() throws {
    let start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h")
    let call = ConnectUnaryProtocol(.of(.unary, codec: .json))
    let request = try call.makeRequest(start, timeout: .seconds(2))
    #expect(request.url == "http://h/a.B/C")
    #expect(
      request.headers
        == Headers([
          ("content-type", "application/json"), ("connect-protocol-version", "1"), ("user-agent", "test/1"),
          ("accept-encoding", "identity"), ("connect-timeout-ms", "2000"),
        ]))
    var body: [UInt8] = []
    try call.encode([1, 2], into: &body)
    #expect(body == [1, 2])
  }

  @Test func readsMessageFromBodyAndTrailersFromPrefixedHeaders() {
    let leading = Self.proto + [("x-lead", "1"), ("trailer-", "no name")]
    let headers = leading + [("trailer-x-trail", "2"), ("trailer-x-trail", "3")]
    for size in [1, 2, .max] {
      let recorder = feed(HTTPResponse(headers: headers, body: [1, 2, 3]), pieceBytes: size)
      #expect(recorder.messages == [[1, 2, 3]])
      #expect(recorder.end == ResponseEnd(trailers: Headers([("x-trail", "2"), ("x-trail", "3")])))
      guard case .responseStart(let start) = recorder.events.first else { return #expect(Bool(false)) }
      #expect(start.headers == Headers(leading))
    }
  }

  @Test func keepsFactsOfConnection() {
    var head = ResponseStart(
      httpStatus: 200, httpVersion: "2", headers: Headers([("trailer-x", "1"), ("a", "b")]))
    head.peer = "127.0.0.1:80"
    head.tlsVersion = "TLSv1.3"
    let recorder = ResponseRecorder()
    _ = ConnectUnaryProtocol(.of(.unary)).receive(head: head, recorder)
    head.headers = Headers([("a", "b")])
    #expect(recorder.events == [.responseStart(head)])
  }

  @Test func readsEmptyBodyAsEmptyMessage() {
    #expect(feed(HTTPResponse(headers: Self.proto)).messages == [[]])
  }

  @Test func readsErrorFromJSON() {
    let found = error(
      #"{"code":"not_found","message":"no ✓","details":[{"type":"a.B","value":"AQI","debug":{"x":1}}],"more":1}"#
    )
    #expect(found?.code == .notFound)
    #expect(found?.message == "no ✓")
    #expect(found?.origin == .server)
    #expect(found?.details == [StatusDetail(typeName: "a.B", value: [1, 2], debug: #"{"x":1}"#)])
  }

  @Test func readsTypeURLsOfDetailsAfterByteOrderMark() {
    let json = #"{"code":"not_found","details":[{"type":"type.googleapis.com/a.B","value":"AQI"}]}"#
    let found = error("\u{FEFF}\(json)", headers: [("content-type", "application/json\t; charset=utf-8")])
    #expect(found?.code == .notFound)
    #expect(found?.details == [StatusDetail(typeName: "a.B", value: [1, 2])])
  }

  @Test func mapsHTTPStatusIfCodeIsMissingOrUnknown() {
    #expect(error(#"{"message":"m"}"#, status: 401)?.code == .unauthenticated)
    #expect(error(#"{"message":"m"}"#, status: 401)?.message == "m")
    #expect(error(#"{"code":"teapot","message":"m"}"#, status: 503)?.code == .unavailable)
    #expect(error(#"{"code":"ok"}"#, status: 403)?.code == .permissionDenied)
    #expect(error("{}", status: 404)?.code == .unimplemented)
  }

  @Test(arguments: ["", "null", "[]", "{", #"{"code":5}"#, "<html>", #"{"code":"aborted","message":1}"#])
  func mapsHTTPStatusOfInvalidErrorBody(body: String) {
    #expect(error(body, status: 429)?.code == .unavailable)
  }

  @Test func mapsHTTPStatusOfErrorThatIsNotJSON() {
    let found = error("<html>", status: 502, headers: [("content-type", "text/html")])
    #expect(found?.code == .unavailable)
    #expect(found?.origin == .violation)
  }

  /// Only the words of the error are lost.
  @Test func statusOfErrorThatIsCutIsThatOfHTTP() {
    let lost = RPCError(.unavailable, "lost", origin: .connection)
    for (status, code) in [(409, StatusCode.unknown), (401, .unauthenticated), (503, .unavailable)] {
      let recorder = ResponseRecorder()
      let call = ConnectUnaryProtocol(.of(.unary))
      let response = HTTPResponse(status: status, headers: Self.json, body: Array(#"{"code":"#.utf8))
      response.feed(call, to: recorder, failure: lost) { recorder.receive(end: $0) }
      #expect(recorder.end?.error == RPCError(code, "lost", origin: .connection))
      #expect(!call.hasMessage)
    }
  }

  @Test(arguments: [([UInt8](), false), ([1], true), ([UInt8](repeating: 1, count: 1001), true)])
  func messageThatIsCutHasArrived(body: [UInt8], hasMessage: Bool) {
    let lost = RPCError(.unavailable, "lost", origin: .connection)
    let recorder = ResponseRecorder()
    let call = ConnectUnaryProtocol(.of(.unary))
    HTTPResponse(headers: Self.proto, body: body).feed(call, to: recorder, failure: lost) {
      recorder.receive(end: $0)
    }
    #expect(recorder.messages.isEmpty)
    #expect(recorder.end?.error != nil)
    #expect(call.hasMessage == hasMessage)
  }

  @Test(arguments: ["text/html", "application/json", "application/connect+proto", ""])
  func rejectsOtherContentTypes(contentType: String) {
    let recorder = feed(HTTPResponse(headers: [("content-type", contentType)], body: [1]))
    #expect(recorder.end?.error?.origin == .violation)
    #expect(recorder.messages.isEmpty)
  }

  @Test func rejectsEncodingThatWasNotOffered() {
    let recorder = feed(HTTPResponse(headers: Self.proto + [("content-encoding", "gzip")], body: [1]))
    #expect(recorder.end?.code == .internal)
    #expect(feed(HTTPResponse(headers: Self.proto + [("content-encoding", "identity")])).end?.error == nil)
  }

  @Test func rejectsMessageOverTheLimit() {
    let recorder = feed(
      HTTPResponse(headers: Self.proto, body: Array(repeating: 0, count: 1001)), pieceBytes: 100)
    #expect(recorder.end?.code == .resourceExhausted)
    #expect(recorder.messages.isEmpty)
  }

  @Test(arguments: Compression.allCases)
  func compressesRequestAndResponse(compression: Compression) throws {
    let call = ConnectUnaryProtocol(.of(.unary, compression: compression, accepted: [.br, compression]))
    let request = try call.makeRequest(.test, timeout: nil)
    #expect(request.headers.values("content-encoding") == [compression.rawValue])
    #expect(request.headers.values("accept-encoding") == ["br,\(compression.rawValue)"])
    var body: [UInt8] = []
    try call.encode([1, 2], into: &body)
    #expect(body == (try compression.compress([1, 2])))
    let headers = Self.proto + [("content-encoding", compression.rawValue)]
    #expect(HTTPResponse(headers: headers, body: body).feed(call).messages == [[1, 2]])
  }

  @Test(arguments: Compression.allCases)
  func readsCompressedError(compression: Compression) throws {
    let response = HTTPResponse(
      status: 404, headers: Self.json + [("content-encoding", compression.rawValue)],
      body: try compression.compress(Array(#"{"code":"aborted","message":"m"}"#.utf8)))
    let recorder = response.feed(ConnectUnaryProtocol(.of(.unary, accepted: [compression])))
    #expect(recorder.end?.error == RPCError(.aborted, "m", origin: .server))
    // A compression that was not offered cannot be read: only the HTTP status is left.
    #expect(feed(response).end?.code == .unimplemented)
    #expect(feed(response).end?.error?.origin == .violation)
    #expect(feed(response).end?.error?.message.contains("which was not offered") == true)
  }

  @Test func compressedResponseHasABody() {
    let response = HTTPResponse(headers: Self.proto + [("content-encoding", "gzip")], body: [])
    let recorder = response.feed(ConnectUnaryProtocol(.of(.unary, accepted: [.gzip])))
    #expect(recorder.end?.error?.message == "the response has the content-encoding gzip, and no body")
    #expect(recorder.messages.isEmpty)
  }

  @Test func rejectsInvalidCompressedResponse() {
    let response = HTTPResponse(headers: Self.proto + [("content-encoding", "gzip")], body: [1, 2])
    let recorder = response.feed(ConnectUnaryProtocol(.of(.unary, accepted: [.gzip])))
    #expect(recorder.end?.code == .internal)
    #expect(recorder.messages.isEmpty)
  }

  @Test func rejectsResponseOverTheLimitAfterDecompression() throws {
    let body = try Compression.gzip.compress([UInt8](repeating: 0, count: 1001))
    let response = HTTPResponse(headers: Self.proto + [("content-encoding", "gzip")], body: body)
    let recorder = response.feed(ConnectUnaryProtocol(.of(.unary, accepted: [.gzip])))
    #expect(recorder.end?.code == .resourceExhausted)
    #expect(recorder.messages.isEmpty)
  }
}
