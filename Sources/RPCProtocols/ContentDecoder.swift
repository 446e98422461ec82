import Protobuf

/// Decodes the body of a response that has a `content-encoding` of HTTP, which a proxy may add to a protocol that has none.
///
/// A part of the body is decoded when the one before was processed, so that a few bytes do not become much memory.
struct ContentDecoder {
  /// The largest window of Zstandard in HTTP (RFC 9659), in bytes.
  private static let windowBytes = 8 << 20

  private let stream: CompressionStream
  private let name: String
  /// The bytes at the start of the next input that are decoded already.
  private var repeatedBytes = 0
  private(set) var decoded: [UInt8] = []
  /// The number of bytes of `decoded` that are processed.
  var processed = 0

  /// - Returns: nil without an encoding.
  /// - Throws: If it cannot be decoded.
  init?(_ headers: Headers) throws(RPCError) {
    let names = headers.values("content-encoding").map { HeaderSyntax.trimmed($0).lowercased() }
      .filter { !$0.isEmpty && $0 != Compression.identity }
    guard let first = names.first else { return nil }
    name = first
    let encoding = Compression(rawValue: first == "x-gzip" ? "gzip" : first)
    guard names.count == 1, let encoding, encoding != .snappy else {
      throw .violation(
        .internal,
        "the response has the content-encoding \(names.joined(separator: ", ").debugDescription), "
          + "which cannot be decoded")
    }
    stream = try CompressionStream.make(encoding, .decode, expectedBytes: Self.windowBytes)
  }

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
    do throws(CompressionStream.Failure) {
      try stream.decodePart(of: body, from: &place, into: &decoded)
    } catch {
      throw .violation(.internal, "the response is not valid \(name), its content-encoding")
    }
    // The last byte is given again until what it ends is processed: then there may be more to decode.
    let isMore = !decoded.isEmpty
    repeatedBytes = isMore && place == body.byteCount ? 1 : 0
    offset = place - repeatedBytes
  }
}
