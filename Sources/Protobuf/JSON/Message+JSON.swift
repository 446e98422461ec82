extension Message {
  /// Parses a message from a JSON text with one value. Uses at most 100 times the text's length in memory.
  ///
  /// - Parameters:
  ///   - type: The type of the message.
  ///   - json: The JSON text, in UTF-8.
  ///   - options: What is accepted besides.
  /// - Throws: ``MessageParseError`` if the text is not JSON, or does not fit the type.
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
  ///
  /// - Parameter options: The form of the text.
  /// - Throws: ``DecodeError`` if JSON has no form for a value of the message.
  public func json(options: JSONEncodingOptions = JSONEncodingOptions()) throws(DecodeError) -> [UInt8] {
    var json: [UInt8] = []
    try JSONTranscoder(type, encoding: options).transcode(serialized: serialized(), into: &json)
    return json
  }
}
