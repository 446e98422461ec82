import CommandLine
import Protobuf

/// One thing that was typed: a command, with the JSON values that belong to it, or values alone, which are messages.
struct SessionStatement {
  /// The command with its words, or nothing.
  let head: String
  /// The values behind it, not read yet: JSON, or a variable with its dollar sign.
  let values: [String]
  /// All of it as it was typed.
  let text: String
}

/// Puts lines together to statements: JSON may go on over several lines.
struct SessionStatementReader {
  private var head = ""
  private var values: [String] = []
  private var text = ""
  /// Reads the value that is not complete yet.
  private var reader: JSONValueReader?

  /// Whether a statement has begun that is not complete.
  var isWithin: Bool { reader != nil }

  /// What was typed of a statement that is not complete.
  var begun: String { isWithin ? text : "" }

  /// Forgets what has begun.
  mutating func reset() {
    self = SessionStatementReader()
  }

  /// Takes a line; gives the statement when it is complete, and `nil` when there is none or more is needed.
  mutating func add(_ line: String) throws(Failure) -> SessionStatement? {
    do {
      return try take(line)
    } catch {
      reset()
      throw error
    }
  }

  private mutating func take(_ line: String) throws(Failure) -> SessionStatement? {
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

  /// Whether `text` is a message and no command: no command begins so.
  static func beginsValue(_ text: Substring) -> Bool {
    guard let first = text.unicodeScalars.first else { return false }
    if "{[\"$-".unicodeScalars.contains(first) || ("0"..."9").contains(first) { return true }
    return ["true", "false", "null"].contains(text.prefixOfScalars { !$0.properties.isWhitespace })
  }

  /// Behind the words of a command: what follows are JSON values, if the command takes any.
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
    // The reader gets pieces that double, so that neither a long value nor many short ones take quadratic time.
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
            throw Failure(.input, "", "no name behind the dollar sign")
          }
          values.append(String(decoding: bytes[index..<end], as: UTF8.self))
          index = end
          continue
        }
        reader = JSONValueReader(limitBytes: JSONSplitter.limitBytes)
        piece = 64
      }
      let end = min(index + piece, bytes.count)
      index = end - (try feed(bytes[index..<end]))
      piece *= 2
    }
  }

  /// Gives the reader a piece of a line; returns how many bytes of it follow the value that it completes.
  private mutating func feed(_ piece: ArraySlice<UInt8>) throws(Failure) -> Int {
    do {
      reader?.append(piece)
      guard let item = try reader?.next() else { return 0 }
      let unread = reader?.unreadCount ?? 0
      reader = nil
      values.append(String(decoding: item.json, as: UTF8.self))
      return unread
    } catch {
      throw Failure(.input, "", error.description, hint: error.hint)
    }
  }
}
