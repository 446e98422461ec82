import RPCurlCCompression
import RPCurlProtobuf

/// A codec of one of the system's compression libraries. It contains all unsafe code around them.
///
/// It works in memory and is reused for each message.
final class CompressionStream {
  enum Direction {
    case encode
    case decode
  }

  /// Why a run failed.
  enum Failure {
    /// The input is not in the format, or ends in the middle.
    case corrupt
    /// The output is larger than the limit.
    case tooLarge
    /// The library is out of memory.
    case exhausted
  }

  /// Bytes by which the output may grow beyond the known need.
  private static let blockBytes = 64 << 10

  private let codec: OpaquePointer
  private let compression: Compression
  private var isUsed = false
  /// Whether the last part of a stream filled its block, so that there may be more without further input.
  private var hasMore = false
  /// Whether a stream that is decoded in parts is complete.
  private(set) var isComplete = false

  /// Loads the library. Returns the reason if that fails.
  static func load(_ compression: Compression, _ direction: Direction) -> String? {
    ccompression_load(compression.format, direction.value).map { String(cString: $0) }
  }

  /// Whether the library is part of the program or installed beside the C library. It is not loaded.
  static func isInstalled(_ compression: Compression, _ direction: Direction) -> Bool {
    ccompression_is_installed(compression.format, direction.value)
  }

  /// Makes a codec; `nil` when out of memory. Its library must be loaded.
  init?(_ compression: Compression, _ direction: Direction, expectedBytes: Int) {
    guard let codec = ccompression_create(compression.format, direction.value, expectedBytes) else {
      return nil
    }
    self.codec = codec
    self.compression = compression
  }

  deinit {
    ccompression_destroy(codec)
  }

  /// Runs the whole of `input` through the codec. The output grows block by block, and stays below `limit`
  /// plus one block. Returns why that failed.
  func run(_ input: RawSpan, limit: Int, into output: inout [UInt8]) -> Failure? {
    input.withUnsafeBytes { run($0, limit: limit, into: &output) }
  }

  private func run(
    _ input: UnsafeRawBufferPointer, limit: Int, into output: inout [UInt8]
  ) -> Failure? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.blockBytes) { block in
      var buffers = ccompression_buffers()
      buffers.input = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
      buffers.input_count = input.count
      guard reset() else { return .exhausted }
      while true {
        buffers.output = block.baseAddress
        buffers.output_count = block.count
        let result = ccompression_step(codec, &buffers)
        let count = block.count - buffers.output_count
        guard output.count + count <= limit else { return .tooLarge }
        output.reserve(count, limit: limit)
        output.append(contentsOf: block[..<count])
        switch result {
        case CCOMPRESSION_DONE:
          guard buffers.input_count > 0 else { return nil }
          guard compression.concatenates else { return .corrupt }
          guard reset() else { return .exhausted }
        case CCOMPRESSION_MORE:
          // A step stops for lack of input or of room. There was room, so the input is incomplete.
          if buffers.output_count > 0, buffers.input_count == 0 { return .corrupt }
        case CCOMPRESSION_CORRUPT: return .corrupt
        case CCOMPRESSION_TOO_LARGE: return .tooLarge
        default: return .exhausted
        }
      }
    }
  }

  /// Decodes the next part of a stream, to at most one block. Returns why that failed.
  ///
  /// - Parameters:
  ///   - input: A piece of the stream.
  ///   - place: Where the part starts, in bytes; moved to its end.
  ///   - output: Receives the part.
  func decodePart(of input: RawSpan, from place: inout Int, into output: inout [UInt8]) -> Failure? {
    guard place < input.byteCount || hasMore else { return nil }
    let start = place
    let failure = input.withUnsafeBytes { decodePart(of: $0, from: &place, into: &output) }
    return failure ?? (place > start || !output.isEmpty || start == input.byteCount ? nil : .corrupt)
  }

  private func decodePart(
    of input: UnsafeRawBufferPointer, from place: inout Int, into output: inout [UInt8]
  ) -> Failure? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.blockBytes) { block in
      isUsed = true
      if isComplete {
        guard compression.concatenates else { return .corrupt }
        guard reset() else { return .exhausted }
        isComplete = false
      }
      var buffers = ccompression_buffers()
      buffers.input = input.baseAddress?.advanced(by: place).assumingMemoryBound(to: UInt8.self)
      buffers.input_count = input.count - place
      buffers.output = block.baseAddress
      buffers.output_count = block.count
      let result = ccompression_step(codec, &buffers)
      place = input.count - buffers.input_count
      output.append(contentsOf: block[..<(block.count - buffers.output_count)])
      hasMore = result == CCOMPRESSION_MORE && buffers.output_count == 0
      isComplete = result == CCOMPRESSION_DONE
      switch result {
      case CCOMPRESSION_DONE, CCOMPRESSION_MORE: return nil
      case CCOMPRESSION_CORRUPT: return .corrupt
      case CCOMPRESSION_TOO_LARGE: return .tooLarge
      default: return .exhausted
      }
    }
  }

  /// Resets for the next stream; the first one needs no reset.
  private func reset() -> Bool {
    defer { isUsed = true }
    return !isUsed || ccompression_reset(codec) == CCOMPRESSION_MORE
  }
}

extension [UInt8] {
  /// Reserves room for `more` bytes by doubling, up to `limit` in total.
  fileprivate mutating func reserve(_ more: Int, limit: Int) {
    guard count + more > capacity else { return }
    reserveCapacity(Swift.min(Swift.max(count + more, capacity * 2), limit))
  }
}

extension Compression {
  fileprivate var format: ccompression_format {
    switch self {
    case .gzip: CCOMPRESSION_GZIP
    case .deflate: CCOMPRESSION_ZLIB
    case .br: CCOMPRESSION_BROTLI
    case .zstd: CCOMPRESSION_ZSTD
    case .snappy: CCOMPRESSION_SNAPPY
    }
  }

  /// Whether consecutive compressed streams form one (RFC 1952, section 2.2; RFC 8878, section 3).
  fileprivate var concatenates: Bool { self == .gzip || self == .zstd }
}

extension CompressionStream.Direction {
  fileprivate var value: ccompression_direction {
    switch self {
    case .encode: CCOMPRESSION_ENCODE
    case .decode: CCOMPRESSION_DECODE
    }
  }
}
