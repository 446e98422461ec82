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
  package mutating func next() throws(MessageParseError) -> Piece? {
    if framing == .values, !boundaries.isInsideValue, try !findValue() { return nil }
    var end = start
    var range = try boundary(from: &end, isLast: isFinished && framing != .values)
    if range == nil, isFinished, framing == .values {
      guard boundaries.mayValueEnd else {
        throw failure(.unexpectedEnd, at: position(of: buffer.count))
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
  private mutating func findValue() throws(MessageParseError) -> Bool {
    let first = buffer[start...].firstIndex { !MessageBoundaries.isSpace($0) }
    advance(to: first ?? buffer.count)
    guard let first else { return false }
    switch buffer[first] {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "$"), UInt8(ascii: "-"),
      48...57, 65...90, 97...122:
      return true
    case 0xEF...0xFF where position.byteOffset == 0: return try skipMark()
    default: throw failure(.syntax(expected: "a JSON value"), at: position)
    }
  }

  /// Skips a byte order mark at the start of the data, and finds the first value. The mark has no column.
  private mutating func skipMark() throws(MessageParseError) -> Bool {
    switch ByteOrderMark(buffer[start...], isLast: isFinished) {
    case .none: throw failure(.syntax(expected: "a JSON value"), at: position)
    case .utf16: throw failure(.utf16, at: position)
    case .incomplete: return false
    case .utf8:
      start += ByteOrderMark.count
      position.byteOffset = ByteOrderMark.count
      return try findValue()
    }
  }

  private mutating func boundary(from index: inout Int, isLast: Bool) throws(MessageParseError) -> Range<Int>?
  {
    // A copy, because the closure has exclusive access to `buffer`.
    var boundaries = boundaries
    defer { self.boundaries = boundaries }
    do throws(MessageParseError) {
      return try buffer.withRawBytes { (bytes) throws(MessageParseError) in
        try boundaries.next(in: bytes, from: &index, isLast: isLast)
      }
    } catch {
      throw error.moved(to: position)
    }
  }

  private func failure(_ reason: MessageParseError.Reason, at position: TextPosition) -> MessageParseError {
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
