import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

/// A protocol with envelopes, and what its tests need to write a response.
enum Enveloped: CaseIterable {
  case grpc
  case grpcWeb
  case connect

  func call(_ parameters: CallParameters) -> any WireProtocol {
    switch self {
    case .grpc: WireProtocols.make(.grpc, parameters)
    case .grpcWeb: WireProtocols.make(.grpcWeb, parameters)
    case .connect: EnvelopeCall<ConnectStreamProtocol>(parameters)
    }
  }

  var contentType: String {
    switch self {
    case .grpc: "application/grpc+proto"
    case .grpcWeb: "application/grpc-web+proto"
    case .connect: "application/connect+proto"
    }
  }

  var encodingField: String { self == .connect ? "connect-content-encoding" : "grpc-encoding" }
  var acceptField: String { self == .connect ? "connect-accept-encoding" : "grpc-accept-encoding" }

  /// The flags and the content of the last envelope of a response with ok; gRPC has none.
  var end: (flags: UInt8, content: [UInt8])? {
    switch self {
    case .grpc: nil
    case .grpcWeb: (0x80, Array("grpc-status: 0\r\nx-t: 1\r\n".utf8))
    case .connect: (0x02, Array(#"{"metadata":{"x-t":["1"]}}"#.utf8))
    }
  }

  /// A response that ends with ok and the trailer `x-t: 1`.
  func response(_ envelopes: [UInt8], headers: [(String, String)] = []) -> HTTPResponse {
    HTTPResponse(
      headers: [("content-type", contentType)] + headers,
      body: envelopes + (end.map { envelope($0.content, flags: $0.flags) } ?? []),
      trailers: self == .grpc ? [("grpc-status", "0"), ("x-t", "1")] : [])
  }
}

@Suite struct EnvelopeCallTests {
  @Test(arguments: Enveloped.allCases, Compression.allCases)
  func requestNamesSentAndAcceptedCompressions(wire: Enveloped, compression: Compression) throws {
    let call = wire.call(.of(.bidiStreaming, compression: compression, accepted: [.zstd, .gzip]))
    let request = try call.makeRequest(.test, timeout: nil)
    #expect(request.headers.values(wire.encodingField) == [compression.rawValue])
    #expect(request.headers.values(wire.acceptField) == ["zstd,gzip"])
    var body: [UInt8] = []
    try call.encode([1, 2, 3], into: &body)
    #expect(body[0] == 1)
    #expect(body == envelope(try compression.compress([1, 2, 3]), flags: 1))
  }

  @Test(arguments: Enveloped.allCases)
  func requestWithoutCompressionAcceptsIdentity(wire: Enveloped) throws {
    let call = wire.call(.of(.bidiStreaming))
    let request = try call.makeRequest(.test, timeout: nil)
    #expect(request.headers.first(wire.encodingField) == nil)
    #expect(request.headers.values(wire.acceptField) == ["identity"])
    var body: [UInt8] = []
    try call.encode([1, 2, 3], into: &body)
    #expect(body == envelope([1, 2, 3]))
  }

  @Test(arguments: [Enveloped.grpcWeb, .connect], [1, 7, Int.max])
  func rejectsDataAfterTheLastEnvelope(wire: Enveloped, pieceBytes: Int) throws {
    let end = try #require(wire.end)
    let trailers = wire == .grpcWeb ? Array("grpc-status: 5".utf8) : Array("{}".utf8)
    for more in [envelope([2]), envelope(trailers, flags: end.flags), [0], envelope([])] {
      var response = wire.response(envelope([1]))
      response.body += more
      let recorder = response.feed(wire.call(.of(.serverStreaming)), pieceBytes: pieceBytes)
      #expect(recorder.messages == [[1]])
      #expect(recorder.end?.code == .internal)
      #expect(recorder.end?.error?.origin == .violation)
    }
  }

  @Test(arguments: Enveloped.allCases, Compression.allCases)
  func readsMixOfCompressedAndPlainMessages(wire: Enveloped, compression: Compression) throws {
    let body = envelope(try compression.compress([1, 2]), flags: 1) + envelope([3]) + envelope([], flags: 1)
    let response = wire.response(body, headers: [(wire.encodingField, compression.rawValue)])
    let recorder = response.feed(wire.call(.of(.serverStreaming, accepted: [compression])))
    #expect(recorder.messages == [[1, 2], [3], []])
    #expect(recorder.end == ResponseEnd(trailers: Headers([("x-t", "1")])))
  }

  /// A few bytes of a piece may hold a large message, so the caller checks the time after each.
  @Test(arguments: Enveloped.allCases, Compression.allCases)
  func receivesOneCompressedMessageAtATime(wire: Enveloped, compression: Compression) throws {
    let message = envelope(try compression.compress([1, 2]), flags: 1)
    try expectParts(
      of: Array(repeating: message, count: 3), messages: [1, 2, 3], wire, compression: compression)
  }

  @Test(arguments: Enveloped.allCases)
  func receivesLimitedNumberOfPlainMessagesAtATime(wire: Enveloped) throws {
    let limit = EnvelopeReader.mostPlainMessages + 1
    try expectParts(
      of: Array(repeating: envelope([]), count: 2 * limit + 1), messages: [limit, 2 * limit, 2 * limit + 1],
      wire)
  }

  /// Checks how many messages of a piece have been received after each part.
  private func expectParts(
    of envelopes: [[UInt8]], messages counts: [Int], _ wire: Enveloped, compression: Compression = .gzip
  ) throws {
    let headers = [("content-type", wire.contentType), (wire.encodingField, compression.rawValue)]
    let call = wire.call(.of(.serverStreaming, accepted: [compression]))
    let recorder = ResponseRecorder()
    let head = ResponseStart(httpStatus: 200, httpVersion: "2", headers: Headers(headers))
    #expect(call.receive(head: head, recorder) == nil)
    let piece = Array(envelopes.joined())
    var offset = 0
    for count in counts {
      #expect(call.receive(body: piece.span.bytes, from: &offset, recorder) == nil)
      #expect(recorder.messages.count == count)
      #expect(offset == envelopes.prefix(count).joined().count)
    }
  }

  @Test(arguments: [Enveloped.grpcWeb, .connect], Compression.allCases)
  func readsCompressedLastEnvelope(wire: Enveloped, compression: Compression) throws {
    let end = try #require(wire.end)
    let response = HTTPResponse(
      headers: [("content-type", wire.contentType), (wire.encodingField, compression.rawValue)],
      body: envelope(try compression.compress(end.content), flags: end.flags | 1))
    let recorder = response.feed(wire.call(.of(.serverStreaming, accepted: [compression])))
    #expect(recorder.end == ResponseEnd(trailers: Headers([("x-t", "1")])))
  }

  @Test(arguments: Enveloped.allCases, ["", "identity"])
  func rejectsCompressedMessageWithoutEncodingHeader(wire: Enveloped, encoding: String) throws {
    let headers = encoding.isEmpty ? [] : [(wire.encodingField, encoding)]
    let response = wire.response(envelope(try Compression.gzip.compress([1]), flags: 1), headers: headers)
    let recorder = response.feed(wire.call(.of(.serverStreaming, accepted: [.gzip])))
    #expect(recorder.end?.code == .internal)
    #expect(recorder.end?.error?.origin == .violation)
    #expect(recorder.messages.isEmpty)
  }

  @Test(arguments: Enveloped.allCases, ["zstd", "snappy", "gzip,gzip"])
  func rejectsEncodingThatWasNotOffered(wire: Enveloped, encoding: String) {
    let response = wire.response(envelope([1], flags: 1), headers: [(wire.encodingField, encoding)])
    let recorder = response.feed(wire.call(.of(.serverStreaming, accepted: [.gzip])))
    #expect(recorder.end?.code == .internal)
    #expect(recorder.end?.error?.message.contains(encoding) == true)
    #expect(recorder.messages.isEmpty)
  }

  @Test(arguments: Enveloped.allCases, ["zstd", "lz4"])
  func ignoresEncodingOfResponseWithoutCompressedMessage(wire: Enveloped, encoding: String) {
    let response = wire.response(envelope([1]), headers: [(wire.encodingField, encoding)])
    let recorder = response.feed(wire.call(.of(.serverStreaming, accepted: [.gzip])))
    #expect(recorder.messages == [[1]])
    #expect(recorder.end == ResponseEnd(trailers: Headers([("x-t", "1")])))
  }

  @Test(arguments: Enveloped.allCases)
  func rejectsInvalidCompressedMessage(wire: Enveloped) {
    let response = wire.response(envelope([1, 2, 3], flags: 1), headers: [(wire.encodingField, "gzip")])
    let recorder = response.feed(wire.call(.of(.serverStreaming, accepted: [.gzip])))
    #expect(recorder.end?.code == .internal)
    #expect(recorder.end?.error?.origin == .violation)
  }

  @Test(arguments: Enveloped.allCases)
  func rejectsMessageOverTheLimitAfterDecompression(wire: Enveloped) throws {
    let bomb = try Compression.gzip.compress([UInt8](repeating: 0, count: 1001))
    #expect(bomb.count < 100)
    let response = wire.response(envelope(bomb, flags: 1), headers: [(wire.encodingField, "gzip")])
    let recorder = response.feed(wire.call(.of(.serverStreaming, accepted: [.gzip])))
    #expect(recorder.end?.code == .resourceExhausted)
    #expect(recorder.messages.isEmpty)
  }

  @Test(arguments: [Enveloped.grpcWeb, .connect])
  func lastEnvelopeHasItsOwnLimit(wire: Enveloped) throws {
    let recorder = wire.response([]).feed(wire.call(.of(.serverStreaming, maxMessageBytes: 3)))
    #expect(recorder.end?.error == nil)
    let endless = HTTPResponse(
      headers: [("content-type", wire.contentType)],
      body: [try #require(wire.end).flags, 0xFF, 0xFF, 0xFF, 0xFF])
    #expect(endless.feed(wire.call(.of(.serverStreaming))).end?.code == .resourceExhausted)
  }

  @Test(arguments: Enveloped.allCases)
  func rejectsUnknownFlags(wire: Enveloped) {
    let known: Set<UInt8> = [0, 1, wire.end?.flags ?? 0, (wire.end?.flags ?? 0) | 1]
    for flags in UInt8.min...UInt8.max where !known.contains(flags) {
      let recorder = wire.response(envelope([], flags: flags)).feed(wire.call(.of(.serverStreaming)))
      #expect(recorder.end?.code == .internal)
    }
  }

  @Test(arguments: Enveloped.allCases)
  func rejectsSecondMessageOfUnaryResponse(wire: Enveloped) {
    for (body, code) in [
      ([], StatusCode.unimplemented), (envelope([1]), .ok), (envelope([1]) + envelope([2]), .unimplemented),
    ] {
      let recorder = wire.response(body).feed(wire.call(.of(.clientStreaming)))
      #expect(recorder.end?.code == code)
      #expect(recorder.messages == (code == .ok ? [[1]] : []))
    }
  }

  /// Reads the count of messages while it receives one, as a call does that is cancelled there.
  private final class CountReader: ResponseReceiver {
    let call: any WireProtocol
    var counts: [Int] = []
    init(_ call: any WireProtocol) { self.call = call }
    func receive(_ event: CallEvent<Payload>) {}
    func receive(message: RawSpan) { counts.append(call.receivedMessages) }
  }

  @Test(arguments: Enveloped.allCases, [CallKind.unary, .serverStreaming])
  func receiverMayReadTheCountOfMessages(wire: Enveloped, kind: CallKind) {
    let call = wire.call(.of(kind))
    let reader = CountReader(call)
    let messages = kind == .unary ? envelope([1]) : envelope([1]) + envelope([2])
    wire.response(messages).feed(call, to: reader) { #expect($0 == nil || $0?.error == nil) }
    // Those of a piece count when it has arrived.
    #expect(reader.counts == (kind == .unary ? [1] : [2, 2]))
  }

  /// Takes up to some messages of a piece at a time.
  private final class Taker: ResponseReceiver {
    let most: Int
    private(set) var taken: [[UInt8]] = []
    private(set) var single = 0
    init(most: Int) { self.most = most }
    func receive(_ event: CallEvent<Payload>) {}
    func receive(message: RawSpan) {
      taken.append(message.copyBytes())
      single += 1
    }
    func receive(messages places: Span<Range<Int>>, of piece: RawSpan) -> Int {
      let count = min(most, places.count)
      for index in 0..<count { taken.append(piece.extracting(places[index]).copyBytes()) }
      return count
    }
  }

  @Test(arguments: Enveloped.allCases, [6, 7, 20, Int.max])
  func eachMessageIsGivenOnce(wire: Enveloped, pieceBytes: Int) {
    let messages = (0..<10).map { [UInt8](repeating: $0, count: Int($0) % 4) }
    let body = messages.flatMap { envelope($0) }
    for most in [1, 2, 3, 100] {
      let taker = Taker(most: most)
      wire.response(body).feed(wire.call(.of(.serverStreaming)), pieceBytes: pieceBytes, to: taker) {
        #expect($0 == nil || $0?.error == nil)
      }
      #expect(taker.taken == messages)
      // Those of a whole piece are given together.
      if pieceBytes == .max { #expect(taker.single == 0) }
    }
  }

  @Test(arguments: Enveloped.allCases)
  func rejectsTruncatedResponse(wire: Enveloped) {
    let headers = [("content-type", wire.contentType)]
    let call = { wire.call(.of(.serverStreaming)) }
    #expect(HTTPResponse(headers: headers, body: envelope([1])).feed(call()).end?.code == .unknown)
    #expect(HTTPResponse(headers: headers, body: [0, 0, 0, 0, 9, 1]).feed(call()).end?.code == .internal)
    #expect(HTTPResponse(headers: headers, body: [0, 0]).feed(call()).end?.code == .internal)
    let recorder = ResponseRecorder()
    recorder.receive(end: call().receiveEnd(failure: nil, recorder))
    #expect(recorder.end?.code == .unavailable)
    #expect(recorder.end?.error?.origin == .connection)
  }

  /// The server has run the method, so the call is not made again.
  @Test(arguments: Enveloped.allCases, [CallKind.unary, .serverStreaming])
  func messageThatIsNotDeliveredHasArrived(wire: Enveloped, kind: CallKind) throws {
    let whole = envelope([1])
    for (body, hasMessage) in [
      (whole, true), (whole + [0], true), (whole.dropLast(), false), ([], false),
      (envelope([UInt8](repeating: 1, count: 1001)), true), (envelope([1], flags: 1), true),
      (envelope([1], flags: 0x40), true),
    ] {
      for failure in [nil, RPCError(.unavailable, "lost", origin: .connection)] {
        let recorder = ResponseRecorder()
        let call = wire.call(.of(kind))
        HTTPResponse(headers: [("content-type", wire.contentType)], body: Array(body)).feed(
          call, to: recorder, failure: failure
        ) { recorder.receive(end: $0) }
        #expect(recorder.end?.error != nil)
        #expect(call.hasMessage == hasMessage, "\(body)")
      }
    }
    let page = wire.call(.of(kind))
    _ = HTTPResponse(headers: [("content-type", "text/html")], body: whole).feed(page)
    #expect(!page.hasMessage)
  }

  @Test(arguments: [Enveloped.grpcWeb, .connect])
  func ignoresHTTPTrailersAfterTheLastEnvelope(wire: Enveloped) {
    var response = wire.response(envelope([1]))
    response.trailers = [("grpc-status", "5")]
    #expect(response.feed(wire.call(.of(.serverStreaming))).end?.code == .ok)
  }

  @Test(arguments: Enveloped.allCases)
  func separatesLeadingFromTrailingMetadata(wire: Enveloped) {
    let leading = [("x-b", "1"), ("x-a", "2"), ("x-b", "3"), ("x-t", "lead")]
    let recorder = wire.response(envelope([1]), headers: leading).feed(wire.call(.of(.serverStreaming)))
    guard case .responseStart(let start)? = recorder.events.first else { return #expect(Bool(false)) }
    #expect(start.headers == Headers([("content-type", wire.contentType)] + leading))
    #expect(recorder.end?.trailers == Headers([("x-t", "1")]))
  }

  @Test(arguments: Enveloped.allCases)
  func mapsHTTPStatusWithoutRPCStatus(wire: Enveloped) {
    for (status, code) in [
      (400, StatusCode.internal), (401, .unauthenticated), (403, .permissionDenied), (404, .unimplemented),
      (429, .unavailable), (502, .unavailable), (503, .unavailable), (504, .unavailable), (500, .unknown),
    ] {
      let response = HTTPResponse(status: status, headers: [("content-type", "text/html")])
      let end = response.feed(wire.call(.of(.serverStreaming))).end
      #expect(end?.code == code)
      #expect(end?.error?.origin == .violation)
    }
  }

  @Test(
    arguments: Enveloped.allCases, ["text/html", "application/json", "application/grpc-web-texts", ""])
  func rejectsOtherContentTypes(wire: Enveloped, contentType: String) {
    let headers = contentType.isEmpty ? [] : [("content-type", contentType)]
    let recorder = HTTPResponse(headers: headers, body: envelope([1])).feed(wire.call(.of(.serverStreaming)))
    #expect(recorder.end?.code == .unknown)
    #expect(recorder.messages.isEmpty)
  }
}
