@testable import RPCurlProtobuf

/// Reads text format.
func fuzzText(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard let (type, text) = Fuzz.split(start, count) else { return 0 }
  let partial = TextDecodingOptions(allowPartial: true)
  let read = Fuzz.bounded("text into a message", text) { try? Message(type, text: text, options: partial) }
  compare(type, text, partial, read)
  if let message = read {
    Fuzz.check(message)
  }
  let lenient = TextDecodingOptions(allowUnknownFields: true, allowPartial: true)
  compare(type, text, lenient, try? Message(type, text: text, options: lenient))
  Fuzz.checkPieces(type, ConversionOptions(from: .text, to: .text, isDelimited: true), text)
  return 0
}

/// Text is read to the same bytes with and without a message.
private func compare(
  _ type: MessageType, _ text: [UInt8], _ options: TextDecodingOptions, _ message: Message?
) {
  var direct = OutputBuffer()
  let result = Result { () throws(MessageParseError) in
    try text.withRawBytes { (bytes) throws(MessageParseError) in
      try TextToWire.transcode(bytes, type: type.node, options: options, into: &direct)
    }
  }
  switch (result, message) {
  case (.success(let missing), let message?):
    Fuzz.require(direct.copyBytes() == message.serialized(), "both give the same bytes", text)
    Fuzz.require(missing.map { $0 == message.missingRequiredFields() } ?? true, "both lack the same", text)
  case (.failure, nil): break
  default: Fuzz.require(false, "text is read with and without a message", text)
  }
}
