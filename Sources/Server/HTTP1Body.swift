import RPCurlProtocols

/// Decodes the body of a request of HTTP/1.1 (RFC 9112, sections 6 and 7).
struct HTTP1Body {
  private enum State {
    /// Bytes of the content, or of a chunk.
    case bytes(remaining: Int, isChunk: Bool)
    /// The digits of a chunk's size.
    case size(value: Int, digits: Int)
    /// After the size, with what the client adds to it.
    case `extension`
    /// The line feed after a chunk's size.
    case sizeEnd
    /// The carriage return after a chunk, then the line feed.
    case chunkEnd
    case chunkLineFeed
    case trailers(HTTP1Block)
    case end
  }

  /// What was decoded.
  enum Event {
    /// Bytes of the input.
    case bytes(Range<Int>)
    case trailers(Headers)
  }

  /// The most bytes of extensions of all chunks, which have no meaning.
  private static let extensionLimit = 4096
  private var state: State
  private var size = 0
  private var extensionBytes = 0

  /// Makes the decoder for the fields of a request.
  init(_ headers: Headers, _ version: RequestHead.Version, _ limits: ServerLimits) throws(RequestViolation) {
    let encodings = headers.values("transfer-encoding")
    let lengths = headers.values("content-length")
    if !encodings.isEmpty {
      // Both together are the classic way to smuggle a request.
      guard lengths.isEmpty, version == .http1_1 else { throw RequestViolation() }
      guard encodings.count == 1, encodings[0].lowercased() == "chunked" else { throw RequestViolation(501) }
      state = .size(value: 0, digits: 0)
    } else if let length = lengths.first {
      let isNumber =
        (1...15).contains(length.utf8.count) && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
      guard lengths.count == 1, isNumber, let count = Int(length) else { throw RequestViolation() }
      state = count == 0 ? .end : .bytes(remaining: count, isChunk: false)
    } else {
      state = .end
    }
  }

  /// Whether the body is complete.
  var isComplete: Bool {
    if case .end = state { true } else { false }
  }

  /// Decodes up to the next event.
  ///
  /// - Parameters:
  ///   - input: Bytes of the client.
  ///   - position: Where to begin. Moved to what was not read yet.
  /// - Returns: nil at the end of the input, and at the end of the body.
  mutating func next(_ input: RawSpan, _ position: inout Int, _ limits: ServerLimits) throws(RequestViolation)
    -> Event?
  {
    while position < input.byteCount {
      switch state {
      case .end: return nil
      case .bytes(let remaining, let isChunk):
        let range = position..<position + min(remaining, input.byteCount - position)
        position = range.upperBound
        if range.count < remaining {
          state = .bytes(remaining: remaining - range.count, isChunk: isChunk)
        } else {
          state = isChunk ? .chunkEnd : .end
        }
        return .bytes(range)
      case .trailers(var block):
        state = .end
        position += try block.append(input.extracting(position..<input.byteCount), limit: limits.headerBytes)
        state = .trailers(block)
        guard block.isComplete else { return nil }
        state = .end
        return .trailers(try Self.trailers(block, limits))
      default:
        try read(input.unsafeLoad(fromByteOffset: position, as: UInt8.self))
        position += 1
      }
    }
    return nil
  }

  /// Reads a byte between chunks.
  private mutating func read(_ byte: UInt8) throws(RequestViolation) {
    switch (state, byte) {
    case (.size(_, 1...), 0x0D): state = .sizeEnd
    case (.size(_, 1...), UInt8(ascii: ";")), (.size(_, 1...), 0x20), (.size(_, 1...), 0x09):
      state = .extension
    case (.size(let value, let digits), _):
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue, byte < 0x80, digits < 12 else {
        throw RequestViolation()
      }
      size = value << 4 | digit
      state = .size(value: size, digits: digits + 1)
    case (.extension, 0x0D): state = .sizeEnd
    case (.extension, _):
      extensionBytes += 1
      guard FieldRules.isValue(byte), extensionBytes <= Self.extensionLimit else { throw RequestViolation() }
    case (.sizeEnd, 0x0A):
      state = size == 0 ? .trailers(HTTP1Block()) : .bytes(remaining: size, isChunk: true)
    case (.chunkEnd, 0x0D): state = .chunkLineFeed
    case (.chunkLineFeed, 0x0A): state = .size(value: 0, digits: 0)
    default: throw RequestViolation()
    }
  }

  /// The trailers, without those that must not be trailers (RFC 9110, section 6.5.1).
  private static func trailers(_ block: HTTP1Block, _ limits: ServerLimits) throws(RequestViolation)
    -> Headers
  {
    let fields = try block.fields(from: 0, limits: limits)
    let forbidden = RequestHead.connectionFields + ["content-length", "host", "trailer", "te"]
    guard !fields.fields.contains(where: { forbidden.contains($0.name) }) else { throw RequestViolation() }
    return fields
  }
}
