import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct ConnectGetTests {
  private func request(
    _ message: [UInt8], codec: CodecName, compression: Compression? = nil
  ) throws -> HTTPRequest {
    let call = WireProtocols.make(
      .connect, .of(.unary, codec: codec, compression: compression, accepted: [.gzip], usesGET: true))
    var body: [UInt8] = []
    try call.encode(message, into: &body)
    return try call.makeRequest(.test, timeout: .seconds(1))
  }

  @Test func requestHasNeitherBodyNorBodyHeaders() throws {
    let request = try request([1], codec: .proto)
    #expect(request.method == "GET")
    #expect(
      request.headers
        == Headers([("user-agent", "test/1"), ("accept-encoding", "gzip"), ("connect-timeout-ms", "1000")]))
  }

  @Test(arguments: [
    ([UInt8](), ""), ([0xFB, 0xFF], "-_8"), ([0xFF, 0xEF, 0xBE], "_---"), ([1, 2, 3, 4], "AQIDBA"),
  ])
  func encodesProtobufAsURLSafeBase64WithoutPadding(message: [UInt8], text: String) throws {
    let url = try request(message, codec: .proto).url
    #expect(url == "http://h/a.B/C?connect=v1&base64=1&encoding=proto&message=\(text)")
  }

  @Test func percentEncodesJSON() throws {
    let url = try request(Array(#"{"a":"b c&=+/✓~"}"#.utf8), codec: .json).url
    #expect(
      url
        == "http://h/a.B/C?connect=v1&encoding=json&message=%7B%22a%22%3A%22b%20c%26%3D%2B%2F%E2%9C%93~%22%7D"
    )
  }

  @Test(arguments: CodecName.allCases)
  func encodesCompressedMessageAsBase64(codec: CodecName) throws {
    let url = try request(Array("{}".utf8), codec: codec, compression: .gzip).url
    let start = "http://h/a.B/C?connect=v1&base64=1&compression=gzip&encoding=\(codec.rawValue)&message="
    #expect(url.hasPrefix(start))
    let message = try #require(Base64.decode(url.dropFirst(start.count)))
    #expect(try Compression.gzip.decompress(message) == Array("{}".utf8))
  }

  @Test(arguments: CodecName.allCases, [Compression.gzip, nil])
  func hidesMessage(codec: CodecName, compression: Compression?) throws {
    let sent = Array(#"{"a":"&message=b"}"#.utf8)
    let request = try request(sent, codec: codec, compression: compression)
    #expect(request.shownURL(hidingMessage: { _ in false }) == request.url)
    let hidden = request.shownURL { message in
      #expect(message == (compression == nil ? sent : nil))
      return true
    }
    let end = try #require(request.url.firstRange(of: "&message="))
    #expect(hidden == "\(request.url[..<end.upperBound])[redacted]")
  }

  @Test func hidesNothingOfPOST() {
    let request = HTTPRequest(url: "http://h/a.B/C?x&message=1", headers: Headers())
    #expect(request.shownURL(hidingMessage: { _ in true }) == request.url)
  }

  @Test(arguments: [(8192, "GET"), (8193, "POST")])
  func usesPOSTIfTheURLIsTooLong(urlBytes: Int, method: String) throws {
    let start = "http://h/a.B/C?connect=v1&encoding=json&message="
    let message = [UInt8](repeating: UInt8(ascii: "1"), count: urlBytes - start.utf8.count)
    let call = WireProtocols.make(
      .connect, .of(.unary, codec: .json, compression: nil, accepted: [.gzip], usesGET: true))
    var body: [UInt8] = []
    try call.encode(message, into: &body)
    let request = try call.makeRequest(.test, timeout: nil)
    #expect(request.method == method)
    #expect(request.headers.first("content-type") == (method == "GET" ? nil : "application/json"))
    #expect(method == "GET" ? request.url.utf8.count == urlBytes : request.url == "http://h/a.B/C")
    #expect(body == message)
  }
}
