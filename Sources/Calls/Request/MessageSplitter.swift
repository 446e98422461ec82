import Output
import Protobuf

/// A message of the request data, not yet read.
package struct MessagePiece {
  package let bytes: [UInt8]
  /// Where it starts in the data.
  package let start: JSONPosition
}

/// Splits data that comes in pieces into the messages that follow each other in it.
package protocol MessageSplitter {
  /// Adds a piece of the data.
  mutating func append(_ bytes: [UInt8])
  /// Says that the data has ended.
  mutating func finish()
  /// The next complete message; `nil` when more data is needed or, after `finish`, when there is none.
  mutating func next() throws(SplitError) -> MessagePiece?
}

/// Why data cannot be split.
package struct SplitError: Error {
  package let why: String
  package var hint: String?
  /// Where, if the data has lines.
  package var position: JSONPosition?
  /// The line there.
  package var excerpt: InputExcerpt?
}

extension SplitError {
  /// What is told of it; `source` is what the data is called.
  package func failure(in source: String) -> Failure {
    Failure(
      .input, source, why, hint: hint, place: position.map { InputPlace(position: $0, excerpt: excerpt) })
  }
}

extension MessageSplitter {
  /// The longest message that is read.
  package static var limitBytes: Int { 64 << 20 }
}

/// JSON values, with or without white space between them.
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

/// One message, which is all of the data; also an empty one.
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
      throw SplitError(why: "a message longer than \(Self.limitBytes) bytes")
    }
    guard case .finished = state else { return nil }
    state = .done
    return MessagePiece(bytes: buffer, start: JSONPosition())
  }
}

/// Text format, a message on each line.
package struct LineSplitter: MessageSplitter {
  private var buffer: [UInt8] = []
  /// The start of the line in `buffer`, and the first byte that has not been looked at.
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
      if buffer[scanned - 1] == UInt8(ascii: "\n") { return take(through: scanned, dropping: 1) }
    }
    guard scanned - start <= Self.limitBytes else {
      throw SplitError(
        why: "line \(position.line) is longer than \(Self.limitBytes) bytes", position: position)
    }
    return isFinished && start < buffer.count ? take(through: buffer.count, dropping: 0) : nil
  }

  private mutating func take(through end: Int, dropping count: Int) -> MessagePiece {
    let piece = MessagePiece(bytes: Array(buffer[start..<(end - count)]), start: position)
    position.line += 1
    position.byteOffset += end - start
    start = end
    return piece
  }
}

/// Binary messages, each behind its length as a varint.
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
          why: "no length of a message at byte \(offset)",
          hint: "a stream of binary messages has each behind its length, as a varint")
      }
      length |= Int(byte & 0x7f) << (7 * (index - start))
      index += 1
      guard byte < 0x80 else { continue }
      guard length <= Self.limitBytes else {
        throw SplitError(why: "a message longer than \(Self.limitBytes) bytes (byte \(offset))")
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
      throw SplitError(why: "the data ends within a message (byte \(offset))")
    }
    return nil
  }
}
