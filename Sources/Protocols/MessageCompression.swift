import RPCurlProtobuf

/// Compresses the messages of one call. The first message loads the library.
struct MessageCompressor {
  /// The compression; `nil` sends messages uncompressed.
  let compression: Compression?
  private var stream: CompressionStream?

  init(_ compression: Compression?) {
    self.compression = compression
  }

  /// The message in its form on the wire.
  mutating func compress(_ message: [UInt8]) throws(RPCError) -> [UInt8] {
    guard let compression else { return message }
    let stream = try CompressionStream.kept(in: &stream, compression, .encode)
    var output: [UInt8] = []
    guard stream.run(message.span.bytes, limit: .max, into: &output) == nil else {
      throw RPCError(
        .internal, "\(compression.rawValue) cannot compress the message: out of memory", origin: .client)
    }
    return output
  }
}

/// Decompresses the messages of one call. The first message loads the library.
struct MessageDecompressor {
  /// The compression that the headers name.
  let compression: Compression
  private let peer: Peer
  private var stream: CompressionStream?

  init(_ compression: Compression, from peer: Peer = .server) {
    self.compression = compression
    self.peer = peer
  }

  /// The decompressed message. Produces at most `limit` bytes plus one block.
  mutating func decompress(_ message: RawSpan, limit: Int) throws(RPCError) -> [UInt8] {
    // An empty message needs no format: connect-go sends it as no bytes.
    guard message.byteCount > 0 else { return [] }
    let stream = try CompressionStream.kept(in: &stream, compression, .decode, expectedBytes: limit)
    var output: [UInt8] = []
    switch stream.run(message, limit: limit, into: &output) {
    case nil: return output
    case .corrupt:
      throw .violation(
        .internal, "the \(peer.rawValue) sent a message that is not valid \(compression.rawValue)")
    case .tooLarge:
      throw .messageTooLarge("decompresses to more than the limit allows", limit: limit, from: peer)
    case .exhausted:
      throw RPCError(
        .internal, "\(compression.rawValue) cannot decompress the message: out of memory", origin: .client)
    }
  }
}

extension Compression {
  /// Decompresses `bytes`, to at most `limitBytes` plus one block.
  package func decompress(_ bytes: [UInt8], limitBytes: Int) throws(RPCError) -> [UInt8] {
    var decompressor = MessageDecompressor(self)
    return try decompressor.decompress(bytes.span.bytes, limit: limitBytes)
  }

  /// Decompresses the stream at the start of `bytes`, which anything may follow; nil if there is none, or if it has more than
  /// `limitBytes`.
  package func decompressFirst(_ bytes: UnsafeRawBufferPointer, limitBytes: Int) -> [UInt8]? {
    guard let stream = try? CompressionStream.make(self, .decode) else { return nil }
    let span = bytes.bytes
    var (place, output) = (0, [UInt8]())
    while output.count <= limitBytes {
      let before = (place, output.count)
      guard stream.decodePart(of: span, from: &place, into: &output) == nil else { return nil }
      if stream.isComplete { return output }
      guard before != (place, output.count) else { return nil }
    }
    return nil
  }
}

extension CompressionStream {
  /// The codec in `place`. If there is none, loads its library and makes one.
  fileprivate static func kept(
    in place: inout CompressionStream?, _ compression: Compression, _ direction: Direction,
    expectedBytes: Int = 0
  ) throws(RPCError) -> CompressionStream {
    if let stream = place { return stream }
    let stream = try make(compression, direction, expectedBytes: expectedBytes)
    place = stream
    return stream
  }

  /// A codec, after its library was loaded.
  static func make(
    _ compression: Compression, _ direction: Direction, expectedBytes: Int = 0
  ) throws(RPCError) -> CompressionStream {
    if let reason = load(compression, direction) {
      throw RPCError(.internal, "\(compression.rawValue) is not available: \(reason)", origin: .client)
    }
    guard let stream = CompressionStream(compression, direction, expectedBytes: expectedBytes) else {
      throw RPCError(.internal, "\(compression.rawValue): out of memory", origin: .client)
    }
    return stream
  }
}
