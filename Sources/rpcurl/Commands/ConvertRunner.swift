import RPCurlBase
import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// Reads, converts and writes messages in pieces.
struct ConvertRunner {
  private let type: MessageType
  private let options: ConversionOptions
  private let path: String
  /// The field to print; nil to print whole messages.
  private let filter: ConvertFilter?
  private let console: Console

  /// Resolves the options. Reads no input.
  init(_ command: Invocation, _ console: Console) throws {
    self.console = console
    let hasSchema = !command.has(.noSchema)
    let input = try ConvertedType(command, console)
    (type, path) = (input.type, input.path)
    filter = try ConvertFilter(command, of: type, hasSchema: hasSchema)
    let from: MessageFormat = command.choice(.from) ?? .binary
    let to: MessageFormat = command.choice(.to) ?? (filter == nil ? .text : .json)
    if filter != nil, to != .json {
      throw Failure(.usage, "--filter", "cannot be combined with --to \(to.rawValue)")
    }
    if filter?.isRaw == true, console.output.isTerminal {
      throw Failure(.usage, "--raw", "standard output is a terminal", hint: "use a pipe")
    }
    if to != .json { try command.checkJSON(output: to.rawValue) }
    let isDelimited = command.has(.delimited)
    var options = ConversionOptions(from: from, to: to, isDelimited: isDelimited)
    if filter != nil {
      // The filter reads binary messages; the length before each separates several.
      options.to = .binary
      if from == .json { options.isDelimited = true }
    }
    options.jsonEncoding = command.jsonEncoding
    options.jsonEncoding.pretty = command.has(.pretty) || console.output.isTerminal && !isDelimited
    options.jsonDecoding.allowUnknownFields = command.has(.allowUnknownFields)
    options.textDecoding.allowUnknownFields = command.has(.allowUnknownFields)
    let unknownFields: UnknownFields? =
      command.has(.noUnknownFields) ? .drop : command.choice(.unknownFields)
    options.unknownFields = unknownFields ?? .show
    options.textEncoding.unknownFields = options.unknownFields == .show
    options.jsonEncoding.unknownFields = unknownFields ?? .drop
    if !hasSchema {
      options.textEncoding.showsTypes = true
      options.jsonEncoding.unknownFields = .show
    }
    options.allowPartial = command.has(.allowPartial)
    self.options = options
  }

  func run() throws(Failure) {
    let source = path == "-" ? "standard input" : path
    console.output.holdsText = filter.map { !$0.isRaw } ?? (options.to != .binary)
    if let head = filter?.head { console.output.print(head) }
    var converter = Converter(type, options: options)
    do {
      if options.isDelimited || options.from == .json {
        try stream(&converter)
      } else {
        // A single message is needed as a whole; a mapped file need not be copied.
        let input = try FileContents.map(path)
        var output = OutputBuffer()
        try converter.finish(with: RawSpan(_unsafeBytes: input.bytes), into: &output)
        var count = 0
        try write(&output, from: &count)
      }
    } catch let failure as Failure {
      console.output.flush()
      throw failure
    } catch let problem as SystemError {
      throw Failure(.input, source, problem)
    } catch let error as ConversionError {
      // The messages before the invalid one are valid.
      console.output.flush()
      throw Failure(
        error.isAboutSchema ? .schema : .input, source, error.description, hint: error.hint,
        place: error.place)
    } catch {
      throw Failure(.internalError, source, "\(error)")
    }
    console.output.flush()
    if converter.hasRepairedText {
      console.error.remark(
        "rpcurl: \(TerminalText.escape(source)): warning: invalid UTF-8 in strings became U+FFFD; "
          + "binary and text output keep it\n")
    }
  }

  /// Converts and writes complete messages as input arrives.
  private func stream(_ converter: inout Converter) throws {
    let input = try InputFile(path)
    defer { input.close() }
    var output = OutputBuffer()
    var count = 0
    while let piece = try input.next(limitBytes: 1 << 18) {
      // The messages before an invalid one are valid.
      let result = Result { try converter.convert(piece.span.bytes, into: &output) }
      try write(&output, from: &count)
      console.output.flush()
      try result.get()
    }
    let result = Result { try converter.finish(into: &output) }
    try write(&output, from: &count)
    try result.get()
  }

  /// Writes converted messages, or the field of each, and removes them.
  ///
  /// - Parameters:
  ///   - output: The messages.
  ///   - count: The number of messages written before.
  private func write(_ output: inout OutputBuffer, from count: inout Int) throws {
    defer { output.removeAll() }
    guard let filter else { return output.withBytes { console.output.write($0) } }
    var text: [UInt8] = []
    defer { console.output.write(text) }
    var splitter = MessageSplitter(options.isDelimited ? .delimited : .whole, limitBytes: .max)
    output.withBytes { splitter.append($0) }
    splitter.finish()
    while let message = try splitter.next() {
      try filter.append(
        message.bytes.span.bytes, at: count, options.jsonEncoding,
        escapesControls: console.output.isTerminal, to: &text)
      count += 1
    }
  }
}

extension ConversionError {
  /// The place of the error in the input, if the input has lines.
  fileprivate var place: InputPlace? {
    guard case .text(let error) = reason, let position else { return nil }
    let excerpt = surroundings.flatMap { around in
      InputExcerpt(around.text, at: around.offset, isInside: position.byteOffset > around.offset)
    }
    return InputPlace(position: position, fieldPath: error.fieldPath, excerpt: excerpt)
  }

  /// Whether the schema is invalid, rather than the input.
  fileprivate var isAboutSchema: Bool {
    switch reason {
    case .text(let error): if case .schema = error.reason { true } else { false }
    case .binary(let error): if case .schema = error.reason { true } else { false }
    default: false
    }
  }
}
