import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

/// How a server chooses the protocol of a request, and what it refuses.
@Suite struct ServerProtocolsTests {
  private static let unary = ServerMethod(kind: .unary)
  private static let readable = ServerMethod(kind: .unary, allowsGET: true)
  private static let stream = ServerMethod(kind: .bidiStreaming)

  private func header(_ name: String, _ recorder: ServerRecorder) -> String? {
    Headers(recorder.response.headers).first(name)
  }

  struct TypeRow: Sendable {
    let type: String
    let name: ProtocolName
    var codec = CodecName.proto
    var sent: String?
  }

  @Test(arguments: [
    TypeRow(type: "application/grpc", name: .grpc),
    TypeRow(type: "application/grpc+proto", name: .grpc),
    TypeRow(type: "application/grpc+json", name: .grpc, codec: .json),
    TypeRow(type: "Application/GRPC", name: .grpc, sent: "application/grpc"),
    TypeRow(type: "application/grpc-web", name: .grpcWeb),
    TypeRow(type: "application/grpc-web+json", name: .grpcWeb, codec: .json),
    TypeRow(type: "application/grpc-web-text", name: .grpcWeb),
    TypeRow(type: "application/grpc-web-text+proto", name: .grpcWeb),
    TypeRow(type: "application/proto", name: .connect),
    TypeRow(type: "application/json", name: .connect, codec: .json),
    TypeRow(type: "application/json; charset=UTF-8", name: .connect, codec: .json, sent: "application/json"),
    TypeRow(
      type: "application/json;v=1 ; charset=\"utf-8\"", name: .connect, codec: .json, sent: "application/json"
    ),
  ])
  func contentTypeDeterminesProtocolAndCodec(row: TypeRow) throws {
    var recorder = ServerRecorder(.test(row.type), Self.unary)
    let request = try #require(recorder.call?.request)
    #expect(request.protocolName == row.name)
    #expect(request.start.codec == row.codec)
    #expect(request.start.method == MethodName(service: "a.B", method: "C"))
    try recorder.respond(ResponseStart(), [[1]])
    #expect(header("content-type", recorder) == row.sent ?? row.type)
  }

  @Test(arguments: [
    "application/grpc+thrift", "application/grpc+", "application/grpcx", "application/foo", "image/jpeg",
    "text/plain",
    "application/connect", "application/connect+proto", "application/json; charset=utf-16", "",
    "application/x-www-form-urlencoded", "multipart/form-data",
  ])
  func refusesOtherContentTypes(type: String) {
    let recorder = ServerRecorder(.test(type), Self.unary)
    #expect(recorder.response.status == 415)
    #expect(
      header("accept-post", recorder)
        == """
        application/grpc, application/grpc+json, application/grpc+proto, application/grpc-web, \
        application/grpc-web+json, application/grpc-web+proto, application/grpc-web-text, \
        application/grpc-web-text+json, application/grpc-web-text+proto, application/json, application/proto
        """)
  }

  @Test(arguments: ["application/proto", "application/json"])
  func refusesUnaryTypesOfConnectForStreams(type: String) {
    let recorder = ServerRecorder(.test(type), Self.stream)
    #expect(recorder.response.status == 415)
    #expect(
      header("accept-post", recorder)?.hasPrefix("application/connect+json, application/connect+proto, ")
        == true)
  }

  @Test(arguments: ["application/proto", "application/connect+proto", "application/grpc"])
  func acceptsBothKindsForUnknownMethods(type: String) {
    #expect(ServerRecorder(.test(type)).call != nil)
  }

  @Test func refusesRequestsWithoutContentType() {
    #expect(ServerRecorder(ServerRequestHead(path: "/a.B/C"), Self.unary).response.status == 415)
  }

  @Test(arguments: [
    "", "/", "/a.B", "/a.B/", "//C", "/a.B/C/", "/p/a.B/C", "a.B/C", "/a.B.C", "/a.B/C.D", "/a..B/C",
    "/a.B/C%20",
    "/1/C", "http://h/a.B/C", "*", "/a.B/\u{E9}", "?/a.B/C",
  ])
  func pathsThatAreNotAMethodAreNotFound(path: String) {
    #expect(ServerRecorder(.test("application/grpc", path: path)).response.status == 404)
  }

  @Test(arguments: ["GET", "DELETE", "PUT", "OPTIONS", "HEAD", "post", ""])
  func refusesOtherMethodsOfHTTP(method: String) {
    for known in [Self.unary, nil] {
      let recorder = ServerRecorder(.test("application/proto", method: method), known)
      #expect(recorder.response.status == 405)
      #expect(header("allow", recorder) == "POST")
    }
    let recorder = ServerRecorder(.test("application/proto", method: "DELETE"), Self.readable)
    #expect(header("allow", recorder) == "GET, POST")
  }

  @Test func gRPCRequiresHTTP2() {
    #expect(ServerRecorder(.test("application/grpc", isHTTP2: false)).response.status == 505)
    for type in ["application/grpc-web", "application/proto", "application/connect+json"] {
      #expect(ServerRecorder(.test(type, isHTTP2: false)).call != nil)
    }
  }

  @Test func refusalsHaveNoTextOfTheRequest() {
    let recorder = ServerRecorder(.test("<script>", path: "/<script>"))
    #expect(!String(decoding: recorder.response.body, as: UTF8.self).contains("<"))
    #expect(header("content-type", recorder) == "text/plain; charset=utf-8")
    #expect(header("x-content-type-options", recorder) == "nosniff")
  }

  // MARK: Metadata

  @Test func metadataHasNoFieldsOfHTTPAndOfProtocols() throws {
    let own = [
      "te", "host", "accept", "accept-encoding", "content-length", "connection", "grpc-encoding",
      "grpc-accept-encoding",
      "x-grpc-web", "content-encoding", "grpc-status", "access-control-request-method",
      "connect-accept-encoding",
    ]
    let kept = [
      ("user-agent", "u"), ("x-a", "1"), ("x-a", "2"), ("x-bin", "AQI"), ("grpc-trace-bin", "AA"),
      ("authorization", "Bearer t"), ("cookie", "c"),
    ]
    // Timeouts and versions of other protocols would be those of the other side of a proxy.
    let foreign = [("connect-timeout-ms", "x"), ("connect-protocol-version", "7"), ("grpc-timeout", "1S")]
    let recorder = ServerRecorder(.test("application/grpc", own.map { ($0, "identity") } + kept + foreign))
    let request = try #require(recorder.call?.request)
    #expect(request.start.headers == Headers(kept))
    #expect(request.timeout == .seconds(1))
  }

  /// Browsers add these, not the page.
  @Test func metadataHasNoFieldsOfBrowsers() throws {
    let own = ["origin", "referer", "cookie", "sec-fetch-site", "sec-ch-ua", "dnt"]
    let kept = [("x-a", "1"), ("authorization", "Bearer t")]
    let recorder = ServerRecorder(.test("application/grpc-web", own.map { ($0, "v") } + kept))
    #expect(try #require(recorder.call?.request).start.headers == Headers(kept))
  }

  @Test func responseHasNoFieldsOfTheOtherSide() throws {
    let own = [
      "content-type", "content-length", "grpc-encoding", "transfer-encoding", "access-control-allow-origin",
      "alt-svc",
      "connect-content-encoding", "trailer",
    ]
    let start = ResponseStart(headers: Headers(own.map { ($0, "x") } + [("date", "d"), ("x-a", "1")]))
    for type in ["application/grpc", "application/proto", "application/connect+proto"] {
      var recorder = ServerRecorder(.test(type))
      let end = ResponseEnd(trailers: Headers([("grpc-status", "5"), ("content-length", "1"), ("x-t", "1")]))
      try recorder.respond(start, [[1]], end)
      let headers = Headers(recorder.response.headers)
      for name in own.dropFirst() { #expect(headers.first(name) == nil) }
      #expect(headers.values("content-type") == [type])
      #expect(headers.first("date") == "d")
      if type == "application/grpc" {
        #expect(Headers(recorder.response.trailers) == Headers([("grpc-status", "0"), ("x-t", "1")]))
      }
    }
  }

  @Test func fieldsThatWouldEndTheirLineAreNotSent() throws {
    let evil = Headers([("x-a", "1\r\ngrpc-status: 0"), ("x b", "1"), ("x-ok", "1")])
    var recorder = ServerRecorder(.test("application/grpc-web"))
    try recorder.respond(ResponseStart(headers: evil), [], ResponseEnd(error: .test, trailers: evil))
    #expect(
      recorder.response.body
        == envelope(Array("grpc-status: 10\r\ngrpc-message: so\r\nx-ok: 1\r\n".utf8), flags: 0x80))
    #expect(Headers(recorder.response.headers).first("x-ok") == "1")
    #expect(recorder.response.headers.allSatisfy { !["x-a", "x b"].contains($0.0) })
  }

  // MARK: Timeouts

  @Test(arguments: [
    ("application/grpc", "grpc-timeout", "100m", Duration.milliseconds(100)),
    ("application/grpc-web", "grpc-timeout", "99999999H", .seconds(99_999_999 * 3600)),
    ("application/grpc", "grpc-timeout", "0n", .zero),
    ("application/proto", "connect-timeout-ms", "9999999999", .milliseconds(9_999_999_999)),
    ("application/connect+json", "connect-timeout-ms", "0", .zero),
  ])
  func timeoutsAreRead(type: String, name: String, value: String, timeout: Duration) {
    #expect(ServerRecorder(.test(type, [(name, value)])).call?.request.timeout == timeout)
  }

  @Test func shortestTimeoutApplies() {
    let recorder = ServerRecorder(
      .test("application/grpc", [("grpc-timeout", "2S"), ("grpc-timeout", "1S")]))
    #expect(recorder.call?.request.timeout == .seconds(1))
  }

  @Test(arguments: ["", "1", "m", "-1m", "+1m", "1x", "123456789m", "1.5S", "1 m", "\u{661}m"])
  func invalidTimeoutsOfGRPCAreRefused(value: String) {
    let recorder = ServerRecorder(.test("application/grpc", [("grpc-timeout", value)]))
    #expect(recorder.response.status == 200)
    #expect(header("grpc-status", recorder) == "3")
  }

  @Test(arguments: ["", "-1", "1S", "12345678901", "1.5"])
  func invalidTimeoutsOfConnectAreRefused(value: String) {
    let recorder = ServerRecorder(.test("application/proto", [("connect-timeout-ms", value)]))
    #expect(recorder.response.status == 400)
    #expect(ConnectError.decode(recorder.response.body, fallback: .unknown)?.code == .invalidArgument)
  }

  // MARK: Compression

  @Test(arguments: [
    ("application/grpc", "grpc-encoding", "grpc-accept-encoding"),
    ("application/grpc-web+proto", "grpc-encoding", "grpc-accept-encoding"),
    ("application/connect+proto", "connect-content-encoding", "connect-accept-encoding"),
    ("application/proto", "content-encoding", "accept-encoding"),
  ])
  func unknownCompressionIsUnimplemented(type: String, used: String, accepted: String) throws {
    for encoding in ["foo", "deflate"] {
      let recorder = ServerRecorder(.test(type, [(used, encoding)]))
      #expect(header(accepted, recorder) == "gzip,br")
      let client = WireProtocols.make(
        type.contains("grpc-web") ? .grpcWeb : type.contains("grpc") ? .grpc : .connect,
        .of(type == "application/proto" ? .unary : .bidiStreaming))
      #expect(recorder.response.feed(client).end?.code == .unimplemented)
    }
  }

  @Test(
    arguments: [
      ("br", nil, "br"), ("GZIP", "gzip, br", "gzip"), ("identity", "deflate, br;q=0.5, gzip", "br"),
      (nil, nil, nil),
      ("gzip", "identity", nil), (nil, "br;q=0,zstd", nil), (nil, "*", nil),
      (nil, " gzip ;q=0.0 , br;q=0.01", "br"),
      ("", "", nil),
    ] as [(String?, String?, String?)])
  func responseHasACompressionThatTheClientAccepts(used: String?, accepted: String?, sent: String?) throws {
    for (type, prefix) in [("application/grpc", "grpc-"), ("application/connect+proto", "connect-")] {
      let content = prefix == "grpc-" ? "grpc-encoding" : "connect-content-encoding"
      let fields = [used.map { (content, $0) }, accepted.map { ("\(prefix)accept-encoding", $0) }]
      var recorder = ServerRecorder(.test(type, fields.compactMap(\.self)))
      try recorder.respond(ResponseStart(), [[1, 2]])
      #expect(header(content, recorder) == sent)
      #expect(recorder.response.body.first == (sent == nil ? 0 : 1))
    }
  }

  /// A proxy compresses what arrived compressed, in the same way if the client accepts it.
  @Test(
    arguments: [
      (nil, "gzip,br", nil), ("identity", "gzip,br", nil), ("br", "gzip,br", "br"),
      ("zstd", "gzip,br", "gzip"),
      ("br", "deflate", nil),
    ] as [(String?, String, String?)])
  func responseOfAProxyIsCompressedAsThatOfItsTarget(target: String?, accepted: String, sent: String?) throws
  {
    let options = ServerOptions(accepted: [.gzip, .br], sent: [.gzip, .br], followsTarget: true)
    for (type, prefix) in [("application/grpc", "grpc-"), ("application/proto", "")] {
      let content = prefix.isEmpty ? "content-encoding" : "grpc-encoding"
      var recorder = ServerRecorder(.test(type, [("\(prefix)accept-encoding", accepted)]), nil, options)
      for field in ["grpc-encoding", "connect-content-encoding", "content-encoding"] {
        var other = ServerRecorder(.test(type, [("\(prefix)accept-encoding", accepted)]), nil, options)
        try other.respond(ResponseStart(headers: Headers(target.map { [(field, $0)] } ?? [])), [[1, 2]])
        #expect(header(content, other) == sent)
      }
      try recorder.respond(ResponseStart(), [[1, 2]])
      #expect(header(content, recorder) == nil)
    }
  }

  // MARK: Connect GET

  @Test(
    arguments: [
      ("connect=v1&encoding=proto&base64=1&message=AQI", [1, 2]),
      ("encoding=proto&message=a%2Bb+c", Array("a+b c".utf8)),
      ("message=%7B%7D&encoding=json&connect=v1", Array("{}".utf8)),
      ("connect=v1&encoding=proto&message=", []),
      ("connect=v1&encoding=proto&message=x&message=y&base64=0", Array("x".utf8)),
      ("connect=v1&encoding=proto&base64=1&message=-_-_", [0xFB, 0xFF, 0xBF]),
    ] as [(String, [UInt8])])
  func messageOfGETIsInTheQuery(query: String, message: [UInt8]) throws {
    var recorder = ServerRecorder(.test("", method: "GET", path: "/a.B/C?\(query)"), Self.readable)
    #expect(recorder.call?.request.isGET == true)
    #expect(recorder.messages == [message])
    try recorder.respond(ResponseStart(), [[1]])
    #expect(header("vary", recorder) == "accept-encoding")
    #expect(
      header("content-type", recorder) == (query.contains("json") ? "application/json" : "application/proto"))
  }

  @Test(arguments: [
    ("encoding=proto", 400), ("connect=v2&encoding=proto&message=", 400), ("connect=v1&message=", 415),
    ("connect=v1&encoding=thrift&message=", 415), ("", 415), ("&&=&=x&%", 415),
    ("connect=v1&encoding=proto&base64=1&message=%25", 400),
    ("connect=v1&encoding=proto&message=&compression=foo", 501),
  ])
  func refusesInvalidQueries(query: String, status: Int) {
    let head = ServerRequestHead.test("application/proto", method: "GET", path: "/a.B/C?\(query)")
    #expect(ServerRecorder(head, Self.readable).response.status == status)
  }

  @Test func versionOfConnectIsChecked() {
    let required = ServerOptions(maxMessageBytes: 10, requiresConnectVersion: true)
    let version = [("connect-protocol-version", "1")]
    #expect(ServerRecorder(.test("application/proto"), nil).call != nil)
    #expect(ServerRecorder(.test("application/proto"), nil, required).response.status == 400)
    #expect(ServerRecorder(.test("application/proto", version), nil, required).call != nil)
    #expect(
      ServerRecorder(.test("application/proto", [("connect-protocol-version", "2")])).response.status == 400)
    let stream = ServerRecorder(.test("application/connect+proto", [("connect-protocol-version", "2")]))
    #expect(ConnectError.decodeEnd(Array(stream.response.body.dropFirst(5)))?.code == .invalidArgument)
    let get = ServerRequestHead.test("", method: "GET", path: "/a.B/C?encoding=proto&message=")
    #expect(ServerRecorder(get, Self.readable, required).response.status == 400)
  }
}

extension RPCError {
  static let test = RPCError(.aborted, "so", origin: .server)
}
