/// Reads text format.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard let (type, text) = Fuzz.split(start, count) else { return 0 }
  let partial = TextDecodingOptions(allowPartial: true)
  let read = Fuzz.bounded("text into a message", text) { try? Message(type, text: text, options: partial) }
  if let message = read {
    Fuzz.check(message)
  }
  var direct = OutputBuffer()
  let isDirect = text.withRawBytes { bytes in
    (try? TextToWire.transcode(bytes, type: type.node, options: partial, into: &direct)) != nil
  }
  Fuzz.require(isDirect == (read != nil), "text is read with and without a message", text)
  if let message = read {
    Fuzz.require(direct.copyBytes() == message.serialized(), "both give the same bytes", text)
  }
  let lenient = TextDecodingOptions(allowUnknownFields: true, allowPartial: true)
  _ = try? Message(type, text: text, options: lenient)
  Fuzz.checkPieces(type, ConversionOptions(from: .text, to: .text, isDelimited: true), text)
  return 0
}
