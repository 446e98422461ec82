import ArgumentParser
import RPCProtocols

/// How sent messages are compressed, on the command line.
enum CompressionArgument: String, ExpressibleByArgument, CaseIterable {
  case identity
  case gzip
  case deflate
  case br
  case zstd
  case snappy

  /// The compression; `nil` for none.
  var compression: Compression? { Compression(rawValue: rawValue) }
}

/// What received messages may be compressed with, on the command line: `zstd,gzip`.
struct CompressionListArgument: ExpressibleByArgument {
  /// The compressions in the order written, each once.
  let compressions: [Compression]

  init?(argument: String) {
    var compressions: [Compression] = []
    for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let named = CompressionArgument(rawValue: String(name)) else { return nil }
      if let compression = named.compression, !compressions.contains(compression) {
        compressions.append(compression)
      }
    }
    self.compressions = compressions
  }
}
