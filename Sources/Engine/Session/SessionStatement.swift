import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf

/// A statement: a command with its values, or only values, which are messages.
package struct SessionStatement {
  /// An unparsed value.
  package enum Value: Equatable {
    /// JSON, or a variable with its dollar sign.
    case json(String)
    /// The messages of a file: `@FILE`.
    case file(SessionWords.Word)
  }

  /// The command with its arguments; empty if there is none.
  package let head: String
  package let values: [Value]
  /// The file for the responses (`> FILE`); nil for standard output.
  package let output: SessionWords.Word?
  /// The options of the call, such as `--filter PATH`.
  package let options: [SessionWords.Word]
  /// The command of a shell that reads the responses (`| COMMAND`); nil if there is none.
  package let command: String?
  /// The statement as typed.
  package let text: String
  /// The statement as scripts have it, which run no commands.
  package let recorded: String
}

extension SessionStatement {
  /// The command; nil if there is none with this name.
  package var verb: SessionVerb? { SessionVerb.named(SessionVerb.parts(of: head).name) }
}

/// Assembles statements from lines. JSON values may span lines.
package struct SessionStatementReader {
  /// Whether an error is reported at once, as for typed lines, and strings must end on their lines. Otherwise the error
  /// follows the whole statement, so that no part of it is read as a command.
  private let endsStrings: Bool
  /// The longest statement in bytes.
  private let limitBytes: Int
  private var head = ""
  private var values: [SessionStatement.Value] = []
  private var output: SessionWords.Word?
  private var options: [SessionWords.Word] = []
  /// The command of a shell, and where it begins in `text`.
  private var command: (text: String, start: Int)?
  private var text = ""
  /// The text of the last statement that was invalid.
  package private(set) var rejected = ""
  /// Reads an incomplete JSON value.
  private var reader: MessageSplitter?
  /// The brackets of an incomplete check, or of the rest of an invalid statement.
  private var brackets: OpenBrackets?
  /// The first error of an incomplete statement; nil if absent.
  package private(set) var failure: Failure?
  /// The position in `text` of the next byte to read, and those of the values.
  private var position = TextPosition()
  private var starts: [TextPosition] = []

  /// - Parameters:
  ///   - endsStrings: Whether lines are typed at a prompt: a string that is open at the end of its line is reported at once,
  ///     and a method in place of a command is called.
  ///   - limitBytes: The longest statement in bytes.
  package init(endsStrings: Bool = false, limitBytes: Int = 64 << 20) {
    self.endsStrings = endsStrings
    self.limitBytes = limitBytes
  }

  /// Whether a statement is incomplete.
  package var isWithin: Bool { reader != nil || brackets != nil }

  /// The text of an incomplete statement; empty if there is none.
  package var begun: String { isWithin ? text : "" }

  /// Drops an incomplete statement.
  package mutating func reset() {
    self = SessionStatementReader(endsStrings: endsStrings, limitBytes: limitBytes)
  }

  /// Adds a line. Returns a complete statement; nil if the line is empty or more lines are needed.
  package mutating func add(_ line: String) throws(Failure) -> SessionStatement? { try add(InputLine(line)) }

  /// Adds a line, as above. An invalid line makes the whole statement invalid.
  package mutating func add(_ line: InputLine) throws(Failure) -> SessionStatement? {
    var failure = failure ?? line.failure
    var statement: SessionStatement?
    do throws(Failure) {
      statement = try self.statement(endingWith: line.text)
      failure = failure ?? self.failure
      if endsStrings, let failure { throw failure }
    } catch {
      failure = failure ?? error
      (reader, brackets) = (nil, endsStrings ? nil : OpenBrackets(openIn: text))
    }
    guard let failure else { return statement }
    self.failure = failure
    guard !isWithin else { return nil }
    let text = statement?.text ?? text
    reset()
    rejected = text
    throw failure
  }

  private mutating func statement(endingWith line: String) throws(Failure) -> SessionStatement? {
    let isTooLong = isWithin && text.utf8.count + line.utf8.count >= limitBytes
    if isTooLong {
      failure = failure ?? Failure(.input, "", "a statement is longer than \(limitBytes) bytes")
      // The rest is searched for its end, and not kept.
      if brackets == nil { (reader, brackets) = (nil, OpenBrackets(openIn: text)) }
    }
    if brackets != nil {
      if !isTooLong { text += "\n" + line }
      brackets?.read(line[...])
      head = text
      if brackets?.areClosed == true { brackets = nil }
    } else if isWithin {
      text += "\n" + line
      try read(line[...])
    } else {
      let trimmed = line.droppingScalars(while: \.properties.isWhitespace)
      guard let first = trimmed.unicodeScalars.first, first != "#" else { return nil }
      let typed = (endsStrings ? Self.asCall(trimmed) : nil) ?? String(trimmed)
      text = String(typed.withoutOuterSpace)
      if Self.beginsValue(trimmed) { try read(trimmed) } else { try read(command: typed[...]) }
    }
    guard !isWithin else {
      if endsStrings, reader?.isInsideString == true { throw openString() }
      return nil
    }
    defer { reset() }
    let recorded = command.map { String(decoding: text.utf8.prefix($0.start), as: UTF8.self) } ?? text
    return SessionStatement(
      head: head, values: values, output: output, options: options, command: command?.text, text: text,
      recorded: String(recorded[...].withoutOuterSpace))
  }

  /// The line of a call, for a line that begins with a method and not with a command: names of methods have upper case
  /// letters, or a message follows them.
  package static func asCall(_ line: Substring) -> String? {
    if line.begins(with: "repeat "), let parts = SessionRepetition(line.dropFirst(7)),
      let call = asCall(parts.call)
    {
      return String(line[..<parts.call.startIndex]) + call
    }
    let name = line.prefixOfScalars { !$0.properties.isWhitespace && $0 != "{" }
    guard let first = name.unicodeScalars.first, first.properties.isAlphabetic, SessionVerb.named(name) == nil
    else {
      return nil
    }
    let hasMessage = line[name.endIndex...].droppingScalars(while: \.properties.isWhitespace).begins(
      with: "{")
    let isMethod = first.properties.isUppercase || name.contains("/") || hasMessage
    return isMethod ? "call \(line)" : nil
  }

  /// Reads the first line of a command.
  private mutating func read(command line: Substring) throws(Failure) {
    let (name, rest) = SessionVerb.parts(of: line)
    let verb = SessionVerb.named(name)
    if verb?.isCheck == true { brackets = OpenBrackets(ofCheck: rest) }
    guard brackets == nil else { return }
    let end = verb?.endOfArguments(in: rest) ?? line.endIndex
    head = String(line[..<end].withoutOuterSpace)
    advance(over: Array(line[..<end].utf8)[...])
    try read(line[end...])
  }

  /// The error for a string that the line does not close: JSON has no strings of several lines.
  private func openString() -> Failure {
    var end = TextPosition()
    Array(text.utf8).withUnsafeBytes { end.advance(over: $0) }
    return Failure(
      .input, "", "missing closing quote \" (line \(end.line), column \(end.column))",
      hint: "write \\n for a line feed within a string",
      place: InputPlace(position: end, excerpt: InputExcerpt(Array(text.utf8), at: end.byteOffset)))
  }

  /// Whether `text` starts a message rather than a command.
  package static func beginsValue(_ text: Substring) -> Bool {
    guard let first = text.unicodeScalars.first else { return false }
    if "{[\"$-@".unicodeScalars.contains(first) || ("0"..."9").contains(first) { return true }
    return ["true", "false", "null"].contains(text.prefixOfScalars { !$0.properties.isWhitespace })
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
          let end = try Self.endOfReference(bytes, index)
          values.append(.json(String(decoding: bytes[index..<end], as: UTF8.self)))
          advance(over: bytes[index..<end])
          index = end
          continue
        }
        var end = try readCommand(bytes[index...])
        if end == nil { end = try readOption(bytes[index...]) }
        if let end {
          advance(over: bytes[index..<end])
          index = end
          continue
        }
        if let end = try readFile(bytes[index...]) {
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

  /// The end of `$name.path` or `${…}`.
  private static func endOfReference(_ bytes: [UInt8], _ start: Int) throws(Failure) -> Int {
    do throws(LanguageError) {
      guard let (_, end) = try Expression.parse(in: bytes, at: start, hasShortForm: true) else {
        throw LanguageError("missing name after the dollar sign", hint: "write $NAME or ${NAME}")
      }
      return end
    } catch {
      throw Failure(error)
    }
  }

  /// The command that makes the call of the statement: of `repeat`, the repeated one.
  private var call: SessionVerb? {
    let (name, rest) = SessionVerb.parts(of: head)
    let inner = SessionRepetition(ofLine: name, rest).map { SessionVerb.parts(of: $0.call).name }
    return SessionVerb.named(inner ?? name)
  }

  /// Reads `| COMMAND`, up to the end of the line. Returns its end; nil if the text is no command.
  private mutating func readCommand(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Int? {
    guard bytes.first == UInt8(ascii: "|") else { return nil }
    guard endsStrings else { throw Failure.onlyAtPrompt("|", "> FILE writes the responses to a file") }
    guard call?.acceptsOutput == true, output == nil else {
      throw Failure(
        .usage, "|", "only the responses of call go to a command", hint: "call METHOD {…} | COMMAND")
    }
    let text = String(decoding: bytes.dropFirst(), as: UTF8.self)[...].withoutOuterSpace
    guard !text.isEmpty else { throw Failure(.usage, "|", "missing command", hint: "call METHOD {…} | jq .") }
    command = (String(text), position.byteOffset)
    return bytes.endIndex
  }

  /// Reads `--OPTION` or `-O` and its value. Returns the end; nil if the text is no option: a number may be negative.
  private mutating func readOption(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Int? {
    guard bytes.first == UInt8(ascii: "-"), let second = bytes.dropFirst().first,
      !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second)
    else { return nil }
    guard call?.acceptsMessages == true else {
      guard second == UInt8(ascii: "-") else { return nil }
      throw Failure(
        .usage, "--", "only call and open have options", hint: "options --OPTION sets one for all calls")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    var rest = text[...]
    var count = 0
    repeat {
      guard let end = SessionWords.end(of: rest), let word = try SessionWords.split(rest[..<end]).first else {
        _ = try SessionWords.split(rest)
        break
      }
      options.append(word)
      count += 1
      rest = rest[end...]
      guard count == 1, OptionTable.find(word.text[...], .call)?.hasValue == true else { break }
      rest = rest.droppingScalars(while: \.properties.isWhitespace)
    } while !rest.isEmpty
    return bytes.startIndex + text[..<rest.startIndex].utf8.count
  }

  /// Reads `@FILE` or `> FILE`. Returns its end; nil if the text is neither.
  private mutating func readFile(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Int? {
    let mark = bytes.first == UInt8(ascii: ">") ? ">" : "@"
    guard bytes.starts(with: mark.utf8) else { return nil }
    let rest = String(decoding: bytes.dropFirst(), as: UTF8.self)
    let space =
      mark == "@" ? rest[..<rest.startIndex] : rest.prefixOfScalars(while: \.properties.isWhitespace)
    let name = rest[space.endIndex...]
    // The line feed at the end of the line ends a word that is not quoted.
    guard let end = SessionWords.end(of: name), let file = try SessionWords.split(name[..<end]).first else {
      _ = try SessionWords.split(name)
      throw Failure(.usage, mark, "missing name of the file")
    }
    let length = name[..<end].utf8.count
    if mark == "@" {
      values.append(.file(file))
    } else {
      guard call?.acceptsOutput == true else {
        throw Failure(
          .usage, mark, "only the responses of call can be written to a file",
          hint: "record FILE writes all input and output")
      }
      guard output == nil, !file.text.hasPrefix(">") else {
        throw Failure(.usage, mark, "one file is expected, which is replaced", hint: "call METHOD {…} > FILE")
      }
      output = file
    }
    return bytes.startIndex + 1 + space.utf8.count + length
  }

  /// Feeds a piece of a line to the reader. Returns the number of its bytes that follow
  /// the value, if that is complete; otherwise 0.
  private mutating func feed(_ piece: ArraySlice<UInt8>) throws(Failure) -> Int {
    do {
      reader?.append(piece)
      guard let item = try reader?.next() else { return 0 }
      let unread = reader?.unreadCount ?? 0
      reader = nil
      values.append(.json(String(decoding: item.bytes, as: UTF8.self)))
      return unread
    } catch {
      throw failure(error)
    }
  }

  /// The failure for text that is not a value. If a value before it is invalid, such as `{"a": "b": 1}` of
  /// `{"a": "b": 1}, "c": 2}`, that is the cause.
  private func failure(_ error: MessageParseError) -> Failure {
    let start = starts.last ?? TextPosition()
    guard error.hasLine else { return Failure(.input, "", error.description, hint: error.hint) }
    var cause = error.moved(to: start)
    if case .json(let last) = values.last, starts.count == values.count + 1,
      !last.utf8.contains(UInt8(ascii: "$"))
    {
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

/// The open brackets of JSON that may span lines, such as that of a check (`expect PATH == {…}`) or of an invalid
/// statement.
struct OpenBrackets {
  /// How many are open; negative if more were closed.
  private(set) var depth = 0
  /// Whether a string is open.
  private(set) var isString = false
  private var isEscaped = false

  /// Creates the state before the first line.
  init() {}

  /// The brackets that the text of an invalid statement leaves open; nil if it leaves none.
  init?(openIn text: String) {
    read(text[...])
    if depth <= 0 { return nil }
  }

  /// The brackets that the first line of a check leaves open; nil if it leaves none.
  init?(ofCheck text: Substring) {
    // Text ends with the line.
    guard let operand = Self.operand(ofCheck: text),
      operand.begins(with: "{") || operand.begins(with: "[")
    else { return nil }
    read(operand)
    if areClosed { return nil }
  }

  /// What follows `==`, `!=` or `contains` and the first path of a check; nil without it.
  private static func operand(ofCheck text: Substring) -> Substring? {
    var rest = text.droppingScalars(while: \.properties.isWhitespace)
    while !rest.isEmpty, !rest.begins(with: ".") {
      rest = rest.droppingScalars { !$0.properties.isWhitespace }
        .droppingScalars(while: \.properties.isWhitespace)
    }
    rest = rest[rest.endOfFieldPath...].droppingScalars(while: \.properties.isWhitespace)
    for word in ["==", "!=", "contains"] where rest.begins(with: word) {
      return Substring(rest.utf8.dropFirst(word.utf8.count)).droppingScalars(while: \.properties.isWhitespace)
    }
    return nil
  }

  /// Whether no bracket is open.
  var areClosed: Bool { depth <= 0 && !isString }

  /// Counts the brackets of a line.
  mutating func read(_ line: Substring) {
    for byte in line.utf8 { read(byte) }
  }

  /// Counts a bracket.
  mutating func read(_ byte: UInt8) {
    switch byte {
    case _ where isEscaped: isEscaped = false
    case UInt8(ascii: "\\") where isString: isEscaped = true
    case UInt8(ascii: "\""): isString.toggle()
    case _ where isString: break
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
    default: break
    }
  }
}
