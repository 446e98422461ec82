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
  /// The number of bytes of `pending` that were scanned.
  private var scanned = 0
  private var splitter = JSONSplitter()
  /// The position of `pending` in the whole input.
  private var position = JSONPosition()
  private var count = 0
  /// Whether JSON was written with replacement characters (U+FFFD) for a string that is not UTF-8.
  package private(set) var hasRepairedText = false

  /// Makes a converter for messages of a type.
  package init(_ type: MessageType, options: ConversionOptions) {
    self.options = options
    codec = MessageConverter(type, options)
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
    let used: Int
    switch (options.from, options.isDelimited) {
    case (.json, _): used = try values(in: bytes, isLast: isLast, into: &out)
    case (.binary, true): used = try delimited(in: bytes, isLast: isLast, into: &out)
    case (.text, true): used = try lines(in: bytes, isLast: isLast, into: &out)
    case (.binary, false), (.text, false):
      guard isLast else { return 0 }
      try message(UnsafeRawBufferPointer(bytes), at: 0, of: bytes, into: &out)
      used = bytes.count
    }
    position.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<used]))
    scanned -= min(used, scanned)
    return used
  }

  private func failure(_ reason: ConversionError.Reason) -> ConversionError {
    ConversionError(reason, messageIndex: count)
  }

  /// Converts the message that starts at `start` of `bytes`.
  private mutating func message(
    _ message: UnsafeRawBufferPointer, at start: Int, of bytes: UnsafeRawBufferPointer,
    into out: inout OutputBuffer
  ) throws(ConversionError) {
    guard count == 0 || options.isDelimited || options.to == .json else { throw failure(.severalMessages) }
    do throws(MessageConverter.Failure) {
      if try codec.convert(message, into: &out) { hasRepairedText = true }
    } catch {
      throw failure(error, at: start, of: bytes)
    }
    count += 1
  }

  /// The error for a message that starts at `start` of `bytes`.
  private func failure(
    _ error: MessageConverter.Failure, at start: Int, of bytes: UnsafeRawBufferPointer
  ) -> ConversionError {
    var place = position
    place.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<start]))
    var failure = failure(error.reason(movedTo: place))
    guard let found = failure.position else { return failure }
    let offset = min(max(found.byteOffset - position.byteOffset, 0), bytes.count)
    let first = max(offset - Self.surroundingBytes, 0)
    let end = min(offset + Self.surroundingBytes, bytes.count)
    failure.surroundings = (Array(bytes[first..<end]), offset - first)
    return failure
  }

  // MARK: Streams

  private mutating func values(
    in bytes: UnsafeRawBufferPointer, isLast: Bool, into out: inout OutputBuffer
  ) throws(ConversionError) -> Int {
    var start = 0
    while true {
      if !splitter.isInside {
        while start < bytes.count, Converter.isSpace(bytes[start]) { start += 1 }
        scanned = start
        guard start < bytes.count else { return start }
      }
      var end = splitter.end(of: bytes, from: scanned)
      scanned = bytes.count
      // The reader of a truncated value reports the place.
      if end == nil, isLast { end = bytes.count }
      guard let end else {
        guard bytes.count - start <= options.limitBytes else {
          throw failure(
            .tooLong(limitBytes: options.limitBytes, byteOffset: position.byteOffset + start))
        }
        return start
      }
      try message(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), at: start, of: bytes, into: &out)
      start = end
      if isLast, end == bytes.count { return end }
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }

  private mutating func delimited(
    in bytes: UnsafeRawBufferPointer, isLast: Bool, into out: inout OutputBuffer
  ) throws(ConversionError) -> Int {
    var reader = WireReader(bytes)
    while !reader.isAtEnd {
      let start = reader.offset
      let offset = position.byteOffset + start
      let length: UInt64
      do throws(DecodeError) { length = try reader.varint() } catch {
        guard error.reason == .truncated else { throw failure(.invalidLength(byteOffset: offset)) }
        if isLast { throw failure(.truncated(byteOffset: offset)) }
        return start
      }
      guard length <= UInt64(options.limitBytes) else {
        throw failure(.tooLong(limitBytes: options.limitBytes, byteOffset: offset))
      }
      guard length <= UInt64(reader.remaining) else {
        if isLast { throw failure(.truncated(byteOffset: offset)) }
        return start
      }
      let content = UnsafeRawBufferPointer(start: reader.cursor, count: Int(length))
      try message(content, at: reader.offset, of: bytes, into: &out)
      reader.cursor += Int(length)
    }
    return bytes.count
  }

  private mutating func lines(
    in bytes: UnsafeRawBufferPointer, isLast: Bool, into out: inout OutputBuffer
  ) throws(ConversionError) -> Int {
    var start = 0
    while let end = bytes[max(start, scanned)...].firstIndex(of: 10) {
      try message(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), at: start, of: bytes, into: &out)
      start = end + 1
    }
    scanned = bytes.count
    if isLast, start < bytes.count {
      try message(UnsafeRawBufferPointer(rebasing: bytes[start...]), at: start, of: bytes, into: &out)
      start = bytes.count
    }
    guard bytes.count - start <= options.limitBytes else {
      throw failure(.tooLong(limitBytes: options.limitBytes, byteOffset: position.byteOffset + start))
    }
    return start
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` does not preserve the type of `body`'s error.
  func withRawBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeBufferPointer { (bytes) throws(E) -> R in try body(UnsafeRawBufferPointer(bytes)) }
  }
}

extension JSONPosition {
  mutating func advance(over bytes: UnsafeRawBufferPointer) {
    byteOffset += bytes.count
    var lines = 0
    for byte in bytes where byte == 10 { lines += 1 }
    var rest = bytes[...]
    if lines > 0, let last = bytes.lastIndex(of: 10) {
      line += lines
      column = 1
      rest = bytes[(last + 1)...]
    }
    for byte in rest where byte & 0xc0 != 0x80 { column += 1 }
  }
}
