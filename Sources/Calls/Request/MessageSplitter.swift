import Output
import Protobuf

/// An undecoded message of the request data.
package struct MessagePiece {
  package let bytes: [UInt8]
  /// Its position in the data.
  package let start: JSONPosition
}

/// Splits data that arrives in pieces into consecutive messages.
package protocol MessageSplitter {
  /// Adds a piece of the data.
  mutating func append(_ bytes: [UInt8])
  /// Ends the data.
  mutating func finish()
  /// The next complete message; nil if more data is needed or, after `finish`, if there are no more.
  mutating func next() throws(SplitError) -> MessagePiece?
}

/// Why data cannot be split.
package struct SplitError: Error {
  package let why: String
  package var hint: String?
  /// The position of the error, if the data has lines.
  package var position: JSONPosition?
  /// The line that contains the error.
  package var excerpt: InputExcerpt?
}

extension SplitError {
  /// The failure to report; `source` is the name of the data.
  package func failure(in source: String) -> Failure {
    Failure(
      .input, source, why, hint: hint, place: position.map { InputPlace(position: $0, excerpt: excerpt) })
  }
}

extension MessageSplitter {
  /// The longest accepted message, in bytes.
  package static var limitBytes: Int { 64 << 20 }
}

/// Splits JSON values, with or without white space between them.
package struct JSONSplitter: MessageSplitter {
  private var reader = JSONValueReader(limitBytes: Self.limitBytes)

  package mutating func append(_ bytes: [UInt8]) {
    reader.append(bytes)
  }

  package mutating func finish() {
    reader.finish()
  }

  package mutating func next() throws(SplitError) -> MessagePiece? {
    do {
      return try reader.next().map { MessagePiece(bytes: $0.json, start: $0.start) }
    } catch {
      let held = reader.held
      let excerpt = InputExcerpt(
        held.text, at: error.byteOffset - held.byteOffset, isInside: held.byteOffset > 0)
      throw SplitError(
        why: error.description, hint: error.hint, position: error.position, excerpt: excerpt)
    }
  }
}

/// Treats all of the data as one message, which may be empty.
package struct WholeSplitter: MessageSplitter {
  private enum State {
    case reading, finished, done
  }

  private var buffer: [UInt8] = []
  private var state = State.reading

  package mutating func append(_ bytes: [UInt8]) {
    buffer += bytes
  }

  package mutating func finish() {
    state = .finished
  }

  package mutating func next() throws(SplitError) -> MessagePiece? {
    guard buffer.count <= Self.limitBytes else {
      throw SplitError(why: "the message is longer than \(Self.limitBytes) bytes")
    }
    guard case .finished = state else { return nil }
    state = .done
    return MessagePiece(bytes: buffer, start: JSONPosition())
  }
}

/// Splits text format with one message per line.
package struct LineSplitter: MessageSplitter {
  private var buffer: [UInt8] = []
  /// The start of the line in `buffer`, and the first byte that was not searched for a line end.
  private var start = 0
  private var scanned = 0
  private var position = JSONPosition()
  private var isFinished = false

  package mutating func append(_ bytes: [UInt8]) {
    buffer.removeFirst(start)
    scanned -= start
    start = 0
    buffer += bytes
  }

  package mutating func finish() {
    isFinished = true
  }

  package mutating func next() throws(SplitError) -> MessagePiece? {
    while scanned < buffer.count {
      scanned += 1
      if buffer[scanned - 1] == UInt8(ascii: "\n") { return piece(through: scanned, dropping: 1) }
    }
    guard scanned - start <= Self.limitBytes else {
      throw SplitError(
        why: "line \(position.line) is longer than \(Self.limitBytes) bytes", position: position)
    }
    return isFinished && start < buffer.count ? piece(through: buffer.count, dropping: 0) : nil
  }

  private mutating func piece(through end: Int, dropping count: Int) -> MessagePiece {
    let piece = MessagePiece(bytes: Array(buffer[start..<(end - count)]), start: position)
    position.line += 1
    position.byteOffset += end - start
    start = end
    return piece
  }
}

/// Splits binary messages, each preceded by its length as a varint.
package struct DelimitedSplitter: MessageSplitter {
  private var buffer: [UInt8] = []
  /// The start of the length in `buffer`.
  private var start = 0
  private var position = JSONPosition()
  private var isFinished = false

  package mutating func append(_ bytes: [UInt8]) {
    buffer.removeFirst(start)
    start = 0
    buffer += bytes
  }

  package mutating func finish() {
    isFinished = true
  }

  package mutating func next() throws(SplitError) -> MessagePiece? {
    let offset = position.byteOffset
    var length = 0
    var index = start
    while index < buffer.count {
      let byte = buffer[index]
      guard index - start < 4 || byte < 0x80 else {
        throw SplitError(
          why: "invalid message length at byte \(offset)",
          hint: "in a stream of binary messages, a varint length precedes each message")
      }
      length |= Int(byte & 0x7f) << (7 * (index - start))
      index += 1
      guard byte < 0x80 else { continue }
      guard length <= Self.limitBytes else {
        throw SplitError(why: "the message is longer than \(Self.limitBytes) bytes (byte \(offset))")
      }
      guard length <= buffer.count - index else { break }
      let end = index + length
      var place = position
      place.byteOffset += index - start
      position.byteOffset += end - start
      start = end
      return MessagePiece(bytes: Array(buffer[index..<end]), start: place)
    }
    guard !isFinished || start == buffer.count else {
      throw SplitError(why: "the data ends within the message (byte \(offset))")
    }
    return nil
  }
}
