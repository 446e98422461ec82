/// Converts single messages.
struct MessageConverter: Sendable {
  private let type: MessageType
  private let options: ConversionOptions
  private let transcoder: JSONTranscoder
  private let textEncoding: TextEncodingOptions

  init(_ type: MessageType, _ options: ConversionOptions) {
    self.type = type
    self.options = options
    var jsonDecoding = options.jsonDecoding
    jsonDecoding.allowPartial = options.allowPartial
    transcoder = JSONTranscoder(type, decoding: jsonDecoding)
    var textEncoding = options.textEncoding
    if options.isDelimited { textEncoding.singleLine = true }
    if options.unknownFields == .drop { textEncoding.unknownFields = false }
    self.textEncoding = textEncoding
  }

  /// Appends the output for a message; nothing on an error. Returns whether a string that is not UTF-8 was
  /// written with replacement characters.
  func convert(_ input: UnsafeRawBufferPointer, into out: inout OutputBuffer) throws(ConversionError) -> Bool
  {
    switch (options.from, options.to) {
    case (.binary, .json): return try json(of: input, into: &out)
    case (.json, .binary):
      try delimited(into: &out) { (out) throws(ConversionError) in try binary(ofJSON: input, into: &out) }
    case (.text, .binary):
      try delimited(into: &out) { (out) throws(ConversionError) in try binary(ofText: input, into: &out) }
    case (.binary, .binary):
      try delimited(into: &out) { (out) throws(ConversionError) in try canonical(input, into: &out) }
    case (.binary, .text): try appendText(of: input, to: &out)
    case (.json, .json), (.text, .json):
      return try withBinary(of: input) { (bytes) throws(ConversionError) in try json(of: bytes, into: &out) }
    case (.json, .text), (.text, .text):
      try withBinary(of: input) { (bytes) throws(ConversionError) in try appendText(of: bytes, to: &out) }
    }
    return false
  }

  /// Calls `body` with the serialized message of JSON or text format.
  private func withBinary<Result>(
    of input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(ConversionError) -> Result
  ) throws(ConversionError) -> Result {
    var bytes = OutputBuffer()
    if options.from == .json {
      try binary(ofJSON: input, into: &bytes)
    } else {
      try binary(ofText: input, into: &bytes)
    }
    return try bytes.withBytes(body)
  }

  // MARK: Reading

  private func binary(
    ofText input: UnsafeRawBufferPointer, into out: inout OutputBuffer
  ) throws(ConversionError) {
    let start = out.count
    let missing: [String]?
    do throws(MessageParseError) {
      missing = try TextToWire.transcode(input, type: type.node, options: options.textDecoding, into: &out)
    } catch {
      throw ConversionError(.text(error))
    }
    if options.allowPartial || missing == [] { return }
    if let missing {
      out.truncate(to: start)
      throw ConversionError(.missingRequired(missing))
    }
    let bytes = out.copyBytes(from: start)
    try bytes.withRawBytes { (bytes) throws(ConversionError) in try checkRequired(bytes, &out, from: start) }
  }

  private func binary(
    ofJSON input: UnsafeRawBufferPointer, into out: inout OutputBuffer
  ) throws(ConversionError) {
    do throws(MessageParseError) {
      try transcoder.transcode(json: RawSpan(_unsafeBytes: input), into: &out)
    } catch {
      if case .missingRequired(let paths) = error.reason { throw ConversionError(.missingRequired(paths)) }
      throw ConversionError(.text(error))
    }
  }

  // MARK: Required fields

  /// Removes the output from `start` on, and throws, if a serialized message lacks required fields.
  private func checkRequired(
    _ bytes: UnsafeRawBufferPointer, _ out: inout OutputBuffer, from start: Int
  ) throws(ConversionError) {
    let missing = (try? Message(type.node, bytes: bytes))?.missingRequiredFields() ?? []
    if missing.isEmpty { return }
    out.truncate(to: start)
    throw ConversionError(.missingRequired(missing))
  }

  // MARK: Writing

  private func json(
    of bytes: UnsafeRawBufferPointer, into out: inout OutputBuffer
  ) throws(ConversionError) -> Bool {
    let start = out.count
    let mayLackRequired: Bool
    let repairsText: Bool
    do throws(DecodeError) {
      (mayLackRequired, repairsText) = try WireToJSON.transcode(
        bytes, type: type, options: options.jsonEncoding, into: &out)
    } catch {
      throw ConversionError(.binary(error))
    }
    if mayLackRequired, !options.allowPartial { try checkRequired(bytes, &out, from: start) }
    out.append(10)
    return repairsText
  }

  /// Appends the output of `body`, after its length if messages are delimited.
  private func delimited(
    into out: inout OutputBuffer, _ body: (inout OutputBuffer) throws(ConversionError) -> Void
  ) throws(ConversionError) {
    guard options.isDelimited else { return try body(&out) }
    let start = out.openLengthDelimited()
    do throws(ConversionError) { try body(&out) } catch {
      out.truncate(to: start - 1)
      throw error
    }
    out.closeLengthDelimited(start)
  }

  private func appendText(of bytes: UnsafeRawBufferPointer, to out: inout OutputBuffer)
    throws(ConversionError)
  {
    try checked(bytes, &out) { (out) throws(DecodeError) in
      try TextPrinter.print(bytes, type: type.node, options: textEncoding, into: &out)
    }
    if textEncoding.singleLine { out.append(10) }
  }

  /// Appends the canonical form of a message; nothing on an error.
  private func canonical(_ bytes: UnsafeRawBufferPointer, into out: inout OutputBuffer)
    throws(ConversionError)
  {
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
  ) throws(ConversionError) {
    let start = out.count
    let lacksRequired: Bool
    do throws(DecodeError) { lacksRequired = try write(&out) } catch { throw ConversionError(.binary(error)) }
    if lacksRequired, !options.allowPartial { try checkRequired(bytes, &out, from: start) }
  }
}
