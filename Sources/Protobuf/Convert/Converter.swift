/// Converts messages of one type from one format to another, from input that arrives in pieces.
///
/// It keeps at most one incomplete message of a stream, and converts one at a time. Memory is at most 100
/// times the message's length plus three times that of the output.
///
/// ```swift
/// var converter = Converter(type, options: ConversionOptions(from: .binary, to: .json, isDelimited: true))
/// while let chunk = read() {
///   try converter.convert(chunk.span.bytes, into: &output)
///   output.withBytes { write($0) }
///   output.removeAll()
/// }
/// try converter.finish(into: &output)
/// ```
package struct Converter: Sendable {
  /// The number of bytes on each side of an error in `surroundings`.
  private static let surroundingBytes = 512

  private let options: ConversionOptions
  private let codec: MessageConverter
  /// The bytes of the incomplete message.
  private var pending: [UInt8] = []
  private var boundaries: MessageBoundaries
  /// The position of `pending` in the whole input.
  private var position = TextPosition()
  private var count = 0
  /// Whether the start of the input was read, which may be a byte order mark.
  private var hasBegun = false
  /// Whether JSON was written with replacement characters (U+FFFD) for a string that is not UTF-8.
  package private(set) var hasRepairedText = false

  /// Makes a converter for messages of a type.
  package init(_ type: MessageType, options: ConversionOptions) {
    self.options = options
    codec = MessageConverter(type, options)
    boundaries = MessageBoundaries(
      options.framing, limitBytes: options.framing == .whole ? .max : options.limitBytes)
  }

  // MARK: Input

  /// Reads a piece of the input, and appends the output of the complete messages.
  ///
  /// After an error the output contains the messages before the invalid one, and the converter must not be
  /// used again.
  package mutating func convert(_ chunk: RawSpan, into out: inout OutputBuffer) throws(ConversionError) {
    try chunk.withUnsafeBytes { (chunk) throws(ConversionError) in try convert(chunk, into: &out) }
  }

  private mutating func convert(
    _ chunk: UnsafeRawBufferPointer, into out: inout OutputBuffer
  ) throws(ConversionError) {
    guard pending.isEmpty else {
      var whole = pending
      pending = []
      whole.append(contentsOf: chunk)
      let used = try whole.withRawBytes { (bytes) throws(ConversionError) in
        try messages(in: bytes, isLast: false, into: &out)
      }
      if used > 0 { whole.removeFirst(used) }
      pending = whole
      return
    }
    // Most messages are not split by the end of a piece, and are never copied.
    let used = try messages(in: chunk, isLast: false, into: &out)
    pending.append(contentsOf: chunk[used...])
  }

  /// Marks the end of the input, and appends the output of the last message.
  package mutating func finish(into out: inout OutputBuffer) throws(ConversionError) {
    let rest = pending
    _ = try rest.withRawBytes { (bytes) throws(ConversionError) in
      try messages(in: bytes, isLast: true, into: &out)
    }
    try checkCount()
  }

  /// Reads the last piece of the input, and appends the output of the last messages. A single message in one
  /// piece is not copied.
  package mutating func finish(with chunk: RawSpan, into out: inout OutputBuffer) throws(ConversionError) {
    guard pending.isEmpty else {
      try convert(chunk, into: &out)
      return try finish(into: &out)
    }
    _ = try chunk.withUnsafeBytes { (bytes) throws(ConversionError) in
      try messages(in: bytes, isLast: true, into: &out)
    }
    try checkCount()
  }

  private func checkCount() throws(ConversionError) {
    if count == 0, options.from == .json, !options.isDelimited { throw failure(.noMessage) }
  }

  /// Converts the complete messages, and returns the number of bytes used.
  private mutating func messages(
    in bytes: UnsafeRawBufferPointer, isLast: Bool, into out: inout OutputBuffer
  ) throws(ConversionError) -> Int {
    if !hasBegun, options.from == .json {
      switch ByteOrderMark(bytes, isLast: isLast) {
      case .utf16: throw failure(.text(MessageParseError(.utf16, format: .json)))
      case .incomplete: return 0
      case .utf8:
        hasBegun = true
        position.byteOffset = ByteOrderMark.count
        let rest = UnsafeRawBufferPointer(rebasing: bytes[ByteOrderMark.count...])
        return try messages(in: rest, isLast: isLast, into: &out) + ByteOrderMark.count
      case .none: hasBegun = true
      }
    }
    var used = 0
    while let range = try boundary(in: bytes, from: &used, isLast: isLast) {
      try message(
        UnsafeRawBufferPointer(rebasing: bytes[range]), at: range.lowerBound, of: bytes, into: &out)
    }
    // Nothing follows the last piece, whose lines need no count.
    if isLast { return used }
    advance(&position, over: UnsafeRawBufferPointer(rebasing: bytes[..<used]))
    return used
  }

  private func advance(_ position: inout TextPosition, over bytes: UnsafeRawBufferPointer) {
    // A binary input has no lines.
    if options.from == .binary { position.byteOffset += bytes.count } else { position.advance(over: bytes) }
  }

  /// Finds the next message of the input, `start` or later, and moves `start` past it.
  private mutating func boundary(
    in bytes: UnsafeRawBufferPointer, from start: inout Int, isLast: Bool
  ) throws(ConversionError) -> Range<Int>? {
    do throws(MessageParseError) {
      return try boundaries.next(in: bytes, from: &start, isLast: isLast)
    } catch {
      throw failure(ConversionError(.text(error)), at: start, of: bytes)
    }
  }

  private func failure(_ reason: ConversionError.Reason) -> ConversionError {
    ConversionError(reason).moved(to: TextPosition(), messageIndex: count)
  }

  /// Converts the message that starts at `start` of `bytes`.
  private mutating func message(
    _ message: UnsafeRawBufferPointer, at start: Int, of bytes: UnsafeRawBufferPointer,
    into out: inout OutputBuffer
  ) throws(ConversionError) {
    guard count == 0 || options.isDelimited || options.to == .json else { throw failure(.severalMessages) }
    do throws(ConversionError) {
      if try codec.convert(message, into: &out) { hasRepairedText = true }
    } catch {
      throw failure(error, at: start, of: bytes)
    }
    count += 1
  }

  /// The error for a message that starts at `start` of `bytes`.
  private func failure(
    _ error: ConversionError, at start: Int, of bytes: UnsafeRawBufferPointer
  ) -> ConversionError {
    var place = position
    advance(&place, over: UnsafeRawBufferPointer(rebasing: bytes[..<start]))
    var failure = error.moved(to: place, messageIndex: count)
    guard let found = failure.position else { return failure }
    let offset = min(max(found.byteOffset - position.byteOffset, 0), bytes.count)
    let first = max(offset - Self.surroundingBytes, 0)
    let end = min(offset + Self.surroundingBytes, bytes.count)
    failure.surroundings = (Array(bytes[first..<end]), offset - first)
    return failure
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` does not preserve the type of `body`'s error.
  func withRawBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeBufferPointer { (bytes) throws(E) -> R in try body(UnsafeRawBufferPointer(bytes)) }
  }
}
