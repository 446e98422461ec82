import RPCurlProtobuf

/// The frame of a message in gRPC, gRPC-Web and Connect streams: one byte of flags, four bytes of length
/// (big-endian), then the message.
enum Envelope {
  /// Bytes before the message.
  static let prefixBytes = 5
  /// The flag of a compressed message.
  static let compressed: UInt8 = 0x01

  /// Appends an envelope around `message`.
  static func append(_ message: RawSpan, flags: UInt8 = 0, to body: inout [UInt8]) throws(RPCError) {
    guard let length = UInt32(exactly: message.byteCount) else {
      throw RPCError(
        .resourceExhausted, "a message of \(message.byteCount) bytes does not fit into an envelope (4 GiB)",
        origin: .request)
    }
    // Of a body that has some, the array knows better how much it will need.
    if body.isEmpty { body.reserveCapacity(prefixBytes + message.byteCount) }
    let prefix = UInt64(flags) << 56 | UInt64(length) << 24
    withUnsafeBytes(of: prefix.bigEndian) {
      body.append(contentsOf: UnsafeRawBufferPointer(start: $0.baseAddress, count: prefixBytes))
    }
    message.withUnsafeBytes { body.append(contentsOf: $0) }
  }

  /// Appends an envelope around `message`.
  static func append(_ message: [UInt8], flags: UInt8 = 0, to body: inout [UInt8]) throws(RPCError) {
    try append(message.span.bytes, flags: flags, to: &body)
  }
}

/// The side that sends what is received, for error messages.
enum Peer: String {
  case server
  case client
}

/// The size limit of an envelope, by its flags.
struct EnvelopeLimits {
  /// The limit in bytes for the last envelope, which holds no message.
  private static let maxEndBytes = 1 << 20

  /// The limit for one message, in bytes.
  let maxMessageBytes: Int
  /// The flag of the envelope that ends the response; `nil` if the protocol has none.
  let endFlag: UInt8?
  /// The side that sends the envelopes.
  var peer = Peer.server

  /// Whether an envelope with these flags ends the response.
  func isEnd(_ flags: UInt8) -> Bool {
    flags & (endFlag ?? 0) != 0
  }

  /// The limit for an envelope with these flags, before and after decompression.
  func bytes(_ flags: UInt8) -> Int {
    isEnd(flags) ? Self.maxEndBytes : maxMessageBytes
  }
}

/// Splits a stream of bytes, in pieces of any size, into envelopes.
///
/// An envelope that lies within one piece is not copied.
struct EnvelopeReader {
  /// The maximum memory that is reserved for a length that is announced, and kept for the next envelope, in bytes.
  private static let keptBytes = 4 << 20
  /// The maximum number of messages that `plainMessages` finds. Each may take long to check or to print.
  static let mostPlainMessages = 512

  private let limits: EnvelopeLimits
  /// The beginning of an incomplete envelope: prefix and message.
  private var partial: [UInt8] = []

  init(_ limits: EnvelopeLimits) {
    self.limits = limits
  }

  /// The number of bytes held of an incomplete envelope.
  var pendingBytes: Int { partial.count }

  /// Finds the next complete envelopes without flags that follow one another in a piece.
  ///
  /// - Parameters:
  ///   - piece: The next piece of the stream.
  ///   - offset: Where the next envelope starts, in bytes; moved behind those that were found.
  ///   - ranges: Receives the places of their messages. Any other envelope, and one over the limit, is left to `read`.
  func plainMessages(in piece: RawSpan, from offset: inout Int, _ ranges: inout [Range<Int>]) {
    guard partial.isEmpty else { return }
    var next = offset
    while piece.byteCount - next >= Envelope.prefixBytes, ranges.count < Self.mostPlainMessages {
      let start = next + Envelope.prefixBytes
      guard piece.unsafeLoad(fromByteOffset: next, as: UInt8.self) == 0,
        let length = try? messageLength(piece, at: next), piece.byteCount - start >= length
      else { break }
      next = start + length
      ranges.append(start..<next)
    }
    offset = next
  }

  /// Reads the next envelope of a piece, or as much of it as the piece has.
  ///
  /// - Parameters:
  ///   - piece: The next piece of the stream.
  ///   - offset: Where to read, in bytes; moved behind what was read.
  ///   - body: Receives the flags and the message of an envelope that is complete now.
  mutating func read(
    _ piece: RawSpan, from offset: inout Int, _ body: (UInt8, RawSpan) throws(RPCError) -> Void
  ) throws(RPCError) {
    if partial.isEmpty, piece.byteCount - offset >= Envelope.prefixBytes {
      let length = try messageLength(piece, at: offset)
      let start = offset + Envelope.prefixBytes
      if piece.byteCount - start >= length {
        let flags = piece.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        offset = start + length
        return try body(flags, piece.extracting(start..<offset))
      }
    }
    offset += try complete(piece, from: offset)
    guard try isComplete else { return }
    var whole = partial
    partial = []
    try body(whole[0], whole.span.bytes.extracting(Envelope.prefixBytes..<whole.count))
    if whole.capacity <= Self.keptBytes {
      whole.removeAll(keepingCapacity: true)
      partial = whole
    }
  }

  /// Appends bytes of the piece to the partial envelope: first up to its prefix, then up to its end.
  private mutating func complete(_ piece: RawSpan, from offset: Int) throws(RPCError) -> Int {
    var wanted = Envelope.prefixBytes - partial.count
    if wanted <= 0 {
      let length = try messageLength(partial.span.bytes, at: 0)
      partial.reserveCapacity(min(Envelope.prefixBytes + length, Self.keptBytes))
      wanted = Envelope.prefixBytes + length - partial.count
    }
    let taken = min(wanted, piece.byteCount - offset)
    piece.extracting(offset..<(offset + taken)).withUnsafeBytes { partial.append(contentsOf: $0) }
    return taken
  }

  private var isComplete: Bool {
    get throws(RPCError) {
      guard partial.count >= Envelope.prefixBytes else { return false }
      return partial.count == Envelope.prefixBytes + (try messageLength(partial.span.bytes, at: 0))
    }
  }

  /// The length in the prefix at `offset`. Checks it against the limit before anything is allocated.
  private func messageLength(_ bytes: RawSpan, at offset: Int) throws(RPCError) -> Int {
    let length = Int(
      UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + 1, as: UInt32.self)))
    let limit = limits.bytes(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    guard length <= limit else {
      throw .messageTooLarge("is \(length) bytes long", limit: limit, from: limits.peer)
    }
    return length
  }
}

extension RPCError {
  /// The error for a received message over the limit.
  static func messageTooLarge(_ how: String, limit: Int, from peer: Peer = .server) -> RPCError {
    RPCError(
      .resourceExhausted, "the \(peer.rawValue) sent a message that \(how); the limit is \(limit)",
      origin: .client)
  }

  /// The error for a server or a client that violates its protocol.
  static func violation(_ code: StatusCode, _ message: String) -> RPCError {
    RPCError(code, message, origin: .violation)
  }
}
