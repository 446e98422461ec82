/// How messages follow each other in a file or a stream.
package enum MessageFraming: Sendable, Equatable {
  /// JSON values, with or without white space between them.
  case values
  /// One message per line.
  case lines
  /// Each message after its length, a varint.
  case delimited
  /// One message, which may be empty.
  case whole
  /// Pieces of this size in bytes; the last one may be smaller.
  case pieces(Int)
}

extension MessageFraming {
  /// Whether positions in the data have lines.
  var hasLines: Bool {
    switch self {
    case .values, .lines, .whole: true
    case .delimited, .pieces: false
    }
  }

  /// The format of messages that follow each other in this way, for errors.
  fileprivate var format: MessageFormat {
    switch self {
    case .values: .json
    case .lines: .text
    case .whole, .delimited, .pieces: .binary
    }
  }
}

/// Finds consecutive messages in data that arrives in pieces. The caller stores the data.
struct MessageBoundaries: Sendable {
  let framing: MessageFraming
  let limitBytes: Int
  /// The number of bytes from the start of the next message on that have been scanned.
  private var scanned = 0
  private var value = JSONValueBoundary()
  /// Whether the only message of `whole` was found.
  private var isDone = false

  init(_ framing: MessageFraming, limitBytes: Int) {
    self.framing = framing
    self.limitBytes = limitBytes
  }

  /// Whether a JSON value has begun.
  var isInsideValue: Bool { value.isInside }
  /// Whether a string of a JSON value has begun and has no end.
  var isInsideString: Bool { value.isInString }
  /// Whether a JSON value may end with the scanned data: a number or a word has no end of its own.
  var mayValueEnd: Bool { value.mayEndHere }

  /// The error for the next message, as if the data began with it.
  private func failure(_ reason: MessageParseError.Reason) -> MessageParseError {
    MessageParseError(reason, format: framing.format)
  }

  /// Finds the next message, and moves `start` to the first byte that is still needed, where the next call continues.
  ///
  /// If `isLast`, an incomplete JSON value is returned too: the parser reports the place.
  ///
  /// - Returns: The message without its framing. Nil if more data is needed or, if `isLast`, if there are no more
  ///   messages.
  mutating func next(
    in bytes: UnsafeRawBufferPointer, from start: inout Int, isLast: Bool
  ) throws(MessageParseError) -> Range<Int>? {
    switch framing {
    case .values:
      if !value.isInside {
        while start < bytes.count, Self.isSpace(bytes[start]) { start += 1 }
        if start == bytes.count { return nil }
      }
      let end = value.end(of: bytes, from: start + scanned)
      if end == nil, isLast { value = JSONValueBoundary() }
      return try message(from: &start, to: end ?? (isLast ? bytes.count : nil), in: bytes)
    case .lines:
      let end = bytes[(start + scanned)...].firstIndex(of: 10)
      let isRest = isLast && start < bytes.count
      let line = try message(from: &start, to: end ?? (isRest ? bytes.count : nil), in: bytes)
      if end != nil { start += 1 }
      return line
    case .delimited: return try delimited(in: bytes, from: &start, isLast: isLast)
    case .whole:
      if isDone { return nil }
      isDone = isLast
      return try message(from: &start, to: isLast ? bytes.count : nil, in: bytes)
    case .pieces(let size):
      let isWhole = bytes.count - start >= size
      guard isWhole || isLast && bytes.count > start else { return nil }
      return try message(from: &start, to: isWhole ? start + size : bytes.count, in: bytes)
    }
  }

  /// The message that ends at `end`; nil without an end.
  private mutating func message(
    from start: inout Int, to end: Int?, in bytes: UnsafeRawBufferPointer
  ) throws(MessageParseError) -> Range<Int>? {
    guard (end ?? bytes.count) - start <= limitBytes else { throw failure(.tooLong(limitBytes: limitBytes)) }
    guard let end else {
      scanned = bytes.count - start
      return nil
    }
    scanned = 0
    defer { start = end }
    return start..<end
  }

  private func delimited(
    in bytes: UnsafeRawBufferPointer, from start: inout Int, isLast: Bool
  ) throws(MessageParseError) -> Range<Int>? {
    if start == bytes.count { return nil }
    var reader = WireReader(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    let length: UInt64
    do throws(DecodeError) { length = try reader.varint() } catch {
      guard error.reason == .truncated, bytes.count - start < 5 else {
        throw failure(.syntax(expected: "the length of a message"))
      }
      if isLast { throw failure(.unexpectedEnd) }
      return nil
    }
    guard reader.offset <= 5 else { throw failure(.syntax(expected: "the length of a message")) }
    guard length <= UInt64(limitBytes) else { throw failure(.tooLong(limitBytes: limitBytes)) }
    guard length <= UInt64(reader.remaining) else {
      if isLast { throw failure(.unexpectedEnd) }
      return nil
    }
    let first = start + reader.offset
    start = first + Int(length)
    return first..<start
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }
}
