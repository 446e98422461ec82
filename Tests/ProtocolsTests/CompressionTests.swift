import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct CompressionTests {
  private static let kibibyte = [UInt8](repeating: 0, count: 1 << 10)

  private static func noise(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 7)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  @Test(arguments: Compression.allCases)
  func everyLibraryIsAvailable(compression: Compression) {
    #expect(compression.whyUnreadable == nil)
    #expect(compression.whyUnwritable == nil)
    #expect(Compression.readable.contains(compression))
    #expect(compression.isWritable)
  }

  @Test(arguments: Compression.allCases, [0, 1, 100, 65_535, 65_536, 65_537, 300_000])
  func decompressionUndoesCompression(compression: Compression, size: Int) throws {
    for message in [Self.noise(size), [UInt8](repeating: 7, count: size)] {
      #expect(try compression.decompress(compression.compress(message)) == message)
    }
  }

  @Test(arguments: Compression.allCases)
  func codecIsReusedForManyMessages(compression: Compression) throws {
    var compressor = MessageCompressor(compression)
    var decompressor = MessageDecompressor(compression)
    for size in [3, 70_000, 0, 5] {
      let compressed = try compressor.compress(Self.noise(size))
      #expect(try decompressor.decompress(compressed.span.bytes, limit: 70_000) == Self.noise(size))
    }
  }

  /// Written by Python's gzip, zlib, Brotli and zstandard.
  @Test(arguments: [
    (Compression.gzip, "H4sIAAAAAAACA8tIzcnJV8hAkACAiPnlEQAAAA=="), (.deflate, "eJzLSM3JyVfIQJAAOi4GfQ=="),
    (.br, "GxAA+I2Ubt5EVYaWbCBvAU8cYBw="), (.zstd, "KLUv/SARZQAAMGhlbGxvIAEAMUoR"),
  ])
  func readsOutputOfOtherImplementations(compression: Compression, base64: String) throws {
    let bytes = try #require(Base64.decode(base64))
    #expect(try compression.decompress(bytes) == Array("hello hello hello".utf8))
    for length in 1..<bytes.count {
      #expect(throws: RPCError.self) { try compression.decompress(Array(bytes.prefix(length))) }
    }
  }

  @Test(arguments: Compression.allCases)
  func decompressesNoBytesAsEmptyMessage(compression: Compression) throws {
    #expect(try compression.decompress([]) == [])
  }

  @Test(arguments: Compression.allCases)
  func rejectsInvalidBytes(compression: Compression) {
    let error = #expect(throws: RPCError.self) { try compression.decompress([0xFF, 0xFE, 0xFD, 0xFC, 0, 0]) }
    #expect(error?.code == .internal)
    #expect(error?.origin == .violation)
    #expect(error?.message.contains(compression.rawValue) == true)
  }

  @Test func rejectsRawDeflateStream() throws {
    let bare = try #require(Base64.decode("y0jNyclXyECQAA=="))
    #expect(throws: RPCError.self) { try Compression.deflate.decompress(bare) }
  }

  @Test(arguments: Compression.allCases)
  func rejectsBytesAfterTheEnd(compression: Compression) throws {
    let bytes = try compression.compress([1, 2, 3]) + [9]
    #expect(throws: RPCError.self) { try compression.decompress(bytes) }
  }

  @Test(arguments: Compression.allCases)
  func concatenatesStreamsIfTheFormatAllowsIt(compression: Compression) throws {
    let two = try compression.compress([1, 2]) + compression.compress([3])
    if [.gzip, .zstd, .snappy].contains(compression) {
      #expect(try compression.decompress(two) == [1, 2, 3])
    } else {
      #expect(throws: RPCError.self) { try compression.decompress(two) }
    }
  }

  @Test(arguments: Compression.allCases)
  func decompressionStopsAtTheLimit(compression: Compression) throws {
    let bomb = try compression.compress([UInt8](repeating: 0, count: 64 << 20))
    // A copy in a snappy block is 3 bytes for at most 64.
    #expect(bomb.count < (compression == .snappy ? 4 : 1) << 20)
    let error = #expect(throws: RPCError.self) { try compression.decompress(bomb, limit: 100_000) }
    #expect(error?.code == .resourceExhausted)
    #expect(error?.message.contains("the limit is 100000") == true)
  }

  @Test(arguments: Compression.allCases)
  func acceptsMessageAtTheLimit(compression: Compression) throws {
    let message = Self.noise(70_000)
    let bytes = try compression.compress(message)
    #expect(try compression.decompress(bytes, limit: 70_000) == message)
    #expect(throws: RPCError.self) { try compression.decompress(bytes, limit: 69_999) }
  }

  /// A zstd frame of one byte that requires a window of 2^exponent bytes (RFC 8878, section 3.1.1).
  @Test(arguments: [(10, true), (23, true), (24, false), (27, false), (31, false)])
  func zstdWindowIsBounded(exponent: UInt8, isAccepted: Bool) throws {
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, (exponent - 10) << 3, 9, 0, 0, 65]
    if isAccepted {
      #expect(try Compression.zstd.decompress(frame, limit: 1000) == [65])
    } else {
      let error = #expect(throws: RPCError.self) { try Compression.zstd.decompress(frame, limit: 1000) }
      #expect(error?.code == .resourceExhausted)
    }
  }
}
