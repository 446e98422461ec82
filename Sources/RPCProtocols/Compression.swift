/// How messages travel compressed; its raw value is the name in the protocols' headers.
///
/// Messages that travel as they are have none: `identity` is no compression.
public enum Compression: String, Sendable, CaseIterable {
  /// RFC 1952.
  case gzip
  /// zlib's format (RFC 1950), as gRPC and HTTP mean it: not the bare stream that it holds.
  case deflate
  /// Brotli, RFC 7932.
  case br
  /// Zstandard, RFC 8878.
  case zstd
  /// The framing format of snappy, as implementations of gRPC mean it: not a bare block.
  case snappy

  /// The name that means no compression.
  public static let identity = "identity"

  /// What can be read on this machine.
  ///
  /// Asking loads the libraries that decompress.
  public static let readable = allCases.filter { $0.whyUnreadable == nil }

  /// Why messages that are compressed so cannot be read on this machine; `nil` when they can.
  public var whyUnreadable: String? { CompressionStream.load(self, .decode) }

  /// Why messages cannot be compressed so on this machine; `nil` when they can.
  public var whyUnwritable: String? { CompressionStream.load(self, .encode) }
}

extension CallParameters {
  /// The list for the header that tells the server what it may send.
  ///
  /// With nothing to offer it says so: a server that is told nothing may answer in the request's encoding.
  var acceptedEncodings: String {
    acceptedCompressions.isEmpty
      ? Compression.identity : acceptedCompressions.map(\.rawValue).joined(separator: ",")
  }

  /// What the header `encoding` of a response announces; `nil` for none.
  ///
  /// - Throws: When it is not what was offered (connect-go and gRPC call that `internal` at a client).
  func agreedCompression(_ encoding: String?) throws(RPCError) -> Compression? {
    guard let name = encoding?.lowercased(), !name.isEmpty, name != Compression.identity else { return nil }
    guard let compression = Compression(rawValue: name), acceptedCompressions.contains(compression) else {
      throw .violation(
        .internal,
        "the server compressed with \(name.debugDescription), but was offered \(acceptedEncodings)")
    }
    return compression
  }
}
