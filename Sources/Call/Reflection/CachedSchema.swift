/// The file format of a cached schema.
///
/// The file is a descriptor set with one additional field at its end, which readers of descriptor sets
/// ignore: it contains a `Stamp` and a checksum of everything before it.
package enum CachedSchema {
  /// Metadata of a cached schema.
  package struct Stamp: Equatable, Sendable {
    /// The server's version of reflection.
    package let version: ReflectionVersion
    /// The number of files in the set.
    package let fileCount: Int
  }

  // Field 50001, length-delimited: a number that FileDescriptorSet does not define.
  private static let tag: [UInt8] = [0x8A, 0xB5, 0x18]
  private static let format: UInt8 = 1
  /// The format, the version, the number of files, and the checksum.
  private static let payloadBytes = 1 + 1 + 4 + 8
  /// The size of the additional field.
  package static let stampBytes = tag.count + 1 + payloadBytes

  /// Encodes a schema as the contents of a cache file.
  package static func encode(_ schema: ReflectedSchema) -> [UInt8] {
    var bytes = schema.descriptorSet
    bytes += tag + [UInt8(payloadBytes), format, schema.version == .v1 ? 1 : 2]
    bytes += littleEndian(UInt64(schema.fileCount)).prefix(4)
    return bytes + littleEndian(checksum(bytes.span.bytes))
  }

  /// Reads the stamp of a cache file; `nil` if it is damaged or not a cache file.
  package static func stamp(of file: RawSpan) -> Stamp? {
    let start = file.byteCount - stampBytes
    guard start > 0 else { return nil }
    let stamp = file.extracting(start...).withUnsafeBytes { Array($0) }
    guard stamp.starts(with: tag), stamp[tag.count] == UInt8(payloadBytes), stamp[tag.count + 1] == format,
      Array(stamp.suffix(8)) == littleEndian(checksum(file.extracting(..<(file.byteCount - 8))))
    else { return nil }
    let count = stamp.suffix(12).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    return Stamp(version: stamp[tag.count + 2] == 1 ? .v1 : .v1alpha, fileCount: count)
  }

  private static func littleEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// FNV-1a over words of eight bytes: detects damage, not manipulation.
  private static func checksum(_ bytes: RawSpan) -> UInt64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    let wholeBytes = bytes.byteCount & ~7
    for offset in stride(from: 0, to: wholeBytes, by: 8) {
      let word = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      sum = (sum ^ UInt64(littleEndian: word)) &* 0x100_0000_01B3
      sum ^= sum >> 32
    }
    for offset in wholeBytes..<bytes.byteCount {
      let byte = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
      sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return sum
  }
}
