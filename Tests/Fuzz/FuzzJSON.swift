@testable import RPCurlProtobuf

/// Reads JSON.
func fuzzJSON(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard let (type, json) = Fuzz.split(start, count) else { return 0 }
  let transcoder = JSONTranscoder(type, decoding: JSONDecodingOptions(allowPartial: true))
  let result = Fuzz.bounded("JSON to binary", json, times: 40, outputBytes: { $0?.count ?? 0 }) {
    var bytes: [UInt8] = []
    return (try? transcoder.transcode(json: json, into: &bytes)).map { bytes }
  }
  if let bytes = result {
    guard let message = try? Message(type, serialized: bytes) else {
      Fuzz.require(false, "what was read from JSON is a message", json)
      return 0
    }
    Fuzz.require(message.serialized() == bytes, "JSON is turned into what a message is serialized to", json)
    Fuzz.check(message)
  }
  let lenient = JSONDecodingOptions(allowUnknownFields: true, allowPartial: true)
  var more: [UInt8] = []
  _ = try? JSONTranscoder(type, decoding: lenient).transcode(json: json, into: &more)
  Fuzz.checkPieces(type, ConversionOptions(from: .json, to: .json), json)
  checkReader(json)
  return 0
}

/// That the reader of values gives the same whether the text comes whole or byte by byte.
private func checkReader(_ text: [UInt8]) {
  func values(_ pieces: Int) -> ([MessageSplitter.Piece], MessageParseError?) {
    var reader = MessageSplitter(.values)
    var items: [MessageSplitter.Piece] = []
    do throws(MessageParseError) {
      for start in stride(from: 0, to: text.count, by: pieces) {
        reader.append(text[start..<min(start + pieces, text.count)])
        while let item = try reader.next() { items.append(item) }
      }
      reader.finish()
      while let item = try reader.next() { items.append(item) }
      return (items, nil)
    } catch {
      return (items, error)
    }
  }
  let whole = values(max(text.count, 1))
  let parts = values(1)
  Fuzz.require(whole.0 == parts.0 && whole.1 == parts.1, "the reader does not depend on the pieces", text)
}
