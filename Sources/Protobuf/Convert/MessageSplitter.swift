/// Splits data that arrives in pieces into consecutive messages.
///
/// A message is returned as soon as its last byte is available; a number or a word of JSON, which has no end of its
/// own, when something follows or the data ends. The parser of a JSON value checks what is inside its brackets.
/// A byte order mark of UTF-8 before the first JSON value is skipped (RFC 8259, section 8.1).
///
/// ```swift
/// var splitter = MessageSplitter(.values)
/// splitter.append(chunk)
/// while let message = try splitter.next() { … }
/// ```
package struct MessageSplitter: Sendable {
  /// The longest message that is accepted unless another limit is given, in bytes.
  package static let defaultLimitBytes = 64 << 20

  /// An undecoded message.
  package struct Piece: Sendable, Equatable {
    /// The message without its framing.
    package let bytes: [UInt8]
    /// Its position in the data; see ``MessageParseError/moved(to:)``. Binary messages are all on line 1.
    package let start: TextPosition
  }

  private var buffer: [UInt8] = []
  /// The first byte of `buffer` that is still needed, and its position in the data.
  private var start = 0
  private var position = TextPosition()
  private var boundaries: MessageBoundaries
  /// Whether the data has ended.
  package private(set) var isFinished = false

  /// Makes a splitter that rejects messages longer than `limitBytes`.
  package init(_ framing: MessageFraming, limitBytes: Int = defaultLimitBytes) {
    boundaries = MessageBoundaries(framing, limitBytes: limitBytes)
  }

  /// How the messages follow each other.
  package var framing: MessageFraming { boundaries.framing }

  /// Adds a piece of the data.
  @inlinable
  package mutating func append(_ bytes: some Sequence<UInt8>) { append(Array(bytes)) }

  /// Adds a piece of the data.
  package mutating func append(_ bytes: [UInt8]) {
    if start > 0, start >= buffer.count / 2 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Marks the end of the data.
  package mutating func finish() {
    isFinished = true
  }

  /// The available part of the data and its offset in the whole, to show the surroundings of an error.
  package var held: (text: ArraySlice<UInt8>, byteOffset: Int) {
    (buffer[...], position.byteOffset - start)
  }

  /// Whether a string of a JSON value has begun and has no end yet.
  package var isInsideString: Bool { boundaries.isInsideString }

  /// The number of bytes after the last returned message.
  package var unreadCount: Int { buffer.count - start }

  /// The next complete message; nil if more data is needed or, after ``finish()``, if there are no more.
  package mutating func next() throws(SplitError) -> Piece? {
    if framing == .values, !boundaries.isInsideValue, try !findValue() { return nil }
    var end = start
    var range = try boundary(from: &end, isLast: isFinished && framing != .values)
    if range == nil, isFinished, framing == .values {
      guard boundaries.mayValueEnd else {
        throw .json(jsonError(.unexpectedEnd, at: position(of: buffer.count)))
      }
      range = try boundary(from: &end, isLast: true)
    }
    guard let range else { return nil }
    let piece = Piece(bytes: Array(buffer[range]), start: position(of: range.lowerBound))
    advance(to: end)
    return piece
  }

  /// Drops the data that is available.
  package mutating func drop() {
    advance(to: buffer.count)
    boundaries = MessageBoundaries(framing, limitBytes: boundaries.limitBytes)
  }

  /// Skips to the start of the next JSON value; false if it is not available yet.
  private mutating func findValue() throws(SplitError) -> Bool {
    let first = buffer[start...].firstIndex { !MessageBoundaries.isSpace($0) }
    advance(to: first ?? buffer.count)
    guard let first else { return false }
    switch buffer[first] {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "$"), UInt8(ascii: "-"),
      48...57, 65...90, 97...122:
      return true
    case 0xEF...0xFF where position.byteOffset == 0: return try skipMark()
    default: throw .json(jsonError(.syntax(expected: "a JSON value"), at: position))
    }
  }

  /// Skips a byte order mark at the start of the data, and finds the first value. The mark has no column.
  private mutating func skipMark() throws(SplitError) -> Bool {
    switch ByteOrderMark(buffer[start...], isLast: isFinished) {
    case .none: throw .json(jsonError(.syntax(expected: "a JSON value"), at: position))
    case .utf16: throw .utf16
    case .incomplete: return false
    case .utf8:
      start += ByteOrderMark.count
      position.byteOffset = ByteOrderMark.count
      return try findValue()
    }
  }

  private mutating func boundary(from index: inout Int, isLast: Bool) throws(SplitError) -> Range<Int>? {
    // A copy, because the closure has exclusive access to `buffer`.
    var boundaries = boundaries
    defer { self.boundaries = boundaries }
    do throws(MessageBoundaries.Problem) {
      return try buffer.withRawBytes { (bytes) throws(MessageBoundaries.Problem) in
        try boundaries.next(in: bytes, from: &index, isLast: isLast)
      }
    } catch {
      let limit = boundaries.limitBytes
      switch error {
      case .tooLong where framing == .values:
        throw .json(jsonError(.tooLong(limitBytes: limit), at: position))
      case .tooLong: throw .tooLong(limitBytes: limit, framing, position)
      case .invalidLength: throw .invalidLength(byteOffset: position.byteOffset)
      case .truncated: throw .truncated(byteOffset: position.byteOffset)
      }
    }
  }

  private func jsonError(_ reason: MessageParseError.Reason, at position: TextPosition) -> MessageParseError {
    MessageParseError(reason, at: position, format: .json)
  }

  private mutating func advance(to end: Int) {
    position = position(of: end)
    start = end
  }

  /// The position in the data of a byte of `buffer` that is still needed.
  private func position(of index: Int) -> TextPosition {
    var position = position
    if !framing.hasLines {
      position.byteOffset += index - start
    } else {
      buffer.withUnsafeBytes { position.advance(over: UnsafeRawBufferPointer(rebasing: $0[start..<index])) }
    }
    return position
  }
}

/// Why data cannot be split into messages.
package enum SplitError: Error, Equatable, Sendable {
  /// No JSON value: an invalid start, no end, or too long.
  case json(MessageParseError)
  /// A message that is longer than the limit.
  case tooLong(limitBytes: Int, MessageFraming, TextPosition)
  /// An invalid length of a message.
  case invalidLength(byteOffset: Int)
  /// The data ends within a message or its length.
  case truncated(byteOffset: Int)
  /// JSON that begins with a byte order mark of UTF-16.
  case utf16
}

extension SplitError: CustomStringConvertible {
  /// The error message.
  package var description: String {
    switch self {
    case .json(let error): error.description
    case .tooLong(let limit, .lines, let position): "line \(position.line) is longer than \(limit) bytes"
    case .tooLong(let limit, .delimited, let position):
      "the message is longer than \(limit) bytes (byte \(position.byteOffset))"
    case .tooLong(let limit, _, _): "the message is longer than \(limit) bytes"
    case .invalidLength(let offset): "invalid message length at byte \(offset)"
    case .truncated(let offset): "the data ends within the message (byte \(offset))"
    case .utf16: "the data is UTF-16"
    }
  }

  /// A suggestion, if there is one.
  package var hint: String? {
    switch self {
    case .json(let error): error.hint
    case .invalidLength: "in a stream of binary messages, a varint length precedes each message"
    case .utf16: "convert it with \"iconv -f UTF-16 -t UTF-8\""
    default: nil
    }
  }

  /// Whether a message or a value is longer than the limit.
  package var isTooLong: Bool {
    switch self {
    case .tooLong: true
    case .json(let error): if case .tooLong = error.reason { true } else { false }
    default: false
    }
  }

  /// The position of the error, if the data has lines.
  package var position: TextPosition? {
    switch self {
    case .json(let error): error.position
    case .tooLong(_, .lines, let position): position
    default: nil
    }
  }
}
