import Interceptors
import Protobuf

/// Carries out a conversion: reads, converts and writes in pieces.
struct ConvertRunner {
  private let type: MessageType
  private let options: ConversionOptions
  private let path: String

  /// Resolves the options. Of the input nothing is read.
  init(_ command: ConvertCommand) throws(Failure) {
    let pool = try SchemaSource.pool(command.schema)
    type = try Self.type(command.type.text ?? "", in: pool)
    path = command.file ?? "-"
    if command.to != .json {
      try command.json.check(output: command.to.rawValue)
    }
    if command.to != .text, command.noUnknownFields.isOn, command.noUnknownFields.isTyped {
      throw Failure(
        .usage, "--no-unknown-fields", "it is for text format, and the output is \(command.to.rawValue)")
    }
    var options = ConversionOptions(from: command.from, to: command.to, isDelimited: command.delimited)
    options.jsonEncoding = command.json.encoding
    options.jsonEncoding.pretty = command.pretty || StandardOutput.isTerminal && !command.delimited
    options.jsonDecoding.allowUnknownFields = command.allowUnknownFields
    options.textDecoding.allowUnknownFields = command.allowUnknownFields
    options.textEncoding.unknownFields = !command.noUnknownFields.isOn
    options.allowPartial = command.allowPartial
    self.options = options
  }

  private static func type(_ name: String, in pool: DescriptorPool) throws(Failure) -> MessageType {
    do {
      if let type = try pool.messageType(named: name) { return type }
      let symbol = try SymbolLookup(pool).find(name, among: [.message])
      if let type = try pool.messageType(named: symbol.name) { return type }
      throw SymbolLookup(pool).unknown(name, among: [.message])
    } catch let failure as Failure {
      throw failure
    } catch {
      throw SchemaSource.failure(error)
    }
  }

  func run() throws(Failure) {
    let source = path == "-" ? "standard input" : path
    StandardOutput.holdsText = options.to != .binary
    var converter = Converter(type, options: options)
    do {
      if options.isDelimited || options.from == .json {
        try stream(&converter)
      } else {
        // One message: all of it is needed at once, and a mapped file need not be copied.
        let input = try FileContents.map(path)
        var output = OutputBuffer()
        try converter.finish(with: RawSpan(_unsafeBytes: input.bytes), into: &output)
        output.withBytes { StandardOutput.write($0) }
      }
    } catch let problem as FileContents.Problem {
      throw Failure(.input, source, problem.why)
    } catch let error as ConversionError {
      // What was before the message that is wrong is right.
      StandardOutput.flush()
      throw Failure(
        error.isAboutSchema ? .schema : .input, source, error.description, hint: error.hint,
        place: error.place)
    } catch {
      throw Failure(.internalError, source, "\(error)")
    }
    StandardOutput.flush()
    if converter.hasRepairedText {
      StandardError.remark(
        "rpcurl: \(TerminalText.escape(source)): warning: strings that are not UTF-8 have U+FFFD in JSON; "
          + "binary and text keep them\n")
    }
  }

  /// Converts and writes what is complete whenever something has come.
  private func stream(_ converter: inout Converter) throws {
    let input = try InputFile(path)
    defer { input.close() }
    var output = OutputBuffer()
    while let piece = try input.next() {
      defer {
        output.withBytes { StandardOutput.write($0) }
        StandardOutput.flush()
        output.removeAll()
      }
      try converter.convert(piece.span.bytes, into: &output)
    }
    defer { output.withBytes { StandardOutput.write($0) } }
    try converter.finish(into: &output)
  }
}

extension ConversionError {
  /// Where it is, in an input that has lines.
  fileprivate var place: InputPlace? {
    let excerpt = surroundings.flatMap { around in
      let isInside = position.map { $0.byteOffset > around.offset } ?? false
      return InputExcerpt(around.text, at: around.offset, isInside: isInside)
    }
    return switch reason {
    case .json(let error): InputPlace(position: error.position, fieldPath: error.fieldPath, excerpt: excerpt)
    case .text(let error): InputPlace(position: error.position, fieldPath: error.fieldPath, excerpt: excerpt)
    default: nil
    }
  }

  /// Whether the schema is to blame, not the input.
  fileprivate var isAboutSchema: Bool {
    switch reason {
    case .json(let error): if case .schema = error.reason { true } else { false }
    case .text(let error): if case .schema = error.reason { true } else { false }
    case .binary(let error): if case .schema = error.reason { true } else { false }
    default: false
    }
  }
}
