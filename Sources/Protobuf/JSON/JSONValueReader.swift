/// Splits a text that arrives in pieces into its consecutive JSON values.
///
/// A value is returned as soon as its last byte is available; a number or a word at the top level, which has
/// no end of its own, when something follows or the text ends. White space between values is optional. The
/// parser of a value checks what is inside its brackets.
///
/// ```swift
/// var reader = JSONValueReader()
/// reader.append(chunk)
/// while let value = try reader.next() { … }
/// ```
package struct JSONValueReader: Sendable {
  /// A complete value.
  package struct Item: Sendable, Equatable {
    /// Its text.
    package let json: [UInt8]
    /// Its position in the whole text; see ``JSONError/moved(to:)``.
    package let start: JSONPosition
  }

  private var buffer: [UInt8] = []
  /// The start of the value, or of the white space before it, in `buffer`.
  private var start = 0
  /// The first byte that was not scanned.
  private var scanned = 0
  private var splitter = JSONSplitter()
  /// The position of `scanned`.
  private var position = JSONPosition()
  private var valueStart = JSONPosition()
  private var isFinished = false
  private let limit: Int

  /// Makes a reader that rejects values longer than `limitBytes`.
  package init(limitBytes: Int = 64 << 20) {
    limit = limitBytes
  }

  /// Adds a piece of the text.
  package mutating func append(_ bytes: some Sequence<UInt8>) {
    if start > 0, start >= buffer.count / 2 {
      buffer.removeFirst(start)
      scanned -= start
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Marks the end of the text.
  package mutating func finish() {
    isFinished = true
  }

  /// The available part of the text and its offset in the whole, to show the surroundings of an error.
  package var held: (text: ArraySlice<UInt8>, byteOffset: Int) {
    (buffer[...], position.byteOffset - scanned)
  }

  /// The number of bytes after the last returned value.
  package var unreadCount: Int { buffer.count - scanned }

  /// The next complete value; nil if more text is needed or, after ``finish()``, if there is none.
  package mutating func next() throws(JSONError) -> Item? {
    if !splitter.isInside, try !begin() { return nil }
    let end = endOfValue()
    advance(to: end ?? buffer.count)
    if scanned - start > limit { throw failure(.tooLong(limitBytes: limit), at: valueStart) }
    if end != nil { return take() }
    guard isFinished else { return nil }
    guard splitter.mayEndHere else { throw failure(.unexpectedEnd, at: position) }
    splitter = JSONSplitter()
    return take()
  }

  /// Skips to the start of the next value; false if it is not available yet.
  private mutating func begin() throws(JSONError) -> Bool {
    let first = buffer[scanned...].firstIndex { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    advance(to: first ?? buffer.count)
    start = scanned
    valueStart = position
    guard let first else { return false }
    switch buffer[first] {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"), 48...57, 65...90,
      97...122:
      return true
    default: throw failure(.syntax(expected: "a JSON value"), at: position)
    }
  }

  private mutating func endOfValue() -> Int? {
    var splitter = splitter
    let end = buffer.withUnsafeBytes { splitter.end(of: $0, from: scanned) }
    self.splitter = splitter
    return end
  }

  private mutating func advance(to end: Int) {
    buffer.withUnsafeBytes { position.advance(over: UnsafeRawBufferPointer(rebasing: $0[scanned..<end])) }
    scanned = end
  }

  private mutating func take() -> Item {
    let item = Item(json: Array(buffer[start..<scanned]), start: valueStart)
    start = scanned
    return item
  }

  private func failure(_ reason: JSONError.Reason, at position: JSONPosition) -> JSONError {
    JSONError(
      JSONFailure(reason: reason, offset: 0), in: UnsafeRawBufferPointer(start: nil, count: 0)
    ).moved(to: position)
  }
}
