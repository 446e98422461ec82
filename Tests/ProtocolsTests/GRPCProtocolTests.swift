import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct GRPCProtocolTests {
  private static let grpc = [("content-type", "application/grpc")]
  private static let ok = [("grpc-status", "0")]

  private func unary(_ response: HTTPResponse, pieceBytes: Int = .max) -> ResponseRecorder {
    response.feed(EnvelopeCall<GRPCProtocol>(.of(.unary)), pieceBytes: pieceBytes)
  }

  @Test func requestHasTheSpecifiedHeaders() throws {
    var start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h/p")
    start.headers.add("x-own", "1")
    let request = try EnvelopeCall<GRPCProtocol>(.of(.unary)).makeRequest(start, timeout: .milliseconds(1500))
    #expect(request.method == "POST")
    #expect(request.url == "http://h/p/a.B/C")
    #expect(
      request.headers
        == Headers([
          ("content-type", "application/grpc"), ("te", "trailers"), ("user-agent", "test/1"),
          ("grpc-accept-encoding", "identity"), ("grpc-timeout", "1500000u"), ("x-own", "1"),
        ]))
  }

  @Test func callerHeaderReplacesProtocolHeader() throws {
    var start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h")
    start.headers.add("User-Agent", "mine")
    let request = try EnvelopeCall<GRPCProtocol>(.of(.unary)).makeRequest(start, timeout: nil)
    #expect(request.headers.values("user-agent") == ["mine"])
  }

  @Test func callerMayChooseTheTypeWithTheCodec() throws {
    var start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h")
    start.headers.add("content-type", "application/grpc+proto")
    let request = try EnvelopeCall<GRPCProtocol>(.of(.unary)).makeRequest(start, timeout: nil)
    #expect(request.headers.values("content-type") == ["application/grpc+proto"])
  }

  @Test func messagesInJSONHaveATypeWithTheCodec() throws {
    let start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h")
    let request = try EnvelopeCall<GRPCProtocol>(.of(.unary, codec: .json)).makeRequest(start, timeout: nil)
    #expect(request.headers.values("content-type") == ["application/grpc+json"])
  }

  @Test(arguments: ["application/grpc", "application/json"], [false, true])
  func callerCannotChangeTheContentType(value: String, isRepeated: Bool) throws {
    var start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h")
    let plain = try EnvelopeCall<GRPCProtocol>(.of(.unary)).makeRequest(start, timeout: nil)
    for _ in 0...(isRepeated ? 1 : 0) { start.headers.add("Content-Type", value) }
    let request = try? EnvelopeCall<GRPCProtocol>(.of(.unary)).makeRequest(start, timeout: nil)
    #expect(request == (value == "application/json" ? nil : plain))
  }

  @Test(arguments: ["a\r\nx-evil: 1", "a\nb", "\u{0}", "\u{7F}"])
  func rejectsHeaderWithControlCharacters(value: String) {
    var start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h")
    start.headers.add("x-a", value)
    #expect(throws: RPCError.self) {
      try EnvelopeCall<GRPCProtocol>(.of(.unary)).makeRequest(start, timeout: nil)
    }
    #expect(throws: RPCError.self) { try ConnectUnaryProtocol(.of(.unary)).makeRequest(start, timeout: nil) }
  }

  @Test func unaryResponseHasStartMessageEnd() {
    let recorder = unary(
      HTTPResponse(headers: Self.grpc, body: envelope([1, 2, 3]), trailers: Self.ok + [("x-t", "1")]))
    #expect(
      recorder.events == [
        .responseStart(ResponseStart(httpStatus: 200, httpVersion: "2", headers: Headers(Self.grpc))),
        .responseMessage([1, 2, 3]),
        .responseEnd(ResponseEnd(trailers: Headers([("x-t", "1")]))),
      ])
  }

  @Test func splitsOfTheBodyDoNotChangeEvents() {
    let body = envelope([]) + envelope(Array(0..<200)) + envelope([7])
    let response = HTTPResponse(headers: Self.grpc, body: body, trailers: Self.ok)
    let whole = response.feed(EnvelopeCall<GRPCProtocol>(.of(.serverStreaming))).events
    #expect(whole.count == 5)
    for size in 1...body.count {
      #expect(
        response.feed(EnvelopeCall<GRPCProtocol>(.of(.serverStreaming)), pieceBytes: size).events == whole)
    }
  }

  @Test func dropsMessageOfFailedUnaryCall() {
    let recorder = unary(
      HTTPResponse(headers: Self.grpc, body: envelope([1]), trailers: [("grpc-status", "5")]))
    #expect(recorder.messages.isEmpty)
    #expect(recorder.end?.code == .notFound)
  }

  @Test func trailersOnlyResponseEndsTheCall() {
    let recorder = unary(
      HTTPResponse(headers: Self.grpc + [("grpc-status", "7"), ("grpc-message", "no"), ("x-a", "b")]))
    #expect(recorder.end?.error == RPCError(.permissionDenied, "no", origin: .server))
    #expect(recorder.end?.trailers.first("x-a") == "b")
    #expect(recorder.end?.trailers.first("grpc-status") == nil)
  }

  @Test(arguments: [["0", "5"], ["5", "0"], ["5", "7"]])
  func errorTakesPrecedenceOverStatusOk(statuses: [String]) {
    let trailers = statuses.map { ("grpc-status", $0) }
    let recorder = unary(HTTPResponse(headers: Self.grpc, body: envelope([1]), trailers: trailers))
    #expect(recorder.end?.code == .notFound)
  }

  private static let refused = grpc + [("grpc-status", "7"), ("grpc-message", "no")]

  @Test func statusInTheTrailersReplacesThatInTheHeaders() {
    for body in [[], envelope([1])] {
      let recorder = unary(
        HTTPResponse(headers: Self.refused, body: body, trailers: [("grpc-status", "5"), ("x-t", "1")]))
      #expect(recorder.end?.code == .notFound)
      #expect(recorder.end?.trailers == Headers([("x-t", "1")]))
    }
    let recorder = unary(HTTPResponse(headers: Self.refused, body: envelope([1]), trailers: Self.ok))
    #expect(recorder.messages == [[1]])
    #expect(recorder.end == ResponseEnd())
  }

  @Test func trailersWithoutStatusKeepThatInTheHeaders() {
    let recorder = unary(HTTPResponse(headers: Self.refused, trailers: [("x-t", "1")]))
    #expect(recorder.end?.code == .permissionDenied)
  }

  @Test(arguments: ["0", "7"])
  func rejectsBodyAfterStatusInHeaders(status: String) {
    let headers = Self.grpc + [("grpc-status", status)]
    for body in [envelope([1]), [0, 0]] {
      for size in [1, Int.max] {
        let end = unary(HTTPResponse(headers: headers, body: body), pieceBytes: size).end
        #expect(end?.code == .internal)
        #expect(end?.error?.origin == .violation)
      }
    }
  }

  @Test func failureAfterTheStatusKeepsTheStatus() {
    let recorder = ResponseRecorder()
    let call = EnvelopeCall<GRPCProtocol>(.of(.unary))
    recorder.receive(
      end: call.receive(head: ResponseStart(httpVersion: "2", headers: Headers(Self.refused)), recorder))
    #expect(call.awaited == .end)
    let reset = RPCError(.unavailable, "reset", origin: .connection)
    recorder.receive(end: call.receiveEnd(failure: reset, recorder))
    #expect(recorder.end?.code == .permissionDenied)
    #expect(call.awaited == nil)
  }

  /// Messages and trailers with another status could have followed.
  @Test(arguments: [CallKind.unary, .serverStreaming])
  func failureAfterOKInTheHeadersEndsTheCall(kind: CallKind) {
    for failure in [nil, RPCError(.unavailable, "reset", origin: .connection)] {
      let recorder = ResponseRecorder()
      let call = EnvelopeCall<GRPCProtocol>(.of(kind))
      let head = Headers(Self.grpc + [("grpc-status", "0")])
      recorder.receive(end: call.receive(head: ResponseStart(httpVersion: "2", headers: head), recorder))
      #expect(call.awaited == .messages)
      recorder.receive(end: call.receiveEnd(failure: failure, recorder))
      #expect(call.awaited == nil)
      #expect(recorder.end?.code == (failure != nil ? .unavailable : kind == .unary ? .unimplemented : .ok))
    }
  }

  /// A call whose response has a message, and the first trailers.
  private func begun(_ trailers: [(String, String)], to recorder: ResponseRecorder) -> some WireProtocol {
    let call = EnvelopeCall<GRPCProtocol>(.of(.serverStreaming))
    let body = envelope([1])
    var offset = 0
    recorder.receive(
      end: call.receive(head: ResponseStart(httpVersion: "3", headers: Headers(Self.grpc)), recorder))
    recorder.receive(end: call.receive(body: body.span.bytes, from: &offset, recorder))
    for trailer in trailers {
      recorder.receive(end: call.receive(trailers: Headers([trailer]), areComplete: false, recorder))
    }
    return call
  }

  private static let cut = RPCError(.unavailable, "reset", origin: .connection)

  @Test(arguments: [nil, cut]) func trailersInPartsEndWithTheResponse(failure: RPCError?) {
    let recorder = ResponseRecorder()
    let call = begun(
      [("x-a", "b"), ("grpc-status", "5"), ("grpc-message", "not here"), ("x-c", "d")], to: recorder)
    #expect(recorder.end == nil)
    #expect(call.awaited == .trailers)
    recorder.receive(end: call.receiveEnd(failure: failure, recorder))
    #expect(recorder.messages == [[1]])
    #expect(recorder.end?.error?.message == "not here")
    #expect(recorder.end?.code == .notFound)
    #expect(recorder.end?.trailers == Headers([("x-a", "b"), ("x-c", "d")]))
    #expect(call.awaited == nil)
    #expect(call.receiveEnd(failure: nil, recorder) == nil)
  }

  @Test(arguments: [nil, cut]) func partsOfTrailersWithoutStatusAreNoEnd(failure: RPCError?) {
    let recorder = ResponseRecorder()
    let call = begun([("x-a", "b")], to: recorder)
    #expect(call.awaited == nil)
    recorder.receive(end: call.receiveEnd(failure: failure, recorder))
    if let failure { #expect(recorder.end?.error == failure) }
    #expect(recorder.end?.code == (failure == nil ? .unknown : .unavailable))
  }

  @Test func statusInPartsOfTrailersReplacesOKInTheHeaders() {
    let recorder = ResponseRecorder()
    let call = EnvelopeCall<GRPCProtocol>(.of(.serverStreaming))
    let head = Headers(Self.grpc + [("grpc-status", "0")])
    recorder.receive(end: call.receive(head: ResponseStart(httpVersion: "3", headers: head), recorder))
    let trailers = Headers([("grpc-status", "5")])
    recorder.receive(end: call.receive(trailers: trailers, areComplete: false, recorder))
    #expect(call.awaited == .trailers)
    recorder.receive(end: call.receiveEnd(failure: nil, recorder))
    #expect(recorder.end?.code == .notFound)
  }

  @Test func failureBeforeTheStatusEndsTheCall() {
    let recorder = ResponseRecorder()
    let call = EnvelopeCall<GRPCProtocol>(.of(.unary))
    recorder.receive(
      end: call.receive(head: ResponseStart(httpVersion: "2", headers: Headers(Self.grpc)), recorder))
    #expect(call.awaited == nil)
    let reset = RPCError(.unavailable, "reset", origin: .connection)
    for _ in 0..<2 { recorder.receive(end: call.receiveEnd(failure: reset, recorder)) }
    #expect(recorder.end?.code == .unavailable)
  }

  @Test func statusInHeadersTakesPrecedenceOverHTTPStatus() {
    let recorder = unary(HTTPResponse(status: 503, headers: Self.grpc + [("grpc-status", "5")]))
    #expect(recorder.end?.code == .notFound)
  }

  @Test(arguments: [
    ("caf%C3%A9 %25", "café %"), ("100%", "100%"), ("%zz%4", "%zz%4"), ("%e2%9c%93", "✓"),
    ("%FF", "\u{FFFD}"),
    ("", ""), ("%", "%"), ("%2", "%2"), ("a%20b", "a b"),
  ])
  func percentDecodesStatusMessage(encoded: String, decoded: String) {
    let recorder = unary(
      HTTPResponse(headers: Self.grpc, trailers: [("grpc-status", "2"), ("grpc-message", encoded)]))
    #expect(recorder.end?.error?.message == decoded)
  }

  @Test(arguments: [
    (400, StatusCode.internal), (401, .unauthenticated), (403, .permissionDenied), (404, .unimplemented),
    (429, .unavailable), (502, .unavailable), (503, .unavailable), (504, .unavailable), (500, .unknown),
    (418, .unknown), (302, .unknown), (204, .unknown),
  ])
  func mapsHTTPStatusWithoutRPCStatus(status: Int, code: StatusCode) {
    let recorder = unary(HTTPResponse(status: status, headers: [("content-type", "text/html")]))
    #expect(recorder.end?.code == code)
    #expect(recorder.end?.error?.origin == .violation)
  }

  @Test(arguments: [
    "application/grpc", "application/grpc+proto", "Application/GRPC+Proto", "application/grpc; charset=utf-8",
  ])
  func acceptsContentTypesOfGRPC(contentType: String) {
    let recorder = unary(
      HTTPResponse(headers: [("content-type", contentType)], body: envelope([]), trailers: Self.ok))
    #expect(recorder.end?.error == nil)
  }

  @Test(arguments: [
    "text/html", "application/grpc+json", "application/grpc-web", "application/grpcx", "application/json",
  ])
  func rejectsOtherContentTypes(contentType: String) {
    let recorder = unary(
      HTTPResponse(headers: [("content-type", contentType)], body: envelope([]), trailers: Self.ok))
    #expect(recorder.end?.code == .unknown)
    #expect(recorder.end?.error?.message.contains(contentType) == true)
  }

  @Test func rejectsMissingContentType() {
    #expect(unary(HTTPResponse(body: envelope([]), trailers: Self.ok)).end?.code == .unknown)
  }

  @Test func rejectsUnaryResponseWithoutMessage() {
    #expect(unary(HTTPResponse(headers: Self.grpc, trailers: Self.ok)).end?.code == .unimplemented)
  }

  @Test func rejectsUnaryResponseWithTwoMessages() {
    let recorder = unary(
      HTTPResponse(headers: Self.grpc, body: envelope([1]) + envelope([2]), trailers: Self.ok))
    #expect(recorder.end?.code == .unimplemented)
    #expect(recorder.messages.isEmpty)
  }

  @Test func rejectsMissingTrailers() {
    #expect(unary(HTTPResponse(headers: Self.grpc, body: envelope([1]))).end?.code == .unknown)
  }

  @Test func rejectsTrailersWithoutStatus() {
    let recorder = unary(HTTPResponse(headers: Self.grpc, body: envelope([1]), trailers: [("x", "y")]))
    #expect(recorder.end?.code == .unknown)
  }

  @Test func rejectsEndWithinMessage() {
    let half = Array(envelope([1, 2, 3]).dropLast())
    #expect(unary(HTTPResponse(headers: Self.grpc, body: half)).end?.code == .internal)
    #expect(unary(HTTPResponse(headers: Self.grpc, body: half, trailers: Self.ok)).end?.code == .internal)
  }

  @Test func emptyResponseIsUnavailable() {
    let recorder = ResponseRecorder()
    recorder.receive(end: EnvelopeCall<GRPCProtocol>(.of(.unary)).receiveEnd(failure: nil, recorder))
    #expect(recorder.end?.code == .unavailable)
  }

  @Test(arguments: [UInt8(1), 2, 0x80, 0xFF])
  func rejectsUnknownFlags(flags: UInt8) {
    let recorder = unary(
      HTTPResponse(headers: Self.grpc, body: envelope([1], flags: flags), trailers: Self.ok))
    #expect(recorder.end?.code == .internal)
  }

  @Test func rejectsMessageOverTheLimitBeforeReadingIt() {
    let recorder = unary(HTTPResponse(headers: Self.grpc, body: [0, 0xFF, 0xFF, 0xFF, 0xFF]))
    #expect(recorder.end?.code == .resourceExhausted)
  }

  @Test(arguments: ["17", "99", "-1", "+0", "-0", "+5", "", "ok", "0x0", "18446744073709551616"])
  func unknownStatusIsUnknown(status: String) {
    let trailers = [("grpc-status", status), ("grpc-message", "m")]
    let error = unary(HTTPResponse(headers: Self.grpc, trailers: trailers)).end?.error
    #expect(error?.code == .unknown)
    #expect(error?.message == "m (the server sent the unknown grpc-status \(status.debugDescription))")
  }

  /// Proxies may join equal header fields with a comma.
  @Test(arguments: ["==", "", "==,AAEC", ", "])
  func readsDetailsWithAndWithoutPadding(end: String) {
    let trailers = [
      ("grpc-status", "3"),
      ("grpc-status-details-bin", "CAMSAm1vGh0KF3R5cGUuZ29vZ2xlYXBpcy5jb20vYS5CEgIBAg" + end),
    ]
    let details = unary(HTTPResponse(headers: Self.grpc, trailers: trailers)).end?.error?.details
    #expect(details == [StatusDetail(typeName: "a.B", value: [1, 2])])
  }

  /// Arrow and users of tonic put other bytes than a status there.
  @Test(arguments: [[0x01], Array("arrow".utf8), [0x20, 1], [0xff, 0xfe]])
  func keepsBytesOfOtherDetails(bytes: [UInt8]) {
    let trailers = [("grpc-status", "3"), ("grpc-status-details-bin", Base64.encode(bytes, padding: false))]
    let details = unary(HTTPResponse(headers: Self.grpc, trailers: trailers)).end?.error?.details
    #expect(details == [StatusDetail(typeName: "", value: bytes)])
  }

  @Test(arguments: ["!!", ""])
  func keepsDetailsThatAreNotBase64(details: String) {
    let trailers = [("grpc-status", "3"), ("grpc-message", "m"), ("grpc-status-details-bin", details)]
    let error = unary(HTTPResponse(headers: Self.grpc, trailers: trailers)).end?.error
    let shown = details.isEmpty ? [] : [StatusDetail(typeName: "", value: Array(details.utf8))]
    #expect(error == RPCError(.invalidArgument, "m", details: shown, origin: .server))
  }
}

@Suite struct TimeoutTests {
  @Test(arguments: [
    (Duration.nanoseconds(1), "1n"), (.milliseconds(1500), "1500000u"), (.seconds(1), "1000000u"),
    (.seconds(99), "99000000u"), (.seconds(100), "100000m"), (.seconds(100_000), "100000S"),
    (.seconds(100_000_000), "1666667M"), (.seconds(-5), "1n"), (.nanoseconds(100_000_001), "100001u"),
    (.seconds(Int64.max / 2), "2562048H"),
  ])
  func grpcTimeoutHasAtMostEightDigitsAndRoundsUp(timeout: Duration, text: String) {
    #expect(Timeout.grpc(timeout) == text)
  }

  @Test(arguments: [
    (Duration.nanoseconds(1), "1"), (.milliseconds(1500), "1500"), (.seconds(20_000_000), "9999999999"),
    (.zero, "1"),
  ])
  func connectTimeoutHasAtMostTenDigits(timeout: Duration, text: String) {
    #expect(Timeout.connect(timeout) == text)
  }
}
