import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

/// The pieces in which a response arrives do not change its meaning.
@Suite struct PiecesTests {
  private static let kinds = CallKind.allCases
  private static let accepted: [Compression] = [.gzip, .br, .deflate, .zstd]

  @Test(arguments: Enveloped.allCases, 0..<150)
  func piecesOfEnvelopesDoNotChangeEvents(wire: Enveloped, seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let compression = Self.accepted.randomElement(using: &random) ?? .gzip
    var envelopes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let message = Self.bytes(upTo: 300, &random)
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<6: envelopes += envelope(message)
      case 6..<10: envelopes += envelope(try compression.compress(message), flags: 1)
      case 10: envelopes += envelope(message, flags: UInt8.random(in: 0...255, using: &random))
      default: envelopes += message
      }
    }
    var response = wire.response(
      envelopes, headers: Bool.random(using: &random) ? [(wire.encodingField, compression.rawValue)] : [])
    Self.damage(&response, &random)
    let kind = Self.kinds.randomElement(using: &random) ?? .unary
    try expectSameEvents(response, &random) {
      wire.call(.of(kind, maxMessageBytes: 250, accepted: Self.accepted))
    }
  }

  @Test(arguments: 0..<150)
  func piecesOfUnaryBodiesDoNotChangeEvents(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let compression = Bool.random(using: &random) ? Self.accepted.randomElement(using: &random) : nil
    let isError = Bool.random(using: &random)
    let plain = isError ? Array(#"{"code":"aborted","message":"so"}"#.utf8) : Self.bytes(upTo: 300, &random)
    var response = HTTPResponse(
      status: isError ? 409 : 200,
      headers: [("content-type", isError ? "application/json" : "application/proto")],
      body: try compression?.compress(plain) ?? plain)
    if let compression { response.headers.append(("content-encoding", compression.rawValue)) }
    Self.damage(&response, &random)
    try expectSameEvents(response, &random) {
      ConnectUnaryProtocol(.of(.unary, maxMessageBytes: 250, accepted: Self.accepted))
    }
  }

  private static func bytes(upTo limit: Int, _ random: inout SeededGenerator) -> [UInt8] {
    let value = UInt8.random(in: 0...255, using: &random)
    return (0..<Int.random(in: 0...limit, using: &random)).map { _ in
      Bool.random(using: &random) ? value : UInt8.random(in: 0...255, using: &random)
    }
  }

  /// Half of the responses stay intact; the others are truncated, or have a flipped bit or no trailers.
  private static func damage(_ response: inout HTTPResponse, _ random: inout SeededGenerator) {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: response.body.removeLast(Int.random(in: 0...response.body.count, using: &random))
    case 1, 2:
      guard let index = response.body.indices.randomElement(using: &random) else { return }
      response.body[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 3: response.trailers = []
    default: break
    }
  }

  private func expectSameEvents(
    _ response: HTTPResponse, _ random: inout SeededGenerator, _ call: () -> any WireProtocol
  ) throws {
    let whole = response.feed(call())
    _ = try #require(whole.end)
    #expect(response.feed(call(), pieceBytes: 1).events == whole.events)
    let size = Int.random(in: 2...50, using: &random)
    #expect(response.feed(call(), pieceBytes: size).events == whole.events)
  }
}
