import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

/// The framing format of snappy (framing_format.txt), chunk by chunk. The chunks are written by hand, because
/// input must not come from the code under test.
@Suite struct SnappyTests {
  private static let identifier: [UInt8] = [0xFF, 6, 0, 0] + Array("sNaPpY".utf8)

  private static func chunk(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
    [type] + littleEndian(UInt32(data.count)).prefix(3) + data
  }

  private static func littleEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// A chunk with a checksum (section 3: the CRC-32C, masked).
  private static func chunk(_ type: UInt8, crc: UInt32, _ data: [UInt8]) -> [UInt8] {
    chunk(type, littleEndian(((crc >> 15) | (crc << 17)) &+ 0xA282_EAD8) + data)
  }

  /// CRC-32C bit by bit, following its definition.
  private static func crc32c(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ -> UInt32 in
        let polynomial: UInt32 = crc & 1 == 1 ? 0x82F6_3B78 : 0
        return crc >> 1 ^ polynomial
      }
    }
  }

  /// A compressed block that is one literal of up to 60 bytes (format_description.txt).
  private static func literal(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(bytes.count), UInt8(bytes.count - 1) << 2] + bytes
  }

  private func isViolation(_ stream: [UInt8]) -> Bool {
    let error = #expect(throws: RPCError.self) { try Compression.snappy.decompress(stream) }
    return error?.origin == .violation && error?.code == .internal
  }

  /// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
  @Test(
    arguments: [
      ([UInt8](repeating: 0, count: 32), 0x8A91_36AA), ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
      (Array(0..<32), 0x46DD_794E), ((0..<32).reversed(), 0x113F_DB5C),
      (Array("123456789".utf8), 0xE306_9283),
    ] as [([UInt8], UInt32)])
  func acceptsChecksumsOfTheSpecification(data: [UInt8], crc: UInt32) throws {
    #expect(Self.crc32c(data) == crc)
    #expect(try Compression.snappy.decompress(Self.identifier + Self.chunk(1, crc: crc, data)) == data)
    let compressed = Self.chunk(0, crc: crc, Self.literal(data))
    #expect(try Compression.snappy.decompress(Self.identifier + compressed) == data)
    for bit in 0..<32 {
      for chunk in [
        Self.chunk(1, crc: crc ^ 1 << bit, data), Self.chunk(0, crc: crc ^ 1 << bit, Self.literal(data)),
      ] {
        #expect(isViolation(Self.identifier + chunk))
      }
    }
  }

  @Test func rejectsUnmaskedChecksum() {
    let crc: [UInt8] = Self.littleEndian(0xE306_9283)
    #expect(isViolation(Self.identifier + Self.chunk(1, crc + Array("123456789".utf8))))
  }

  @Test(arguments: 0..<20)
  func checksumCoversEachLength(length: Int) throws {
    let data = (0..<length).map { UInt8($0 * 37 & 0xFF) }
    let stream = Self.identifier + Self.chunk(1, crc: Self.crc32c(data), data)
    #expect(try Compression.snappy.decompress(stream) == data)
  }

  /// Written by the `snap` library of Rust.
  @Test func readsOutputOfAnotherImplementation() throws {
    let bytes = try #require(Base64.decode("/wYAAHNOYVBwWQAWAAD9FGontAEUaGVsbG8g/gYA/gYAtgYA"))
    #expect(
      try Compression.snappy.decompress(bytes)
        == Array(String(repeating: "hello hello hello ", count: 10).utf8))
    for length in 1..<bytes.count where length != Self.identifier.count {
      #expect(isViolation(Array(bytes.prefix(length))))
    }
    for position in bytes.indices {
      var damaged = bytes
      damaged[position] ^= 1
      #expect(isViolation(damaged))
    }
  }

  @Test func readsStreamWithoutChunksAsEmptyMessage() throws {
    #expect(try Compression.snappy.compress([]) == Self.identifier)
    #expect(try Compression.snappy.decompress(Self.identifier) == [])
    #expect(try Compression.snappy.decompress(Self.identifier + Self.chunk(1, crc: 0, [])) == [])
    #expect(try Compression.snappy.decompress(Self.identifier + Self.chunk(0, crc: 0, [0])) == [])
  }

  @Test(arguments: [0x80, 0x90, 0xFE] as [UInt8])
  func skipsPaddingAndSkippableChunks(type: UInt8) throws {
    let data = Self.chunk(1, crc: 0xE306_9283, Array("123456789".utf8))
    for size in [0, 1, 70_000] {
      let skipped = Self.chunk(type, [UInt8](repeating: 7, count: size))
      let stream = Self.identifier + skipped + data + skipped + skipped
      #expect(try Compression.snappy.decompress(stream) == Array("123456789".utf8))
    }
  }

  @Test(arguments: 0x02...0x7F as ClosedRange<UInt8>)
  func rejectsReservedChunks(type: UInt8) {
    #expect(isViolation(Self.identifier + Self.chunk(type, [])))
    #expect(isViolation(Self.identifier + Self.chunk(type, [0, 0, 0, 0, 1])))
  }

  @Test func requiresStreamIdentifier() {
    let data = Self.chunk(1, crc: 0xE306_9283, Array("123456789".utf8))
    #expect(isViolation(data))
    #expect(isViolation(Self.chunk(0xFE, []) + Self.identifier + data))
    #expect(isViolation(Self.chunk(0xFF, Array("sNaPpY!".utf8)) + data))
    #expect(isViolation(Self.chunk(0xFF, Array("snappy".utf8)) + data))
    #expect(isViolation(Self.chunk(0xFF, [])))
  }

  @Test func acceptsRepeatedIdentifier() throws {
    let data = Self.chunk(1, crc: 0xE306_9283, Array("123456789".utf8))
    #expect(
      try Compression.snappy.decompress(Self.identifier + data + Self.identifier + data)
        == Array("123456789123456789".utf8))
  }

  @Test func rejectsRawBlock() {
    #expect(isViolation(Self.literal(Array("123456789".utf8))))
  }

  @Test func rejectsChunkLargerThanBlock() throws {
    for (size, isAccepted) in [(65_536, true), (65_537, false)] {
      let data = [UInt8](repeating: 7, count: size)
      let stream = Self.identifier + Self.chunk(1, crc: Self.crc32c(data), data)
      if isAccepted {
        #expect(try Compression.snappy.decompress(stream) == data)
      } else {
        #expect(isViolation(stream))
      }
    }
    // Blocks that announce 65,537 bytes and 2^32 - 1.
    for length in [[0x81, 0x80, 0x04], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]] as [[UInt8]] {
      #expect(isViolation(Self.identifier + Self.chunk(0, crc: 0, length + [0, 65])))
    }
  }

  @Test func rejectsInvalidBlocks() {
    let blocks: [[UInt8]] = [
      [], [0x80], [5], [5, 0x10, 65], [1, 0x01, 0x00], [4, 0x00, 65, 0x09, 0x05],
      [2, 0x04, 65, 66, 0x04, 67, 68],
    ]
    for block in blocks {
      #expect(isViolation(Self.identifier + Self.chunk(0, crc: Self.crc32c([65]), block)))
    }
    #expect(isViolation(Self.identifier + Self.chunk(0, [1, 2, 3])))
    #expect(isViolation(Self.identifier + Self.chunk(1, [])))
  }

  /// A chunk contains at most 65,536 bytes, and is compressed only if that makes it smaller (sections 4.2 and
  /// 4.3).
  @Test func writesValidChunks() throws {
    var generator = SeededGenerator(seed: 7)
    let noise = (0..<65_536).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let zeros = [UInt8](repeating: 0, count: 65_536)
    var rest = try Compression.snappy.compress(noise + zeros + [1])[...]
    #expect(Array(rest.prefix(10)) == Self.identifier)
    rest = rest.dropFirst(10)
    for (type, data) in [(1, noise), (0, zeros), (1, [1])] as [(UInt8, [UInt8])] {
      let header = Array(rest.prefix(8))
      let length = Int(header[1]) | Int(header[2]) << 8 | Int(header[3]) << 16
      #expect(header[0] == type)
      #expect(Array(header[4...]) == Array(Self.chunk(1, crc: Self.crc32c(data), []).suffix(4)))
      if type == 1 { #expect(Array(rest.dropFirst(8).prefix(length - 4)) == data) }
      rest = rest.dropFirst(4 + length)
    }
    #expect(rest.isEmpty)
  }
}
