import Protobuf

/// Compresses the messages of one call. The library is loaded for the first of them.
struct MessageCompressor {
  /// The form that messages take; `nil` leaves them as they are.
  let compression: Compression?
  private var stream: CompressionStream?

  init(_ compression: Compression?) {
    self.compression = compression
  }

  /// The message as it travels.
  mutating func compress(_ message: [UInt8]) throws(RPCError) -> [UInt8] {
    guard let compression else { return message }
    let stream = try CompressionStream.kept(in: &stream, compression, .encode)
    do throws(CompressionStream.Failure) {
      return try stream.run(message.span.bytes, limit: .max)
    } catch {
      throw RPCError(
        .internal, "\(compression.rawValue) cannot compress the message: out of memory", origin: .client)
    }
  }
}

/// Decompresses the messages of one call. The library is loaded for the first of them.
struct MessageDecompressor {
  /// The form that messages were announced in.
  let compression: Compression
  private var stream: CompressionStream?

  init(_ compression: Compression) {
    self.compression = compression
  }

  /// The message as it was before compression. No more than `limit` bytes of it are made, and a block.
  mutating func decompress(_ message: RawSpan, limit: Int) throws(RPCError) -> [UInt8] {
    // Nothing needs no format around it: connect-go sends an empty message as no bytes at all.
    guard message.byteCount > 0 else { return [] }
    let stream = try CompressionStream.kept(in: &stream, compression, .decode, expectedBytes: limit)
    do throws(CompressionStream.Failure) {
      return try stream.run(message, limit: limit)
    } catch {
      switch error {
      case .corrupt:
        throw .violation(.internal, "the server sent a message that is not valid \(compression.rawValue)")
      case .tooLarge:
        throw .messageTooLarge("decompresses to more than the limit allows", limit: limit)
      case .exhausted:
        throw RPCError(
          .internal, "\(compression.rawValue) cannot decompress the message: out of memory", origin: .client)
      }
    }
  }
}

extension CompressionStream {
  /// The codec in `place`; when there is none yet, its library is loaded and one is made.
  fileprivate static func kept(
    in place: inout CompressionStream?, _ compression: Compression, _ direction: Direction,
    expectedBytes: Int = 0
  ) throws(RPCError) -> CompressionStream {
    if let stream = place { return stream }
    if let reason = load(compression, direction) {
      throw RPCError(.internal, "there is no \(compression.rawValue) here: \(reason)", origin: .client)
    }
    guard let stream = CompressionStream(compression, direction, expectedBytes: expectedBytes) else {
      throw RPCError(.internal, "\(compression.rawValue) has no memory", origin: .client)
    }
    place = stream
    return stream
  }
}
