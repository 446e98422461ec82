/// Converts single messages.
struct MessageConverter: Sendable {
  /// Why a message cannot be converted.
  enum Failure: Error {
    case json(JSONError)
    case text(TextError)
    case binary(DecodeError)
    case missingRequired([String])

    /// The same in an input of which the message is a part.
    func reason(movedTo place: JSONPosition) -> ConversionError.Reason {
      switch self {
      case .json(let error): .json(error.moved(to: place))
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
    // Checked here, so that the error is the same whatever the form of the input.
    textDecoding.allowPartial = true
    self.textDecoding = textDecoding
    var textEncoding = options.textEncoding
    if options.isDelimited { textEncoding.singleLine = true }
    self.textEncoding = textEncoding
  }

  /// Appends what belongs into the output for a message; nothing on an error.
  func convert(_ input: UnsafeRawBufferPointer, into out: inout OutputBuffer) throws(Failure) {
    switch (options.from, options.to) {
    case (.binary, .json):
      try json(of: input, into: &out)
    case (.json, .binary):
      guard options.isDelimited else { return try binary(ofJSON: input, into: &out) }
      let start = out.openLengthDelimited()
      do throws(Failure) { try binary(ofJSON: input, into: &out) } catch {
        out.truncate(to: start - 1)
        throw error
      }
      out.closeLengthDelimited(start)
    case (.json, .json):
      var bytes = OutputBuffer()
      try binary(ofJSON: input, into: &bytes)
      try bytes.withBytes { (bytes) throws(Failure) in try json(of: bytes, into: &out) }
    case (.text, .json):
      let bytes = try message(ofText: input).serialized()
      try bytes.withRawBytes { (bytes) throws(Failure) in try json(of: bytes, into: &out) }
    case (.text, .binary): try append(message(ofText: input).serialized(), to: &out)
    case (.text, .text): try appendText(of: message(ofText: input), to: &out)
    case (.binary, .binary): try append(message(of: input).serialized(), to: &out)
    case (.binary, .text): try appendText(of: message(of: input), to: &out)
    case (.json, .text):
      var bytes = OutputBuffer()
      try binary(ofJSON: input, into: &bytes)
      let message = try bytes.withBytes { (bytes) throws(Failure) in try self.message(of: bytes) }
      appendText(of: message, to: &out)
    }
  }

  // MARK: Reading

  private func message(of input: UnsafeRawBufferPointer) throws(Failure) -> Message {
    let message: Message
    do throws(DecodeError) { message = try Message(type.node, bytes: input) } catch { throw .binary(error) }
    try check(message)
    return message
  }

  private func message(ofText input: UnsafeRawBufferPointer) throws(Failure) -> Message {
    let message: Message
    do throws(TextError) {
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
    do throws(JSONError) {
      try transcoder.transcode(json: RawSpan(_unsafeBytes: input), into: &out)
    } catch {
      if case .missingRequired(let paths) = error.reason { throw .missingRequired(paths) }
      throw .json(error)
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

  private func json(of bytes: UnsafeRawBufferPointer, into out: inout OutputBuffer) throws(Failure) {
    let start = out.count
    let mayLackRequired: Bool
    do throws(DecodeError) {
      mayLackRequired = try WireToJSON.transcode(bytes, type: type, options: options.jsonEncoding, into: &out)
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
  }

  private func append(_ bytes: [UInt8], to out: inout OutputBuffer) {
    if options.isDelimited { out.appendVarint(UInt64(bytes.count)) }
    out.append(bytes)
  }

  private func appendText(of message: Message, to out: inout OutputBuffer) {
    out.append(message.text(options: textEncoding))
    if textEncoding.singleLine { out.append(10) }
  }
}
