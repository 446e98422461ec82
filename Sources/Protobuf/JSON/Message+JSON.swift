extension Message {
  /// Parses a message from a JSON text with one value. Uses at most 100 times the text's length in memory.
  public init(
    _ type: MessageType, json: [UInt8], options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(MessageParseError) {
    var bytes: [UInt8] = []
    try JSONTranscoder(type, decoding: options).transcode(json: json, into: &bytes)
    do { self = try Message(type, serialized: bytes) } catch {
      // The transcoder's output is valid; only an invalid schema can fail here.
      guard case .schema(let schemaError) = error.reason else { self = Message(type); return }
      throw MessageParseError(.schema(schemaError), format: .json)
    }
  }

  /// The message as JSON.
  public func json(options: JSONEncodingOptions = JSONEncodingOptions()) throws(DecodeError) -> [UInt8] {
    var json: [UInt8] = []
    try JSONTranscoder(type, encoding: options).transcode(serialized: serialized(), into: &json)
    return json
  }
}
