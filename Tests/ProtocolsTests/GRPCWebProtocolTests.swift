import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct GRPCWebProtocolTests {
  private static let web = [("content-type", "application/grpc-web+proto")]

  private func unary(_ response: HTTPResponse, codec: CodecName = .proto) -> ResponseRecorder {
    response.feed(WireProtocols.make(.grpcWeb, .of(.unary, codec: codec)))
  }

  private func end(_ trailers: String) -> ResponseEnd? { end(Array(trailers.utf8)) }

  private func end(_ trailers: [UInt8]) -> ResponseEnd? {
    let body = envelope([1]) + envelope(trailers, flags: 0x80)
    return unary(HTTPResponse(headers: Self.web, body: body)).end
  }

  @Test func requestHasTheSpecifiedHeaders() throws {
    let call = WireProtocols.make(.grpcWeb, .of(.unary, codec: .json))
    let request = try call.makeRequest(.test, timeout: .seconds(2))
    #expect(request.method == "POST")
    #expect(
      request.headers
        == Headers([
          ("content-type", "application/grpc-web+json"), ("x-grpc-web", "1"), ("user-agent", "test/1"),
          ("grpc-accept-encoding", "identity"), ("grpc-timeout", "2000000u"),
        ]))
  }

  @Test(arguments: [
    "grpc-status: 0\r\nX-T: a\r\nx-t: b", "grpc-status:0\r\nx-t:a\r\nx-t:b\r\n",
    "grpc-status: 0\nx-t: a\nx-t:\tb\n", "\r\ngrpc-status:  0 \r\nx-t: a \r\nx-t: b\r\n\r\n",
  ])
  func readsTrailersWithAnyLineEnds(block: String) {
    #expect(end(block) == ResponseEnd(trailers: Headers([("x-t", "a"), ("x-t", "b")])))
  }

  @Test func keepsBytesOfATrailerThatAreNotUTF8() {
    let trailers = end(Array("grpc-status: 0\r\nx-t: caf".utf8) + [0xE9, 0x0D, 0x0A])?.trailers
    #expect(trailers == Headers([("x-t", "caf\u{E9}")]))
  }

  @Test func readsStatusMessageAndDetailsFromTrailers() {
    let found = end(
      "grpc-status: 3\r\ngrpc-message: caf%C3%A9\r\n"
        + "grpc-status-details-bin: CAMSAm1vGh0KF3R5cGUuZ29vZ2xlYXBpcy5jb20vYS5CEgIBAg\r\n")
    #expect(
      found?.error
        == RPCError(
          .invalidArgument, "café", details: [StatusDetail(typeName: "a.B", value: [1, 2])], origin: .server))
    #expect(found?.trailers.isEmpty == true)
  }

  @Test func trailerNameEndsAtAColonBeforeACombiningScalar() {
    #expect(end("grpc-status: 0\r\nx-t:\u{301}a\r\n")?.trailers == Headers([("x-t", "\u{301}a")]))
  }

  @Test(arguments: [(4096, StatusCode.ok), (4097, .unavailable)])
  func limitsNumberOfTrailers(count: Int, code: StatusCode) {
    #expect(end("grpc-status: 0\r\n" + String(repeating: "x-t: a\r\n", count: count))?.code == code)
  }

  @Test(arguments: ["", "x-t: 1\r\n"])
  func rejectsTrailersWithoutStatus(block: String) {
    #expect(end(block)?.code == .unknown)
    #expect(end(block)?.error?.origin == .violation)
  }

  @Test(arguments: [
    "grpc-status", "grpc-status: 0\r\n: 1\r\n", "a b: c\r\ngrpc-status: 0\r\n", "grpc-status: 0\rx",
    "grpc-status: 0\rx: 1\r\n",
  ])
  func rejectsInvalidTrailerFields(block: String) {
    #expect(end(block)?.code == .internal)
  }

  @Test func trailersOnlyResponseEndsTheCall() {
    let recorder = unary(HTTPResponse(headers: Self.web + [("grpc-status", "7"), ("grpc-message", "no")]))
    #expect(recorder.end?.error == RPCError(.permissionDenied, "no", origin: .server))
  }

  @Test func excludesFramingHeadersOfTrailersOnlyResponse() {
    let framing = [("content-length", "0"), ("Connection", "close"), ("keep-alive", "timeout=5")]
    let headers = Self.web + framing + [("grpc-status", "7"), ("x-late", "yes")]
    let end = unary(HTTPResponse(headers: headers)).end
    #expect(end?.trailers == Headers([("x-late", "yes")]))
  }

  @Test func statusOfTheLastEnvelopeReplacesThatInTheHeaders() {
    let headers = Self.web + [("grpc-status", "7"), ("grpc-message", "no")]
    let ok = unary(
      HTTPResponse(
        headers: headers, body: envelope([1]) + envelope(Array("grpc-status: 0".utf8), flags: 0x80)))
    #expect(ok.messages == [[1]])
    #expect(ok.end == ResponseEnd())
    let failed = unary(
      HTTPResponse(headers: headers, body: envelope(Array("grpc-status: 5".utf8), flags: 0x80)))
    #expect(failed.end?.code == .notFound)
    #expect(unary(HTTPResponse(headers: headers, body: envelope([1]))).end?.code == .internal)
  }

  @Test(arguments: CallKind.allCases, ["", "\r\n", "x-t: 1\r\n"])
  func lastEnvelopeWithoutStatusKeepsThatInTheHeaders(kind: CallKind, block: String) {
    let last = envelope(Array(block.utf8), flags: 0x80)
    let headers = Self.web + [("x-h", "2"), ("grpc-status", "7"), ("grpc-message", "no")]
    let failed = HTTPResponse(headers: headers, body: last)
      .feed(WireProtocols.make(.grpcWeb, .of(kind)), pieceBytes: 1)
    #expect(failed.end?.error == RPCError(.permissionDenied, "no", origin: .server))
    let trailers = block.hasPrefix("x") ? [("x-t", "1")] : []
    #expect(failed.end?.trailers == Headers([("x-h", "2")] + trailers))
    let ok = HTTPResponse(headers: Self.web + [("grpc-status", "0")], body: envelope([1]) + last)
      .feed(WireProtocols.make(.grpcWeb, .of(kind)))
    #expect(ok.messages == [[1]])
    #expect(ok.end == ResponseEnd(trailers: Headers(trailers)))
  }

  @Test func ignoresHTTPTrailers() {
    let response = HTTPResponse(headers: Self.web, body: envelope([1]), trailers: [("grpc-status", "0")])
    #expect(unary(response).end?.code == .unknown)
  }

  @Test func bareContentTypeMeansProtobuf() {
    let body = envelope([1]) + envelope(Array("grpc-status: 0".utf8), flags: 0x80)
    let response = HTTPResponse(headers: [("content-type", "application/grpc-web")], body: body)
    #expect(unary(response).end?.code == .ok)
    #expect(unary(response, codec: .json).end?.code == .unknown)
  }

  @Test func rejectsContentTypeOfGRPC() {
    #expect(unary(HTTPResponse(headers: [("content-type", "application/grpc+proto")])).end?.code == .unknown)
  }
}
