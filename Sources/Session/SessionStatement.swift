import Calls
import CommandLine
import Output
import Protobuf

/// A statement: a command with its JSON values, or only values, which are messages.
package struct SessionStatement {
  /// The command with its arguments; empty if there is none.
  package let head: String
  /// The unparsed values: JSON, or a variable with its dollar sign.
  package let values: [String]
  /// The statement as typed.
  package let text: String
}

/// Assembles statements from lines. JSON values may span lines.
package struct SessionStatementReader {
  private var head = ""
  private var values: [String] = []
  private var text = ""
  /// Reads an incomplete JSON value.
  private var reader: MessageSplitter?
  /// The position in `text` of the next byte to read, and those of the values.
  private var position = TextPosition()
  private var starts: [TextPosition] = []

  /// Whether a statement is incomplete.
  package var isWithin: Bool { reader != nil }

  /// The text of an incomplete statement; empty if there is none.
  package var begun: String { isWithin ? text : "" }

  /// Drops an incomplete statement.
  package mutating func reset() {
    self = SessionStatementReader()
  }

  /// Adds a line. Returns a complete statement; nil if the line is empty or more lines are needed.
  package mutating func add(_ line: String) throws(Failure) -> SessionStatement? {
    do {
      return try statement(endingWith: line)
    } catch {
      reset()
      throw error
    }
  }

  private mutating func statement(endingWith line: String) throws(Failure) -> SessionStatement? {
    if isWithin {
      text += "\n" + line
      try read(line[...])
    } else {
      let trimmed = line.droppingScalars(while: \.properties.isWhitespace)
      guard let first = trimmed.unicodeScalars.first, first != "#" else { return nil }
      text = String(line.withoutOuterSpace)
      if Self.beginsValue(trimmed) {
        try read(trimmed)
      } else {
        let end = Self.endOfHead(trimmed)
        head = String(trimmed[..<end].withoutOuterSpace)
        advance(over: Array(trimmed[..<end].utf8)[...])
        try read(trimmed[end...])
      }
    }
    guard !isWithin else { return nil }
    defer { reset() }
    return SessionStatement(head: head, values: values, text: text)
  }

  /// Whether `text` starts a message rather than a command.
  package static func beginsValue(_ text: Substring) -> Bool {
    guard let first = text.unicodeScalars.first else { return false }
    if "{[\"$-".unicodeScalars.contains(first) || ("0"..."9").contains(first) { return true }
    return ["true", "false", "null"].contains(text.prefixOfScalars { !$0.properties.isWhitespace })
  }

  /// The end of the arguments of a command; JSON values follow, if the command accepts any.
  private static func endOfHead(_ text: Substring) -> Substring.Index {
    let command = text.droppingScalars { $0 == ":" }
    let verb = command.prefixOfScalars { !$0.properties.isWhitespace }
    switch verb {
    case "call", "open":
      let rest = command[verb.endIndex...].droppingScalars(while: \.properties.isWhitespace)
      return rest.prefixOfScalars { !$0.properties.isWhitespace && $0 != "{" }.endIndex
    case "set":
      return text.parted(at: "=").after?.startIndex ?? text.endIndex
    default: return text.endIndex
    }
  }

  // MARK: Values

  private mutating func read(_ line: Substring) throws(Failure) {
    let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
    var index = 0
    // The pieces double in size, so that neither a long value nor many short ones take quadratic time.
    var piece = 64
    while index < bytes.count {
      let byte = bytes[index]
      if reader == nil {
        guard ![0x20, 0x09, 0x0A, 0x0D].contains(byte) else {
          advance(over: bytes[index...index])
          index += 1
          continue
        }
        starts.append(position)
        if byte == UInt8(ascii: "$") {
          guard let end = VariableReference.end(in: bytes, from: index) else {
            throw Failure(.input, "", "missing name after the dollar sign")
          }
          values.append(String(decoding: bytes[index..<end], as: UTF8.self))
          advance(over: bytes[index..<end])
          index = end
          continue
        }
        reader = MessageSplitter(.values)
        piece = 64
      }
      let end = min(index + piece, bytes.count)
      let next = end - (try feed(bytes[index..<end]))
      advance(over: bytes[index..<next])
      index = next
      piece *= 2
    }
  }

  /// Feeds a piece of a line to the reader. Returns the number of its bytes that follow
  /// the value, if that is complete; otherwise 0.
  private mutating func feed(_ piece: ArraySlice<UInt8>) throws(Failure) -> Int {
    do {
      reader?.append(piece)
      guard let item = try reader?.next() else { return 0 }
      let unread = reader?.unreadCount ?? 0
      reader = nil
      values.append(String(decoding: item.bytes, as: UTF8.self))
      return unread
    } catch {
      throw failure(error)
    }
  }

  /// The failure for text that is not a value. If a value before it is invalid, such as `{"a": "b": 1}` of
  /// `{"a": "b": 1}, "c": 2}`, that is the cause.
  private func failure(_ error: SplitError) -> Failure {
    let start = starts.last ?? TextPosition()
    guard case .json(var cause) = error else {
      return Failure(.input, "", error.description, hint: error.hint)
    }
    cause = cause.moved(to: start)
    if let last = values.last, starts.count == values.count + 1, !last.utf8.contains(UInt8(ascii: "$")) {
      do throws(MessageParseError) {
        _ = try JSONValue(parsing: Array(last.utf8))
      } catch {
        cause = error.moved(to: starts[values.count - 1])
      }
    }
    let excerpt = InputExcerpt(Array(text.utf8), at: cause.position.byteOffset)
    return Failure(
      .input, "", cause.description, hint: cause.hint,
      place: InputPlace(position: cause.position, excerpt: excerpt))
  }

  private mutating func advance(over bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { position.advance(over: $0) }
  }
}
