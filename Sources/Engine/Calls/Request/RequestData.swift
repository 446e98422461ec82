import RPCurlBase
import RPCurlCall
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// What the messages of one source have in common. An object, so that each message refers to it at little cost.
package final class RequestOrigin {
  /// The name of the source, for errors.
  let source: String
  let form: RequestForm
  /// Whether the messages are on the command line, and not in a file or in standard input.
  let isTyped: Bool
  /// The whole argument of `-d` that they are part of; nil for other sources.
  let argument: String?
  /// The row of data whose values they have; nil without rows.
  let row: DataRow?

  init(
    _ source: String, _ form: RequestForm, isTyped: Bool, argument: String? = nil, row: DataRow? = nil
  ) {
    self.source = source
    self.form = form
    self.isTyped = isTyped
    self.argument = argument
    self.row = row
  }

  /// The same for messages with the values of a row.
  fileprivate func with(_ row: DataRow) -> RequestOrigin {
    RequestOrigin(source, form, isTyped: isTyped, argument: argument, row: row)
  }
}

/// An undecoded request message.
package struct RequestMessage {
  private var origin: RequestOrigin
  /// Its position in the source.
  package let start: TextPosition
  package let bytes: [UInt8]
  /// Whether it is the last one of its source. Only known of pieces of a file, if that is needed.
  var isLast = false

  package init(source: String, start: TextPosition, bytes: [UInt8], form: RequestForm) {
    self.init(RequestOrigin(source, form, isTyped: true), start: start, bytes: bytes)
  }

  init(_ origin: RequestOrigin, start: TextPosition, bytes: [UInt8]) {
    self.origin = origin
    self.start = start
    self.bytes = bytes
  }

  /// The name of its source, for errors.
  package var source: String { origin.source }
  package var form: RequestForm { origin.form }
}

extension RequestMessage {
  /// The message for a row, whose values its templates get.
  func with(_ row: DataRow) -> RequestMessage {
    var message = self
    message.origin = origin.with(row)
    return message
  }

  /// The message with the values of its templates.
  ///
  /// - Parameter type: The type of the message.
  /// - Throws: `Failure` if there is no such value.
  @inline(never)
  package func expanded(_ type: MessageType) throws(Failure) -> RequestMessage {
    guard var expansion = form.expansion else { return self }
    if let row = origin.row { expansion.row = row }
    if !origin.isTyped, form.format == .json, form.chunks == nil, expansion.values(isTyped: false) == nil {
      form.notes?.noteTemplates(of: source, in: bytes)
    }
    var form = form
    form.expansion = nil
    var bytes = bytes
    let piece = form.chunks.map { _ in FilePiece(offset: Int64(start.byteOffset), isLast: isLast) }
    for index in form.edits.indices { try form.edits[index].expand(expansion, piece, in: type) }
    do throws(LanguageError) {
      if let template = try template(expansion) {
        bytes = try template.json.json(template.values)
        form.isExpanded = true
      }
    } catch {
      throw Failure(.input, source, error)
    }
    return RequestMessage(RequestOrigin(source, form, isTyped: origin.isTyped), start: start, bytes: bytes)
  }

  /// Checks the template, so that all errors of what is typed are found before a message is sent.
  ///
  /// - Throws: `Failure` if an expression is invalid, or refers to a value that does not exist.
  fileprivate func checkTemplate() throws(Failure) {
    guard let expansion = form.expansion else { return }
    do throws(LanguageError) {
      guard let template = try template(expansion) else { return }
      for expression in template.json.expressions { try template.values.check(expression) }
    } catch {
      throw Failure(.input, source, error)
    }
  }

  /// The data as a template, and its values; nil if it has none.
  private func template(
    _ expansion: TextExpansion
  ) throws(LanguageError) -> (json: JSONTemplate, values: FunctionValues)? {
    guard form.chunks == nil, form.format == .json, let values = expansion.values(isTyped: origin.isTyped)
    else { return nil }
    let template = try JSONTemplate(parsing: bytes)
    return template.isLiteral ? nil : (template, values)
  }

  /// The message with the fields of `--set`, `--set-file` and `--chunk`.
  func edited(_ type: MessageType) throws(Failure) -> Message {
    var message = Message(type)
    if let chunks = form.chunks {
      do throws(FieldPathError) {
        try message.set(.bytes(bytes), at: chunks.path)
      } catch {
        throw Failure(.input, source, error.description)
      }
    } else {
      message = try parsed(type)
    }
    for edit in form.edits { try edit.apply(to: &message, form) }
    let missing = message.missingRequiredFields()
    guard missing.isEmpty else {
      throw Failure(.input, source, "missing required fields: \(missing.joined(separator: ", "))")
    }
    return message
  }

  /// The message, of which required fields may be missing.
  private func parsed(_ type: MessageType) throws(Failure) -> Message {
    do throws(MessageParseError) {
      switch form.format {
      case .json:
        return try readJSON { (options) throws(MessageParseError) in
          var options = options
          options.allowPartial = true
          return try Message(type, json: bytes, options: options)
        }
      case .text:
        return try Message(
          type, text: bytes,
          options: TextDecodingOptions(allowUnknownFields: form.allowsUnknownFields, allowPartial: true))
      case .binary: break
      }
    } catch {
      throw failure(error, hint: arrayHint(error))
    }
    do throws(DecodeError) {
      return try Message(type, serialized: bytes)
    } catch {
      throw Failure(.input, source, error.description)
    }
  }

  /// Reads the message from JSON, and notes what is probably not meant.
  func readJSON<Result>(
    _ read: (JSONDecodingOptions) throws(MessageParseError) -> Result
  ) throws(MessageParseError) -> Result {
    var options = JSONDecodingOptions(allowUnknownFields: form.allowsUnknownFields)
    guard let notes = form.notes, notes.cover(source) else { return try read(options) }
    options.refusesText = notes.refusesText
    var result: Result
    do throws(MessageParseError) {
      result = try read(options)
    } catch {
      guard notes.noteText(error, of: error.fieldPath, form, or: "--data-format text") else { throw error }
      options.refusesText = false
      result = try read(options)
    }
    notes.noteTemplate(in: bytes, form)
    return result
  }

  /// The failure to report for an error at a position in `bytes`.
  func failure(_ error: MessageParseError, hint: String? = nil) -> Failure {
    // Values of the environment and of files may be secret.
    let offset = error.position.byteOffset
    let excerpt = form.isExpanded ? nil : excerpt(at: offset)
    let error = error.moved(to: start)
    let place = InputPlace(position: error.position, fieldPath: error.fieldPath, excerpt: excerpt)
    return Failure(
      .input, source, error.description,
      hint: functionHint(offset) ?? fileHint(error) ?? error.hint ?? hint ?? syntaxHint(offset), place: place
    ).lacking(error.missingName)
  }

  /// What to write instead of text that is nearly JSON, or that is not JSON at all; nil if that is not known.
  private func syntaxHint(_ offset: Int) -> String? {
    guard form.format == .json else { return nil }
    let first = bytes.indices.contains(offset) ? bytes[offset] : 0
    let before = bytes.prefix(offset).last { $0 > 0x20 }
    let isLetter = (65...90).contains(first & 0xDF)
    if before == UInt8(ascii: ","), first == UInt8(ascii: "}") || first == UInt8(ascii: "]") {
      return "remove the comma before \"\(Character(Unicode.Scalar(first)))\""
    }
    if before == UInt8(ascii: "{") || before == UInt8(ascii: ","), first == UInt8(ascii: "'") || isLetter {
      return "names are in double quotes: {\"name\": …}"
    }
    guard offset == 0, isLetter, let argument = origin.argument else { return nil }
    let name = argument.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    if argument.dropFirst(name.count).drop(while: \.isWhitespace).first.map({ ":{<".contains($0) }) == true {
      return "for protobuf's text format, add --data-format text"
    }
    guard !argument.contains(" ") else { return nil }
    if argument.contains("=") { return "write JSON, or --set \(argument)" }
    return argument.contains(".") || argument.contains("/") ? "a file is given by -d @\(argument)" : nil
  }

  /// The option that replaces a value function at the position of an error; nil if absent.
  private func functionHint(_ offset: Int) -> String? {
    guard form.acceptsFiles, !form.isExpanded, form.format == .json, bytes.indices.contains(offset) else {
      return nil
    }
    return JSONTemplate.expression(ofValueAt: offset, in: bytes).map { "add --expand to replace ${\($0)}" }
  }

  /// The ways to give bytes, for the error of a field that has neither.
  private func fileHint(_ error: MessageParseError) -> String? {
    guard case .invalidBase64 = error.reason, let hint = error.hint, form.acceptsFiles else { return nil }
    let text = form.isExpanded ? "" : "with --expand, "
    return "\(hint); --set-file \(error.fieldPath)=FILE sends the content of a file; "
      + "\(text)${base64(\\\"TEXT\\\")} is the base64 of a text"
  }

  /// The failure to report if the message is not valid JSON; nil if it is. Its type is not checked.
  fileprivate var syntaxFailure: Failure? {
    guard form.format == .json else { return nil }
    do throws(MessageParseError) {
      _ = try JSONValue(parsing: bytes)
      return nil
    } catch {
      return failure(error)
    }
  }

  /// What to do about an array where an object is expected; nil for any other error.
  func arrayHint(_ error: MessageParseError) -> String? {
    guard error.position.byteOffset == 0,
      bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "[")
    else { return nil }
    return "jq -c '.[]' splits an array into messages, for --each or a stream"
  }

  /// The line around a byte of the message; data before the message is not available.
  package func excerpt(at byte: Int) -> InputExcerpt? {
    if start.byteOffset == 0, let argument = origin.argument {
      return InputExcerpt(Array(argument.utf8), at: byte)
    }
    return InputExcerpt(bytes, at: byte, isInside: start.column > 1)
  }
}

/// A source of request messages.
package enum RequestSource {
  /// Messages that are read before the call starts.
  case messages([RequestMessage])
  /// A file, or standard input for `-`, that is read while the call runs. Each message is sent when it is complete.
  case stream(path: String, form: RequestForm)

  /// All messages of the source. A file or standard input is read to its end.
  ///
  /// - Parameter waitLimit: How long to wait for data from a pipe; nil for no limit.
  package func messages(waitLimit: Duration?) throws(Failure) -> [RequestMessage] {
    switch self {
    case .messages(let messages): messages
    case .stream(let path, let form): try RequestData.read(path, form, waitLimit: waitLimit)
    }
  }
}

/// The request messages that `-d` specifies.
package enum RequestData {
  /// The sources of the messages for `method`, in order.
  ///
  /// If the method accepts one message, that is read now, unless each message is for a call of its own.
  ///
  /// - Parameter waitLimit: How long to wait for data from a pipe that is read now; nil for no limit.
  package static func sources(
    _ arguments: [String], for method: MethodDescriptor, isBatch: Bool, form: RequestForm,
    waitLimit: Duration? = nil
  ) throws(Failure) -> [RequestSource] {
    if arguments.isEmpty, method.clientStreaming, !isBatch, !form.edits.isEmpty {
      return [.messages([empty(form)])]
    }
    guard method.clientStreaming || isBatch else {
      let messages = try messages(arguments, for: method, form: form, waitLimit: waitLimit)
      return [.messages(messages)]
    }
    var sources: [RequestSource] = []
    for argument in arguments.isEmpty ? ["@-"] : arguments {
      if argument.hasPrefix("@") {
        sources.append(.stream(path: String(argument.dropFirst()), form: form))
      } else {
        sources.append(.messages(try split(Array(argument.utf8), "-d", form, of: argument)))
      }
    }
    return sources
  }

  /// The messages of a file, or of standard input for `-`, which is read to its end.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - form: The format of the messages.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  static func read(_ path: String, _ form: RequestForm, waitLimit: Duration?) throws(Failure)
    -> [RequestMessage]
  {
    let source = path == "-" ? "standard input" : path
    let contents = try reading(source) { () throws(SystemError) in
      try FileContents.read(path, limitBytes: FileContents.dataLimitBytes, waitLimit: waitLimit)
    }
    return try split(contents, source, form)
  }

  /// The only message for `method`. Its fields are checked when it is encoded.
  private static func messages(
    _ arguments: [String], for method: MethodDescriptor, form: RequestForm, waitLimit: Duration?
  ) throws(Failure) -> [RequestMessage] {
    var messages: [RequestMessage] = []
    for argument in arguments {
      let path = argument.hasPrefix("@") ? String(argument.dropFirst()) : nil
      let source = path.map { $0 == "-" ? "standard input" : $0 } ?? "-d"
      // In formats other than JSON, all of the data is one message, which may span lines.
      let framing: MessageFraming = form.format == .json ? .values : .whole
      let items = try read(argument, source, framing, form, waitLimit)
      guard !items.isEmpty else {
        throw Failure(
          .input, source, "the data is empty", hint: "omit -d to send an empty message, or use {}")
      }
      messages += items
    }
    if messages.count > 1 {
      let second = messages[1]
      let place = "line \(second.start.line), column \(second.start.column)"
      throw Failure(
        .input, second.source, "second message (\(place)), but \(method.name) accepts one message",
        hint: "--each makes one call per message",
        place: InputPlace(position: second.start, excerpt: second.excerpt(at: 0)))
    }
    guard messages.isEmpty else { return messages }
    return [empty(form)]
  }

  /// An empty message, which gets the fields of the options.
  private static func empty(_ form: RequestForm) -> RequestMessage {
    var form = form
    form.format = .json
    return RequestMessage(source: "-d", start: TextPosition(), bytes: Array("{}".utf8), form: form)
  }

  /// The consecutive messages in `text`.
  private static func split(
    _ text: [UInt8], _ source: String, _ form: RequestForm, of argument: String? = nil
  ) throws(Failure) -> [RequestMessage] {
    var splitter = MessageSplitter(form.framing)
    splitter.append(text)
    splitter.finish()
    return try removeMessages(from: &splitter, source, form, of: argument)
  }

  /// The messages of an argument, or of the file or standard input that it names. Stops reading at a message that is
  /// too long and at a second message.
  private static func read(
    _ argument: String, _ source: String, _ framing: MessageFraming, _ form: RequestForm,
    _ waitLimit: Duration?
  ) throws(Failure) -> [RequestMessage] {
    var splitter = MessageSplitter(framing)
    guard argument.hasPrefix("@") else {
      splitter.append(Array(argument.utf8))
      splitter.finish()
      return try removeMessages(from: &splitter, source, form, of: argument)
    }
    var messages: [RequestMessage] = []
    let input = try reading(source) { () throws(SystemError) in
      try InputFile(String(argument.dropFirst()), waitLimit: waitLimit)
    }
    defer { input.close() }
    while messages.count < 2 {
      let piece = try reading(source) { () throws(SystemError) in try input.next() }
      if let piece { splitter.append(piece) } else { splitter.finish() }
      messages += try removeMessages(from: &splitter, source, form)
      if piece == nil { break }
    }
    return messages
  }

  private static func reading<Result>(
    _ source: String, _ body: () throws(SystemError) -> Result
  ) throws(Failure) -> Result {
    do throws(SystemError) {
      return try body()
    } catch {
      throw Interrupt.failure ?? Failure(.input, source, error)
    }
  }

  /// Removes complete messages from the splitter.
  private static func removeMessages(
    from splitter: inout MessageSplitter, _ source: String, _ form: RequestForm, of argument: String? = nil
  ) throws(Failure) -> [RequestMessage] {
    var messages: [RequestMessage] = []
    let origin = RequestOrigin(source, form, isTyped: argument != nil, argument: argument)
    do {
      while let message = try splitter.next(of: origin) {
        if origin.isTyped { try message.checkTemplate() }
        messages.append(message)
      }
      if let piece = splitter.emptyPiece(of: origin) { messages.append(piece) }
    } catch {
      // Brackets that close too early end a message: the cause is in it.
      throw messages.last?.syntaxFailure ?? error
    }
    return messages
  }
}
