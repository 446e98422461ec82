import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

/// gRPC-Web with a body in base64 (PROTOCOL-WEB, "text-encoded streams").
@Suite struct GRPCWebTextTests {
  private static let type = ("content-type", "application/grpc-web-text+proto")
  private static let ending = envelope(Array("grpc-status: 0\r\nx-t: 1".utf8), flags: 0x80)
  private static let end = ResponseEnd(trailers: Headers([("x-t", "1")]))

  private func receive(
    _ text: [UInt8], headers: [(String, String)] = [type], pieceBytes: Int = .max,
    maxMessageBytes: Int = 1 << 20
  ) -> ResponseRecorder {
    HTTPResponse(headers: headers, body: text).feed(
      WireProtocols.make(
        .grpcWeb, .of(.serverStreaming, maxMessageBytes: maxMessageBytes, accepted: [.gzip])),
      pieceBytes: pieceBytes)
  }

  /// Parts of random length in base64, each with its padding.
  private static func text(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var text: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix(Int.random(in: 1...max(1, min(rest.count, 2000)), using: &random))
      text += Base64.encode(Array(part)).utf8
      rest = rest.dropFirst(part.count)
    }
    return text
  }

  @Test(arguments: 0..<100)
  func partsAndPiecesDoNotChangeMessages(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let messages = (0..<Int.random(in: 0...5, using: &random)).map { _ in
      (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    let envelopes = try messages.map { message in
      Bool.random(using: &random)
        ? envelope(message) : envelope(try Compression.gzip.compress(message), flags: 1)
    }
    let text = Self.text(envelopes.flatMap(\.self) + Self.ending, &random)
    for pieceBytes in [1, 2, 3, 5, Int.random(in: 6...500, using: &random), .max] {
      let recorder = receive(text, headers: [Self.type, ("grpc-encoding", "gzip")], pieceBytes: pieceBytes)
      #expect(recorder.messages == messages)
      #expect(recorder.end == Self.end)
    }
  }

  @Test(arguments: [
    "application/grpc-web-text", "application/grpc-web-text+proto",
    "Application/gRPC-Web-Text; charset=utf-8",
  ])
  func readsEachContentType(type: String) {
    let recorder = receive(
      Array(Base64.encode(envelope([1]) + Self.ending).utf8), headers: [("content-type", type)])
    #expect(recorder.messages == [[1]])
    #expect(recorder.end == Self.end)
  }

  @Test func readsContentEncodingAroundText() throws {
    var random = SeededGenerator(seed: 1)
    let message = [UInt8](repeating: 7, count: 300_000)
    let body = try Compression.gzip.compress(Self.text(envelope(message) + Self.ending, &random))
    for pieceBytes in [1, 100, .max] {
      let recorder = receive(
        body, headers: [Self.type, ("content-encoding", "gzip")], pieceBytes: pieceBytes)
      #expect(recorder.messages == [message])
      #expect(recorder.end == Self.end)
    }
  }

  @Test(arguments: ["=", "A===", "AA=A", "A=AA", "AAAA=", "AAA A", "AAAA\r\n", "é", "\u{0}AAA"])
  func rejectsInvalidBase64(text: String) {
    for pieceBytes in [1, .max] {
      let error = receive(Array(text.utf8), pieceBytes: pieceBytes).end?.error
      #expect(error?.message == "the response is not valid base64, which its content-type requires")
      #expect(error?.code == .internal)
      #expect(error?.origin == .violation)
    }
  }

  @Test func responseThatEndsEarlyIsAnError() {
    let text = Array(Base64.encode(envelope([1]) + Self.ending).utf8)
    for count in 0..<(text.count - 4) {
      #expect(receive(Array(text.prefix(count))).end?.error?.origin == .violation, "\(count)")
    }
  }

  @Test func limitsMessages() {
    let text = Array(Base64.encode(envelope([UInt8](repeating: 0, count: 11))).utf8)
    #expect(receive(text, maxMessageBytes: 10).end?.code == .resourceExhausted)
  }

  @Test(arguments: ["application/grpc-web-text", "application/grpc-web-text+proto"], [0, 1, 2, 100_000])
  func sendsTextIfItsTypeIsChosen(type: String, count: Int) throws {
    var parameters = CallParameters.of(.bidiStreaming)
    parameters.sendsText = ProtocolName.grpcWeb.isText(type, .proto)
    let call = WireProtocols.make(.grpcWeb, parameters)
    var start = RequestStart.test
    start.headers = Headers([("content-type", type)])
    let request = try call.makeRequest(start, timeout: nil)
    #expect(request.headers.values("content-type") == [type])
    #expect(request.headers.values("accept") == ["application/grpc-web-text"])
    let message = [UInt8](repeating: 9, count: count)
    var body: [UInt8] = []
    try call.encode(message, into: &body)
    #expect(Base64.decode(body) == envelope(message))
    let first = body
    try call.encode(message, into: &body)
    #expect(body == first + first)
  }

  @Test func keepsAcceptOfTheCaller() throws {
    var parameters = CallParameters.of(.unary)
    parameters.sendsText = true
    let call = WireProtocols.make(.grpcWeb, parameters)
    var start = RequestStart.test
    start.headers = Headers([Self.type, ("accept", "application/grpc-web+proto")])
    #expect(
      try call.makeRequest(start, timeout: nil).headers.values("accept") == ["application/grpc-web+proto"])
  }

  /// An interceptor cannot choose the form of the body.
  @Test(arguments: ProtocolName.allCases)
  func otherCallsHaveNoText(name: ProtocolName) {
    #expect(ProtocolName.grpcWeb.isText("application/grpc-web", .proto) == false)
    #expect(name == .grpcWeb || !name.isText(Self.type.1, .proto))
    var start = RequestStart.test
    start.headers = Headers([Self.type])
    #expect(throws: RPCError.self) {
      try WireProtocols.make(name, .of(.bidiStreaming)).makeRequest(start, timeout: nil)
    }
  }
}
