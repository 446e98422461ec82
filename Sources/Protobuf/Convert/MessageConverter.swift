/// Converts single messages.
struct MessageConverter: Sendable {
  /// Why a message cannot be converted.
  enum Failure: Error {
    case text(MessageParseError)
    case binary(DecodeError)
    case missingRequired([String])

    /// The same reason in an input that contains the message as a part.
    func reason(movedTo place: TextPosition) -> ConversionError.Reason {
      switch self {
      case .text(let error): .text(error.moved(to: place))
      case .binary(let error): .binary(error.moved(by: place.byteOffset))
      case .missingRequired(let paths): .missingRequired(paths)
      }
    }
  }

  private let type: MessageType
  private let options: ConversionOptions
  private let transcoder: JSONTranscoder
  private let textDecoding: TextDecodingOptions
  private let textEncoding: TextEncodingOptions

  init(_ type: MessageType, _ options: ConversionOptions) {
    self.type = type
    self.options = options
    var jsonDecoding = options.jsonDecoding
    jsonDecoding.allowPartial = options.allowPartial
    transcoder = JSONTranscoder(type, decoding: jsonDecoding)
    var textDecoding = options.textDecoding
    // Checked here, so that the error is the same for all formats of the input.
    textDecoding.allowPartial = true
    self.textDecoding = textDecoding
    var textEncoding = options.textEncoding
    if options.isDelimited { textEncoding.singleLine = true }
    if options.unknownFields == .drop { textEncoding.unknownFields = false }
    self.textEncoding = textEncoding
  }

  /// Appends the output for a message; nothing on an error. Returns whether a string that is not UTF-8 was
  /// written with replacement characters.
  func convert(_ input: UnsafeRawBufferPointer, into out: inout OutputBuffer) throws(Failure) -> Bool {
    switch (options.from, options.to) {
    case (.binary, .json): return try json(of: input, into: &out)
    case (.json, .binary):
      try delimited(into: &out) { (out) throws(Failure) in try binary(ofJSON: input, into: &out) }
    case (.json, .json):
      var bytes = OutputBuffer()
      try binary(ofJSON: input, into: &bytes)
      return try bytes.withBytes { (bytes) throws(Failure) in try json(of: bytes, into: &out) }
    case (.text, .json):
      let bytes = try message(ofText: input).serialized()
      return try bytes.withRawBytes { (bytes) throws(Failure) in try json(of: bytes, into: &out) }
    case (.text, .binary): try append(message(ofText: input).serialized(), to: &out)
    case (.text, .text): out.append(text(of: try message(ofText: input)))
    case (.binary, .binary):
      try delimited(into: &out) { (out) throws(Failure) in try canonical(input, into: &out) }
    case (.binary, .text): try appendText(of: input, to: &out)
    case (.json, .text):
      var bytes = OutputBuffer()
      try binary(ofJSON: input, into: &bytes)
      try bytes.withBytes { (bytes) throws(Failure) in try appendText(of: bytes, to: &out) }
    }
    return false
  }

  // MARK: Reading

  private func message(ofText input: UnsafeRawBufferPointer) throws(Failure) -> Message {
    let message: Message
    do throws(MessageParseError) {
      message = try TextParser.parse(input, type: type.node, options: textDecoding)
    } catch {
      throw .text(error)
    }
    try check(message)
    return message
  }

  private func binary(
    ofJSON input: UnsafeRawBufferPointer, into out: inout OutputBuffer
  ) throws(Failure) {
    do throws(MessageParseError) {
      try transcoder.transcode(json: RawSpan(_unsafeBytes: input), into: &out)
    } catch {
      if case .missingRequired(let paths) = error.reason { throw .missingRequired(paths) }
      throw .text(error)
    }
  }

  // MARK: Required fields

  private func check(_ message: Message) throws(Failure) {
    if options.allowPartial { return }
    let missing = message.missingRequiredFields()
    if !missing.isEmpty { throw .missingRequired(missing) }
  }

  private func checkBytes(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    guard let message = try? Message(type.node, bytes: bytes) else { return }
    try check(message)
  }

  // MARK: Writing

  private func json(
    of bytes: UnsafeRawBufferPointer, into out: inout OutputBuffer
  ) throws(Failure) -> Bool {
    let start = out.count
    let mayLackRequired: Bool
    let repairsText: Bool
    do throws(DecodeError) {
      (mayLackRequired, repairsText) = try WireToJSON.transcode(
        bytes, type: type, options: options.jsonEncoding, into: &out)
    } catch {
      throw .binary(error)
    }
    if mayLackRequired, !options.allowPartial {
      do throws(Failure) { try checkBytes(bytes) } catch {
        out.truncate(to: start)
        throw error
      }
    }
    out.append(10)
    return repairsText
  }

  /// Appends the output of `body`, after its length if messages are delimited.
  private func delimited(
    into out: inout OutputBuffer, _ body: (inout OutputBuffer) throws(Failure) -> Void
  ) throws(Failure) {
    guard options.isDelimited else { return try body(&out) }
    let start = out.openLengthDelimited()
    do throws(Failure) { try body(&out) } catch {
      out.truncate(to: start - 1)
      throw error
    }
    out.closeLengthDelimited(start)
  }

  private func append(_ bytes: [UInt8], to out: inout OutputBuffer) {
    if options.isDelimited { out.appendVarint(UInt64(bytes.count)) }
    out.append(bytes)
  }

  private func text(of message: Message) -> [UInt8] {
    message.text(options: textEncoding) + (textEncoding.singleLine ? [10] : [])
  }

  private func appendText(of bytes: UnsafeRawBufferPointer, to out: inout OutputBuffer) throws(Failure) {
    try checked(bytes, &out) { (out) throws(DecodeError) in
      try TextPrinter.print(bytes, type: type.node, options: textEncoding, into: &out)
    }
    if textEncoding.singleLine { out.append(10) }
  }

  /// Appends the canonical form of a message; nothing on an error.
  private func canonical(_ bytes: UnsafeRawBufferPointer, into out: inout OutputBuffer) throws(Failure) {
    try checked(bytes, &out) { (out) throws(DecodeError) in
      try CanonicalWriter.rewrite(
        bytes, type: type.node, unknownFields: options.unknownFields, into: &out)
    }
  }

  /// Appends what `write` writes of a message, which returns whether required fields are missing; nothing on an
  /// error.
  private func checked(
    _ bytes: UnsafeRawBufferPointer, _ out: inout OutputBuffer,
    _ write: (inout OutputBuffer) throws(DecodeError) -> Bool
  ) throws(Failure) {
    let start = out.count
    let lacksRequired: Bool
    do throws(DecodeError) { lacksRequired = try write(&out) } catch { throw .binary(error) }
    guard lacksRequired, !options.allowPartial else { return }
    do throws(Failure) { try checkBytes(bytes) } catch {
      out.truncate(to: start)
      throw error
    }
  }
}
