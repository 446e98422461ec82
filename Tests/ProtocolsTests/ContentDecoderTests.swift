import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

/// Bodies with a `content-encoding` of HTTP, which proxies add to protocols that have none.
@Suite struct ContentDecoderTests {
  static let streams: [(ProtocolName, String)] = [
    (.grpc, "application/grpc"), (.grpcWeb, "application/grpc-web"), (.connect, "application/connect+proto"),
  ]

  private static func ending(_ wire: ProtocolName) -> [UInt8] {
    switch wire {
    case .grpc: []
    case .grpcWeb: envelope(Array("grpc-status: 0".utf8), flags: 0x80)
    case .connect: envelope(Array("{}".utf8), flags: 0x02)
    }
  }

  private func receive(
    _ body: [UInt8], encoding: String, _ wire: (name: ProtocolName, type: String), pieceBytes: Int = .max
  ) -> ResponseRecorder {
    HTTPResponse(
      headers: [("content-type", wire.type), ("content-encoding", encoding)], body: body,
      trailers: wire.name == .grpc ? [("grpc-status", "0")] : []
    ).feed(
      WireProtocols.make(wire.name, .of(.serverStreaming, maxMessageBytes: 1 << 20)), pieceBytes: pieceBytes)
  }

  @Test(
    arguments: streams,
    [
      ("gzip", Compression.gzip), ("X-GZIP", .gzip), ("deflate", .deflate), ("br", .br), ("zstd", .zstd),
    ])
  func decodesBody(wire: (ProtocolName, String), encoding: (name: String, compression: Compression)) throws {
    let missing = encoding.compression.whyUnwritable ?? encoding.compression.whyUnreadable
    try #require(missing == nil, "\(missing ?? "")")
    let messages: [[UInt8]] = [[1, 2], [], [UInt8](repeating: 7, count: 300_000), [3]]
    let body = try encoding.compression.compress(messages.flatMap { envelope($0) } + Self.ending(wire.0))
    for pieceBytes in [1, 13, body.count - 1, body.count] {
      let recorder = receive(body, encoding: encoding.name, wire, pieceBytes: pieceBytes)
      #expect(recorder.messages == messages)
      #expect(recorder.end == ResponseEnd())
    }
  }

  /// RFC 1952, section 2.2.
  @Test func decodesConsecutiveMembers() throws {
    let body = try Compression.gzip.compress(envelope([1])) + Compression.gzip.compress(envelope([2]))
    for pieceBytes in [1, 7, body.count] {
      let recorder = receive(body, encoding: "gzip", Self.streams[0], pieceBytes: pieceBytes)
      #expect(recorder.messages == [[1], [2]])
      #expect(recorder.end == ResponseEnd())
    }
  }

  @Test(arguments: streams)
  func ignoresIdentity(wire: (ProtocolName, String)) {
    let recorder = receive(envelope([1]) + Self.ending(wire.0), encoding: "identity", wire)
    #expect(recorder.messages == [[1]])
    #expect(recorder.end == ResponseEnd())
  }

  @Test(arguments: streams, ["compress", "gzip, gzip", "snappy"])
  func refusesOtherEncodings(wire: (ProtocolName, String), encoding: String) {
    let recorder = receive(envelope([1]) + Self.ending(wire.0), encoding: encoding, wire)
    #expect(recorder.messages.isEmpty)
    #expect(recorder.end?.error?.code == .internal)
    #expect(recorder.end?.error?.message.contains("the content-encoding \"\(encoding)\"") == true)
  }

  @Test(arguments: streams)
  func refusesDamagedBody(wire: (ProtocolName, String)) {
    let recorder = receive(envelope([1]) + Self.ending(wire.0), encoding: "gzip", wire)
    #expect(recorder.end?.error?.message == "the response is not valid gzip, its content-encoding")
  }

  @Test(arguments: streams)
  func refusesDataAfterTheEnd(wire: (ProtocolName, String)) throws {
    let body = try Compression.deflate.compress(envelope([1]) + Self.ending(wire.0)) + [1, 2, 3]
    #expect(receive(body, encoding: "deflate", wire).end?.error?.code == .internal)
  }

  /// One part of the body in memory at a time.
  @Test func decompressesInParts() throws {
    var decoder = try #require(try ContentDecoder(Headers([("content-encoding", "gzip")])))
    let bomb = try Compression.gzip.compress([UInt8](repeating: 0, count: 10 << 20))
    var offset = 0
    var count = 0
    while offset < bomb.count {
      try decoder.decode(bomb.span.bytes, from: &offset)
      #expect(decoder.decoded.count <= 64 << 10)
      count += decoder.decoded.count
    }
    #expect(count == 10 << 20)
  }

  @Test func limitsMessages() throws {
    let body = try Compression.gzip.compress(envelope([UInt8](repeating: 0, count: 2 << 20)))
    let end = receive(body, encoding: "gzip", Self.streams[0]).end
    #expect(end?.error?.code == .resourceExhausted)
  }
}
