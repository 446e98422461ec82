/// A message compression; its raw value is the name in the protocols' headers.
///
/// An uncompressed message has none: `identity` is not a case.
public enum Compression: String, Sendable, CaseIterable {
  /// RFC 1952.
  case gzip
  /// The zlib format (RFC 1950), as gRPC and HTTP define `deflate`: not a raw DEFLATE stream.
  case deflate
  /// Brotli, RFC 7932.
  case br
  /// Zstandard, RFC 8878.
  case zstd
  /// The framing format of snappy, as implementations of gRPC use it: not a raw block.
  case snappy

  /// The name for uncompressed messages.
  package static let identity = "identity"

  /// The compressions that this machine can decompress.
  package static let readable = allCases.filter { $0.isAvailable(.decode) }

  /// Whether this machine can compress with it.
  package var isWritable: Bool { isAvailable(.encode) }

  /// A library is not loaded if its file is where the system's libraries are: few calls compress, and each names them all.
  private func isAvailable(_ direction: CompressionStream.Direction) -> Bool {
    CompressionStream.isInstalled(self, direction) || CompressionStream.load(self, direction) == nil
  }

  /// Why this machine cannot decompress it; `nil` if it can.
  package var whyUnreadable: String? { CompressionStream.load(self, .decode) }

  /// Why this machine cannot compress with it; `nil` if it can.
  package var whyUnwritable: String? { CompressionStream.load(self, .encode) }
}

extension CallParameters {
  /// The value of the header that lists the compressions that the server may use.
  ///
  /// An empty list becomes `identity`: without the header, a server may respond with the request's encoding.
  var acceptedEncodings: String {
    accepted.isEmpty ? Compression.identity : accepted.map(\.rawValue).joined(separator: ",")
  }

  private var accepted: [Compression] { acceptedCompressions ?? Compression.readable }

  /// The compression that the header `encoding` of a response names; `nil` for none.
  ///
  /// - Throws: `internal` when it was not offered, as connect-go and gRPC do at a client.
  func agreedCompression(_ encoding: String?) throws(RPCError) -> Compression? {
    guard let name = encoding?.lowercased(), !name.isEmpty, name != Compression.identity else { return nil }
    guard let compression = Compression(rawValue: name), accepted.contains(compression) else {
      throw .violation(
        .internal,
        "the server compressed with \(name.debugDescription), which was not offered (offered: \(acceptedEncodings))"
      )
    }
    return compression
  }
}
