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
          index += 1
          continue
        }
        if byte == UInt8(ascii: "$") {
          guard let end = VariableReference.end(in: bytes, from: index) else {
            throw Failure(.input, "", "missing name after the dollar sign")
          }
          values.append(String(decoding: bytes[index..<end], as: UTF8.self))
          index = end
          continue
        }
        reader = MessageSplitter(.values)
        piece = 64
      }
      let end = min(index + piece, bytes.count)
      index = end - (try feed(bytes[index..<end]))
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
      throw Failure(.input, "", error.description, hint: error.hint)
    }
  }
}
