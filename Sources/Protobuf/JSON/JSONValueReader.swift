/// Splits a text that comes in pieces into the JSON values that follow each other in it.
///
/// A value is given out as soon as its last byte is there; a number or a word at the top level, whose end cannot be
/// told from it, when something follows or the text ends. White space between values is optional. What is between
/// the brackets of a value is checked by whoever reads the value.
///
/// ```swift
/// var reader = JSONValueReader()
/// reader.append(chunk)
/// while let value = try reader.next() { … }
/// ```
public struct JSONValueReader: Sendable {
  /// A complete value.
  public struct Item: Sendable, Equatable {
    /// Its text.
    public let json: [UInt8]
    /// Where it starts in the whole text; see ``JSONError/moved(to:)``.
    public let start: JSONPosition
  }

  private enum State {
    case between
    case inBrackets(depth: Int)
    case inString(depth: Int)
    case afterBackslash(depth: Int)
    case inWord
  }

  private var buffer: [UInt8] = []
  /// The start of the value, or of the white space before it, in `buffer`.
  private var start = 0
  /// The first byte that has not been looked at.
  private var scanned = 0
  private var state = State.between
  private var position = JSONPosition()
  private var valueStart = JSONPosition()
  private var isFinished = false
  private let limit: Int

  /// A reader that refuses values longer than `limitBytes`.
  public init(limitBytes: Int = 64 << 20) {
    limit = limitBytes
  }

  /// Adds a piece of the text.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    if start > 0, start >= buffer.count / 2 {
      buffer.removeFirst(start)
      scanned -= start
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Says that the text has ended.
  public mutating func finish() {
    isFinished = true
  }

  /// What is at hand of the text, and where that starts in the whole, to show the surroundings of an error.
  public var held: (text: ArraySlice<UInt8>, byteOffset: Int) {
    (buffer[...], position.byteOffset - scanned)
  }

  /// The next complete value; nil when more text is needed or, after ``finish()``, when there is none.
  public mutating func next() throws(JSONError) -> Item? {
    while scanned < buffer.count {
      let byte = buffer[scanned]
      if let item = try step(byte) { return item }
      if scanned - start > limit { throw failure(.tooLong(limitBytes: limit), at: valueStart) }
    }
    guard isFinished else { return nil }
    switch state {
    case .between: return nil
    case .inWord: return take()
    default: throw failure(.unexpectedEnd, at: position)
    }
  }

  /// Looks at one byte.
  private mutating func step(_ byte: UInt8) throws(JSONError) -> Item? {
    switch state {
    case .between:
      switch byte {
      case 0x20, 0x09, 0x0a, 0x0d:
        advance(byte)
        start = scanned
        return nil
      case UInt8(ascii: "{"), UInt8(ascii: "["): state = .inBrackets(depth: 1)
      case UInt8(ascii: "\""): state = .inString(depth: 0)
      case UInt8(ascii: "-"), 48...57, 65...90, 97...122: state = .inWord
      default: throw failure(.syntax(expected: "a JSON value"), at: position)
      }
      valueStart = position
    case .inWord:
      switch byte {
      case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), 48...57, 65...90, 97...122: break
      default: return take()
      }
    case .inBrackets(let depth):
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): state = .inBrackets(depth: depth + 1)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 1 {
          advance(byte)
          return take()
        }
        state = .inBrackets(depth: depth - 1)
      case UInt8(ascii: "\""): state = .inString(depth: depth)
      default: break
      }
    case .inString(let depth):
      if byte == UInt8(ascii: "\\") { state = .afterBackslash(depth: depth) }
      if byte == UInt8(ascii: "\"") {
        if depth == 0 {
          advance(byte)
          return take()
        }
        state = .inBrackets(depth: depth)
      }
    case .afterBackslash(let depth): state = .inString(depth: depth)
    }
    advance(byte)
    return nil
  }

  private mutating func advance(_ byte: UInt8) {
    scanned += 1
    position.advance(over: byte)
  }

  private mutating func take() -> Item {
    let item = Item(json: Array(buffer[start..<scanned]), start: valueStart)
    start = scanned
    state = .between
    return item
  }

  private func failure(_ reason: JSONError.Reason, at position: JSONPosition) -> JSONError {
    JSONError(
      JSONFailure(reason: reason, offset: 0), in: UnsafeRawBufferPointer(start: nil, count: 0)
    ).moved(to: position)
  }
}
