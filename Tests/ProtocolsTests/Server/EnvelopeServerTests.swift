import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct EnvelopeServerTests {
  private static let types = ["application/grpc", "application/grpc-web+proto", "application/connect+json"]
  private static let text = "application/grpc-web-text"

  private func encoding(_ type: String) -> String {
    type.contains("connect") ? "connect-content-encoding" : "grpc-encoding"
  }

  /// The status that the client receives.
  private func end(_ recorder: ServerRecorder, _ type: String) throws -> ResponseEnd {
    var recorder = recorder
    try recorder.fail()
    let name: ProtocolName = type.contains("connect") ? .connect : type.contains("web") ? .grpcWeb : .grpc
    let codec: CodecName = type.hasSuffix("json") ? .json : .proto
    return try #require(
      recorder.response.feed(WireProtocols.make(name, .of(.bidiStreaming, codec: codec))).end)
  }

  @Test(arguments: types, [1, 3, .max])
  func messagesAreCutFromPieces(type: String, pieceBytes: Int) throws {
    let body = envelope([1, 2, 3]) + envelope([]) + envelope(try Compression.gzip.compress([4]), flags: 1)
    let head = ServerRequestHead.test(type, [(encoding(type), "gzip")])
    let recorder = ServerRecorder(head, body: body, pieceBytes: pieceBytes)
    #expect(recorder.error == nil)
    #expect(recorder.messages == [[1, 2, 3], [], [4]])
  }

  @Test(arguments: [1, 2, 5, .max])
  func textIsDecodedWithPaddingAfterAnyPart(pieceBytes: Int) throws {
    let parts = [
      envelope([1, 2]), envelope([3]), Array(envelope([4, 5, 6]).prefix(4)),
      Array(envelope([4, 5, 6]).dropFirst(4)),
    ]
    let body = Array(parts.map { Base64.encode($0) }.joined().utf8)
    let recorder = ServerRecorder(.test(Self.text), body: body, pieceBytes: pieceBytes)
    #expect(recorder.error == nil)
    #expect(recorder.messages == [[1, 2], [3], [4, 5, 6]])
  }

  @Test func responseInTextHasPaddingAfterEachEnvelope() throws {
    var recorder = ServerRecorder(.test(Self.text))
    try recorder.respond(ResponseStart(), [[1], [2, 3]])
    let end = Array("grpc-status: 0\r\n".utf8)
    let parts = [envelope([1]), envelope([2, 3]), envelope(end, flags: 0x80)]
    #expect(recorder.response.body == Array(parts.map { Base64.encode($0) }.joined().utf8))
  }

  struct BodyRow: Sendable {
    let body: [UInt8]
    let code: StatusCode
    var type: String?
  }

  @Test(arguments: [
    BodyRow(body: [0, 0, 0], code: .invalidArgument),
    BodyRow(body: Array(envelope([1, 2]).dropLast()), code: .invalidArgument),
    BodyRow(body: [0, 0, 0, 0x03, 0xE9], code: .resourceExhausted),
    BodyRow(body: [1, 0xFF, 0xFF, 0xFF, 0xFF], code: .resourceExhausted),
    BodyRow(body: envelope([1], flags: 1), code: .internal),
    BodyRow(body: envelope([], flags: 1), code: .internal),
    BodyRow(body: envelope([1], flags: 2), code: .internal),
    BodyRow(body: envelope([1], flags: 0x80), code: .internal),
    BodyRow(body: Array("A$".utf8), code: .invalidArgument, type: text),
  ])
  func reportsInvalidBodies(row: BodyRow) throws {
    for type in row.type.map({ [$0] }) ?? Self.types {
      for pieceBytes in [1, 2, .max] {
        let recorder = ServerRecorder(.test(type), body: row.body, pieceBytes: pieceBytes)
        #expect(recorder.error?.code == row.code)
        #expect(recorder.error?.message.contains("server") == false)
        #expect(try end(recorder, type).code == row.code)
      }
    }
  }

  @Test(arguments: types, [0x03, 0x81] as [UInt8])
  func flagsOfTheEndAreUnknownInRequests(type: String, flags: UInt8) throws {
    let head = ServerRequestHead.test(type, [(encoding(type), "gzip")])
    let recorder = ServerRecorder(head, body: envelope(try Compression.gzip.compress([1]), flags: flags))
    #expect(recorder.error?.code == .internal)
    #expect(recorder.messages.isEmpty)
  }

  @Test func compressedMessagesAreLimitedWhileTheyAreDecompressed() throws {
    let fits = envelope(try Compression.gzip.compress([UInt8](repeating: 0, count: 1000)), flags: 1)
    let bomb = envelope(try Compression.gzip.compress([UInt8](repeating: 0, count: 1001)), flags: 1)
    let broken = envelope([1, 2, 3], flags: 1)
    for type in Self.types {
      let head = ServerRequestHead.test(type, [(encoding(type), "gzip")])
      #expect(ServerRecorder(head, body: fits).messages.count == 1)
      #expect(ServerRecorder(head, body: bomb).error?.code == .resourceExhausted)
      #expect(ServerRecorder(head, body: broken).error?.code == .internal)
    }
  }

  @Test(arguments: [CallKind.unary, .serverStreaming])
  func requestOfOneMessageIsDeliveredAtItsEnd(kind: CallKind) throws {
    for type in Self.types where kind != .unary || !type.contains("connect") {
      let method = ServerMethod(kind: kind)
      #expect(ServerRecorder(.test(type), method, body: envelope([1])).messages == [[1]])
      for body in [[], envelope([1]) + envelope([2])] {
        let recorder = ServerRecorder(.test(type), method, body: body)
        #expect(recorder.messages.isEmpty)
        #expect(try end(recorder, type).code == .unimplemented)
      }
    }
  }

  @Test func nothingIsReceivedAfterAnError() throws {
    let recorder = ServerRecorder(.test("application/grpc"), body: envelope([1], flags: 7) + envelope([2]))
    let call = try #require(recorder.call)
    var offset = 0
    try call.receive(body: envelope([3]).span.bytes, from: &offset) { _ in Issue.record("a message") }
    try call.receiveEnd { _ in Issue.record("a message") }
    #expect(offset == 6)
  }

  // MARK: Responses

  @Test func responseOfGRPCHasTrailers() throws {
    var recorder = ServerRecorder(.test("application/grpc", [("grpc-accept-encoding", "identity")]))
    let start = ResponseStart(headers: Headers([("x-a", "1"), ("x-a", "2")]))
    try recorder.respond(start, [[1]], ResponseEnd(trailers: Headers([("x-t-bin", "AQ")])))
    #expect(recorder.response.status == 200)
    #expect(
      Headers(recorder.response.headers)
        == Headers([
          ("content-type", "application/grpc"), ("grpc-accept-encoding", "gzip,br"), ("x-a", "1"),
          ("x-a", "2"),
        ]))
    #expect(recorder.response.body == envelope([1]))
    #expect(Headers(recorder.response.trailers) == Headers([("grpc-status", "0"), ("x-t-bin", "AQ")]))
  }

  @Test func statusWithoutStartIsInTheHead() throws {
    var recorder = ServerRecorder(.test("application/grpc"))
    let error = RPCError(
      .notFound, "n\u{F6} 1%\n", details: [StatusDetail(typeName: "a.B", value: [7])], origin: .server)
    try recorder.respond(nil, [], ResponseEnd(error: error, trailers: Headers([("x-t", "1")])))
    #expect(recorder.response.trailers.isEmpty)
    let headers = Headers(recorder.response.headers)
    #expect(headers.first("grpc-status") == "5")
    #expect(headers.first("grpc-message") == "n%C3%B6 1%25%0A")
    #expect(headers.first("x-t") == "1")
    let details = headers.binaryValues("grpc-status-details-bin")
    #expect(
      details == [
        [8, 5, 0x12, 7] + Array("n\u{F6} 1%\n".utf8) + [0x1A, 28, 0x0A, 23]
          + Array("type.googleapis.com/a.B".utf8) + [0x12, 1, 7]
      ])
  }

  @Test func statusInTheHeadOfTheOtherSideIsNotRepeated() throws {
    let headers = Headers([("content-type", "application/grpc"), ("grpc-status", "5"), ("x-a", "1")])
    let end = GRPCStatus.end(head: ResponseStart(headers: headers))
    for type in Self.types {
      var recorder = ServerRecorder(.test(type))
      try recorder.respond(ResponseStart(headers: headers), [], #require(end))
      let fields = Headers(recorder.response.headers)
      #expect(fields.values("x-a").count == (type == "application/grpc" ? 1 : 0))
      #expect(fields.values("grpc-status").count == (type == "application/grpc" ? 1 : 0))
      #expect(recorder.response.trailers.isEmpty)
    }
  }

  @Test func messageAfterAStatusInTheHeadHasAHead() throws {
    var recorder = ServerRecorder(.test("application/grpc"))
    let start = ResponseStart(headers: Headers([("grpc-status", "0")]))
    try recorder.respond(start, [[1]], ResponseEnd(error: .test))
    #expect(Headers(recorder.response.headers).first("grpc-status") == nil)
    #expect(Headers(recorder.response.trailers).first("grpc-status") == "10")
  }

  @Test func leadingMetadataOfAnHTTPErrorIsNotTrailing() throws {
    var recorder = ServerRecorder(.test("application/grpc"))
    let start = ResponseStart(httpStatus: 409, headers: Headers([("x-a", "1")]))
    try recorder.respond(start, [], ResponseEnd(error: .test, trailers: Headers([("x-t", "1")])))
    #expect(recorder.response.status == 200)
    #expect(Headers(recorder.response.headers).first("x-a") == "1")
    #expect(Headers(recorder.response.trailers).first("x-t") == "1")
  }

  @Test func detailsThatAreNoStatusAreSentAsTheyAre() throws {
    let error = RPCError(
      .aborted, "", details: [StatusDetail(typeName: "", value: [0xFF, 1])], origin: .server)
    let fields = GRPCStatus.fields(ResponseEnd(error: error))
    #expect(fields.binaryValues("grpc-status-details-bin") == [[0xFF, 1]])
    #expect(fields.first("grpc-message") == nil)
  }

  @Test func endOfAStreamOfConnectIsAnEnvelope() throws {
    var recorder = ServerRecorder(.test("application/connect+json"))
    let trailers = Headers([("x-a", "1"), ("x-b", "\""), ("x-a", "2"), ("grpc-status", "3")])
    try recorder.respond(nil, [], ResponseEnd(error: .test, trailers: trailers))
    let json = #"{"error":{"code":"aborted","message":"so"},"metadata":{"x-a":["1","2"],"x-b":["\""]}}"#
    #expect(recorder.response.body == envelope(Array(json.utf8), flags: 2))
    #expect(recorder.response.status == 200)
    var empty = ServerRecorder(.test("application/connect+json"))
    try empty.respond()
    #expect(empty.response.body == envelope(Array("{}".utf8), flags: 2))
  }
}
