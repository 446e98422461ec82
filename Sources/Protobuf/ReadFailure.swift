/// An error of a parser of JSON or text format. When it leaves the parser, it becomes a ``MessageParseError``
/// with its line and path.
struct ReadFailure: Error {
  let reason: MessageParseError.Reason
  let offset: Int
  /// The path, innermost part first.
  var path: [String] = []

  func inside(_ part: String) -> ReadFailure {
    var failure = self
    failure.path.append(part)
    return failure
  }

  /// The position in the parsed text.
  func position(in text: UnsafeRawBufferPointer) -> TextPosition {
    var position = TextPosition()
    position.advance(over: UnsafeRawBufferPointer(rebasing: text[..<min(offset, text.count)]))
    return position
  }

  /// The path of the field: `user.addresses[2].city`.
  var fieldPath: String {
    path.reversed().reduce(into: "") { path, part in
      if !path.isEmpty, !part.hasPrefix("[") { path += "." }
      path += part
    }
  }
}

/// A position in a text from which tokens are read.
protocol TokenScanner {
  var start: UnsafePointer<UInt8> { get }
  var cursor: UnsafePointer<UInt8> { get set }
  var end: UnsafePointer<UInt8> { get }

  /// Skips white space, and comments of a format that has them.
  mutating func skipSpace()

  /// The first byte of the next token; 0 at the end.
  mutating func peek() -> UInt8
}

extension TokenScanner {
  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: end - start) }

  @inline(__always)
  var position: Int {
    get { cursor - start }
    set { cursor = start + newValue }
  }

  @inline(__always)
  mutating func peek() -> UInt8 {
    skipSpace()
    return cursor < end ? cursor.pointee : 0
  }

  @inline(__always)
  mutating func accept(_ byte: UInt8) -> Bool {
    guard peek() == byte, byte != 0 || cursor < end else { return false }
    cursor += 1
    return true
  }

  /// Reads a word, if present.
  @inline(__always)
  mutating func acceptWord(_ word: StaticString) -> Bool {
    skipSpace()
    let count = word.utf8CodeUnitCount
    guard end - cursor >= count, Words.areEqual(cursor, word.utf8Start, count: count) else { return false }
    // `nullable` is not null.
    if end - cursor > count, isWordByte(cursor[count]) { return false }
    cursor += count
    return true
  }

  /// Reads a number in plain notation; nil, with nothing read, for others.
  @inline(__always)
  mutating func plainDouble() -> Double? {
    var place = cursor
    guard place < end else { return nil }
    let isNegative = place.pointee == UInt8(ascii: "-")
    if isNegative { place += 1 }
    guard let (value, after) = DecimalReader.double(place, end), after < end,
      DecimalReader.isEnd(after.pointee)
    else { return nil }
    cursor = after
    return isNegative ? -value : value
  }

  @inline(__always)
  func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "_"): true
    default: false
    }
  }

  func failure(_ reason: MessageParseError.Reason) -> ReadFailure { failure(reason, at: position) }

  func failure(_ reason: MessageParseError.Reason, at offset: Int) -> ReadFailure {
    ReadFailure(reason: reason, offset: offset)
  }

  /// The error for a missing `expected`, or for the end of the text.
  func expected(_ what: String) -> ReadFailure {
    failure(position >= bytes.count ? .unexpectedEnd : .syntax(expected: what))
  }

  /// The error for a value other than `expected` at the next token, or for the end of the text.
  func wrongType(_ expected: String) -> ReadFailure { wrongType(expected, at: position) }

  func wrongType(_ expected: String, at offset: Int) -> ReadFailure {
    failure(offset >= bytes.count ? .unexpectedEnd : .wrongType(expected: expected), at: offset)
  }
}
