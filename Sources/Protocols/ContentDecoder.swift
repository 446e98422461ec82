import RPCurlProtobuf

/// Decodes the body of a response that has a `content-encoding` of HTTP, which a proxy may add to a protocol that has none, or
/// one in base64.
///
/// A part of the body is decoded when the one before was processed, so that a few bytes do not become much memory.
struct ContentDecoder {
  /// The largest window of Zstandard in HTTP (RFC 9659), in bytes.
  private static let windowBytes = 8 << 20

  private enum Coding {
    case compression(CompressionStream, name: String)
    case base64(Base64Decoder)
  }

  /// The maximum number of characters of base64 in a part.
  private static let partBytes = 64 << 10

  private var coding: Coding
  /// The bytes at the start of the next input that are decoded already.
  private var repeatedBytes = 0
  private(set) var decoded: [UInt8] = []
  /// The number of bytes of `decoded` that are processed.
  var processed = 0

  /// Makes a decoder for a body with these headers.
  ///
  /// - Returns: nil without an encoding.
  /// - Throws: If it cannot be decoded.
  init?(_ headers: Headers) throws(RPCError) {
    let names = headers.values("content-encoding").map { HeaderSyntax.trimmed($0).lowercased() }
      .filter { !$0.isEmpty && $0 != Compression.identity }
    guard let first = names.first else { return nil }
    let encoding = Compression(rawValue: first == "x-gzip" ? "gzip" : first)
    guard names.count == 1, let encoding, encoding != .snappy else {
      throw .violation(
        .internal,
        "the response has the content-encoding \(names.joined(separator: ", ").debugDescription), "
          + "which cannot be decoded")
    }
    coding = .compression(
      try CompressionStream.make(encoding, .decode, expectedBytes: Self.windowBytes), name: first)
  }

  private init(_ coding: Coding) { self.coding = coding }

  /// Decodes base64 that may have padding after any of its parts (PROTOCOL-WEB, "text-encoded streams").
  static var base64: ContentDecoder { ContentDecoder(.base64(Base64Decoder())) }

  /// Whether everything decoded is processed.
  var isProcessed: Bool { processed == decoded.count }

  /// Decodes the next part of a piece of the body, of at most 64 KiB.
  ///
  /// - Parameters:
  ///   - body: The piece.
  ///   - offset: Where the part starts; moved to its end, or to the byte before if the decoded part is to be processed first.
  mutating func decode(_ body: RawSpan, from offset: inout Int) throws(RPCError) {
    decoded.removeAll(keepingCapacity: true)
    processed = 0
    var place = offset + repeatedBytes
    switch coding {
    case .compression(let stream, let name):
      guard stream.decodePart(of: body, from: &place, into: &decoded) == nil else {
        throw .violation(.internal, "the response is not valid \(name), its content-encoding")
      }
    case .base64(var decoder):
      let end = min(place + Self.partBytes, body.byteCount)
      guard decoder.decode(body.extracting(place..<end), into: &decoded) else {
        throw .violation(.internal, "the response is not valid base64, which its content-type requires")
      }
      place = end
      coding = .base64(decoder)
    }
    // The last byte is given again until what it ends is processed: then there may be more to decode.
    let isMore = !decoded.isEmpty
    repeatedBytes = isMore && place == body.byteCount ? 1 : 0
    offset = place - repeatedBytes
  }
}
