import RPCurlProtobuf
import RPCurlProtocols

/// The files that many APIs import and protoc lacks, such as `google/api/annotations.proto`.
enum CommonSchemas {
  /// The largest accepted size, in bytes.
  private static let limitBytes = 1 << 20

  /// The descriptor set; empty if it cannot be decompressed.
  static var set: SchemaBytes {
    let bytes = try? Compression.gzip.decompress(
      WellKnownSchemas.compressedCommonTypes, limitBytes: limitBytes)
    return SchemaBytes(bytes ?? [])
  }

  /// The names of the files.
  static var fileNames: Set<String> {
    let pool = DescriptorPool()
    try? pool.add(set, source: WellKnownSchemas.sourceName)
    try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    try? pool.add(WellKnownSchemas.services, source: WellKnownSchemas.sourceName)
    return Set(pool.fileNames)
  }
}
