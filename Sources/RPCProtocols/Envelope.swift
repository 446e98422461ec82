import Protobuf

/// The frame of a message in gRPC, gRPC-Web and Connect streams: one byte of flags, four bytes of length
/// (big-endian), then the message.
enum Envelope {
  /// Bytes before the message.
  static let prefixBytes = 5
  /// The flag of a compressed message.
  static let compressed: UInt8 = 0x01

  /// Appends an envelope around `message`.
  static func append(_ message: [UInt8], flags: UInt8 = 0, to body: inout [UInt8]) throws(RPCError) {
    guard let length = UInt32(exactly: message.count) else {
      throw RPCError(
        .resourceExhausted, "a message of \(message.count) bytes does not fit into an envelope (4 GiB)",
        origin: .client)
    }
    body.reserveCapacity(body.count + prefixBytes + message.count)
    body.append(flags)
    for shift in stride(from: 24, through: 0, by: -8) {
      body.append(UInt8(truncatingIfNeeded: length >> UInt32(shift)))
    }
    body.append(contentsOf: message)
  }
}

/// The size limit of an envelope, by its flags.
struct EnvelopeLimits {
  /// The limit in bytes for the last envelope, which holds no message.
  private static let maxEndBytes = 1 << 20

  /// The limit for one message, in bytes.
  let maxMessageBytes: Int
  /// The flag of the envelope that ends the response; `nil` if the protocol has none.
  let endFlag: UInt8?

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
  private let limits: EnvelopeLimits
  /// The beginning of an incomplete envelope: prefix and message.
  private var partial: [UInt8] = []

  init(_ limits: EnvelopeLimits) {
    self.limits = limits
  }

  /// The number of bytes held of an incomplete envelope.
  var pendingBytes: Int { partial.count }

  /// Reads the next piece and calls `body` with the flags and the message of each complete envelope, until it
  /// returns `false`.
  ///
  /// - Returns: The number of bytes of the piece that were not read.
  mutating func read(
    _ piece: RawSpan, _ body: (UInt8, RawSpan) throws(RPCError) -> Bool
  ) throws(RPCError) -> Int {
    var offset = 0
    while offset < piece.byteCount {
      if partial.isEmpty, piece.byteCount - offset >= Envelope.prefixBytes {
        let length = try messageLength(piece, at: offset)
        let start = offset + Envelope.prefixBytes
        if piece.byteCount - start >= length {
          let flags = piece.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
          offset = start + length
          guard try body(flags, piece.extracting(start..<offset)) else { return piece.byteCount - offset }
          continue
        }
      }
      offset += try complete(piece, from: offset)
      if try isComplete {
        let whole = partial
        partial = []
        let flags = whole[0]
        guard try body(flags, whole.span.bytes.extracting(Envelope.prefixBytes..<whole.count)) else {
          return piece.byteCount - offset
        }
      }
    }
    return 0
  }

  /// Appends bytes of the piece to the partial envelope: first up to its prefix, then up to its end.
  private mutating func complete(_ piece: RawSpan, from offset: Int) throws(RPCError) -> Int {
    var wanted = Envelope.prefixBytes - partial.count
    if wanted <= 0 {
      wanted = Envelope.prefixBytes + (try messageLength(partial.span.bytes, at: 0)) - partial.count
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
      throw .messageTooLarge("is \(length) bytes long", limit: limit)
    }
    return length
  }
}

extension RPCError {
  /// The error for a received message over the limit.
  static func messageTooLarge(_ how: String, limit: Int) -> RPCError {
    RPCError(
      .resourceExhausted, "the server sent a message that \(how); the limit is \(limit)", origin: .client)
  }

  /// The error for a server that violates its protocol.
  static func violation(_ code: StatusCode, _ message: String) -> RPCError {
    RPCError(code, message, origin: .violation)
  }
}
