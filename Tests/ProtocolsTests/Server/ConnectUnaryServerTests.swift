import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct ConnectUnaryServerTests {
  private static let unary = ServerMethod(kind: .unary)

  private func headers(_ recorder: ServerRecorder) -> Headers { Headers(recorder.response.headers) }

  @Test(arguments: [1, .max]) func bodyIsTheMessage(pieceBytes: Int) throws {
    var recorder = ServerRecorder(
      .test("application/proto"), Self.unary, body: [1, 2, 3], pieceBytes: pieceBytes)
    #expect(recorder.messages == [[1, 2, 3]])
    let start = ResponseStart(headers: Headers([("x-a", "1")]))
    try recorder.respond(start, [[4]], ResponseEnd(trailers: Headers([("x-t", "1"), ("x-t", "2")])))
    #expect(recorder.response.status == 200)
    #expect(recorder.response.body == [4])
    #expect(
      headers(recorder)
        == Headers([
          ("content-type", "application/proto"), ("accept-encoding", "gzip,br"), ("x-a", "1"),
          ("trailer-x-t", "1"),
          ("trailer-x-t", "2"),
        ]))
  }

  @Test func emptyBodyIsAnEmptyMessage() {
    #expect(ServerRecorder(.test("application/proto"), Self.unary).messages == [[]])
    let head = ServerRequestHead.test("application/proto", [("content-encoding", "gzip")])
    #expect(ServerRecorder(head, Self.unary).messages == [[]])
  }

  @Test func bodyIsDecompressedWithinTheLimit() throws {
    let head = ServerRequestHead.test("application/proto", [("content-encoding", "gzip")])
    func recorder(_ count: Int) throws -> ServerRecorder {
      ServerRecorder(
        head, Self.unary, body: try Compression.gzip.compress([UInt8](repeating: 0, count: count)))
    }
    #expect(try recorder(1000).messages.first?.count == 1000)
    #expect(try recorder(1001).error?.code == .resourceExhausted)
    #expect(ServerRecorder(head, Self.unary, body: [1, 2]).error?.code == .internal)
  }

  @Test(arguments: [1, 600, .max]) func bodyIsLimited(pieceBytes: Int) throws {
    let fits = ServerRecorder(
      .test("application/proto"), body: [UInt8](repeating: 0, count: 1000), pieceBytes: pieceBytes)
    #expect(fits.messages.first?.count == 1000)
    var recorder = ServerRecorder(
      .test("application/proto"), body: [UInt8](repeating: 0, count: 1001), pieceBytes: pieceBytes)
    try recorder.fail()
    #expect(recorder.response.status == 429)
    #expect(ConnectError.decode(recorder.response.body, fallback: .unknown)?.code == .resourceExhausted)
  }

  @Test func messageOfGETIsLimited() throws {
    let method = ServerMethod(kind: .unary, allowsGET: true)
    func recorder(_ message: String) -> ServerRecorder {
      ServerRecorder(
        .test("", method: "GET", path: "/a.B/C?connect=v1&encoding=proto&\(message)"), method, body: [9])
    }
    #expect(recorder("message=" + String(repeating: "a", count: 1000)).messages.first?.count == 1000)
    #expect(recorder("message=" + String(repeating: "a", count: 1001)).error?.code == .resourceExhausted)
    let bomb = Base64.encode(try Compression.gzip.compress([UInt8](repeating: 0, count: 1001)))
    let query = "base64=1&compression=gzip&message=" + PercentEncoding.encode(Array(bomb.utf8))
    #expect(recorder(query).error?.code == .resourceExhausted)
  }

  @Test(arguments: [
    (StatusCode.canceled, 499), (.unknown, 500), (.invalidArgument, 400), (.deadlineExceeded, 504),
    (.notFound, 404),
    (.alreadyExists, 409), (.permissionDenied, 403), (.resourceExhausted, 429), (.failedPrecondition, 400),
    (.aborted, 409), (.outOfRange, 400), (.unimplemented, 501), (.internal, 500), (.unavailable, 503),
    (.dataLoss, 500),
    (.unauthenticated, 401),
  ])
  func statusDeterminesTheStatusOfHTTP(code: StatusCode, status: Int) throws {
    var recorder = ServerRecorder(.test("application/proto", [("accept-encoding", "gzip")]), Self.unary)
    let detail = StatusDetail(typeName: "a.B", value: [1], debug: "{]")
    let error = RPCError(
      code, "m", details: [detail, StatusDetail(typeName: "", value: [])], origin: .server)
    try recorder.respond(ResponseStart(), [[1]], ResponseEnd(error: error, trailers: Headers([("x-t", "1")])))
    #expect(recorder.response.status == status)
    #expect(headers(recorder).first("content-type") == "application/json")
    #expect(headers(recorder).first("content-encoding") == nil)
    #expect(headers(recorder).first("trailer-x-t") == "1")
    let json = #"{"code":"\#(code.name)","message":"m","details":[{"type":"a.B","value":"AQ"}]}"#
    #expect(String(decoding: recorder.response.body, as: UTF8.self) == json)
  }

  @Test func unimplementedMethodThatTheSchemaLacksIsNotFound() throws {
    var recorder = ServerRecorder(.test("application/proto"))
    try recorder.respond(nil, [], ResponseEnd(error: RPCError(.unimplemented, "", origin: .server)))
    #expect(recorder.response.status == 404)
    #expect(String(decoding: recorder.response.body, as: UTF8.self) == #"{"code":"unimplemented"}"#)
  }

  @Test(arguments: [(501, 501), (200, 501), (404, 404)])
  func statusOfAProxiedServerShowsWhetherAMethodThatTheSchemaLacksExists(own: Int, status: Int) throws {
    var recorder = ServerRecorder(.test("application/proto"))
    try recorder.respond(
      ResponseStart(httpStatus: own), [], ResponseEnd(error: RPCError(.unimplemented, "", origin: .server)))
    #expect(recorder.response.status == status)
  }

  @Test func successWithoutAMessageIsAnError() throws {
    var recorder = ServerRecorder(.test("application/proto"), Self.unary)
    try recorder.respond()
    #expect(recorder.response.status == 501)
  }

  @Test func secondMessageIsAnError() throws {
    var recorder = ServerRecorder(.test("application/proto"), Self.unary)
    #expect(throws: RPCError.self) { try recorder.respond(ResponseStart(), [[1], [2]]) }
  }

  @Test func responseIsCompressed() throws {
    var recorder = ServerRecorder(
      .test("application/proto", [("accept-encoding", "deflate, br")]), Self.unary)
    try recorder.respond(ResponseStart(), [[1, 2]])
    #expect(headers(recorder).first("content-encoding") == "br")
    #expect(try Compression.br.decompress(recorder.response.body) == [1, 2])
  }
}
