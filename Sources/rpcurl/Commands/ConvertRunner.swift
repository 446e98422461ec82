import RPCurlBase
import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// Reads, converts and writes messages in pieces.
struct ConvertRunner {
  /// The largest input without lengths: that of one message.
  private static let limitBytes = 2 << 30

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
    var written = Written()
    defer {
      console.output.flush()
      if converter.hasRepairedText || written.hasRepairedText {
        console.error.remark(
          "rpcurl: \(TerminalText.escape(source)): warning: invalid UTF-8 in strings became U+FFFD; "
            + "binary and text output keep it\n")
      }
    }
    do {
      if options.isDelimited || options.from == .json {
        try stream(&converter, &written)
      } else {
        // A single message is needed as a whole. A mapped file may become shorter, which is SIGBUS.
        let input = try FileContents.read(path, limitBytes: Self.limitBytes)
        var output = OutputBuffer()
        try converter.finish(with: input.span.bytes, into: &output)
        try write(&output, &written)
      }
    } catch let failure as Failure {
      throw failure
    } catch let problem as SystemError {
      throw Failure(.input, source, problem)
    } catch let error as ConversionError {
      throw Failure(
        error.isAboutSchema ? .schema : .input, source, error.description, hint: error.hint,
        place: error.place)
    } catch {
      throw Failure(.internalError, source, "\(error)")
    }
  }

  /// What was written.
  private struct Written {
    /// The number of messages.
    var count = 0
    /// Whether the field of a message has replacement characters for a string that is not UTF-8.
    var hasRepairedText = false
  }

  /// Converts and writes complete messages as input arrives.
  private func stream(_ converter: inout Converter, _ written: inout Written) throws {
    let input = try InputFile(path)
    defer { input.close() }
    var output = OutputBuffer()
    while let piece = try input.next(limitBytes: 1 << 18) {
      // The messages before an invalid one are valid.
      let result = Result { try converter.convert(piece.span.bytes, into: &output) }
      try write(&output, &written)
      console.output.flush()
      try result.get()
    }
    let result = Result { try converter.finish(into: &output) }
    try write(&output, &written)
    try result.get()
  }

  /// Writes converted messages, or the field of each, and removes them.
  ///
  /// - Parameters:
  ///   - output: The messages.
  ///   - written: What was written before.
  private func write(_ output: inout OutputBuffer, _ written: inout Written) throws {
    defer { output.removeAll() }
    guard let filter else { return output.withBytes { console.output.write($0) } }
    var text: [UInt8] = []
    defer { console.output.write(text) }
    var splitter = MessageSplitter(options.isDelimited ? .delimited : .whole, limitBytes: .max)
    output.withBytes { splitter.append($0) }
    splitter.finish()
    while let message = try splitter.next() {
      let isRepaired = try filter.append(
        message.bytes.span.bytes, at: written.count, options.jsonEncoding,
        escapesControls: console.output.isTerminal, to: &text)
      if isRepaired { written.hasRepairedText = true }
      written.count += 1
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
