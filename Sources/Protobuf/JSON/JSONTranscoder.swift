/// Converts JSON to serialized messages of one type, and back, without building messages.
///
/// The results are the same as with a ``Message``. Output is appended: one `OutputBuffer`, cleared and
/// reused, serves many messages without an allocation for each.
///
/// Memory, in addition to input and output: reading JSON takes at most 40 times the length of the text and
/// three times that of the message. Writing JSON takes at most 100 times the length of the message, and three
/// times that of the text; a message with its fields by number takes no more than the text.
public struct JSONTranscoder: Sendable {
  /// The type of the messages.
  public let type: MessageType
  /// Options for reading JSON.
  public var decoding: JSONDecodingOptions
  /// Options for writing JSON.
  public var encoding: JSONEncodingOptions

  /// Makes a transcoder for messages of a type.
  public init(
    _ type: MessageType, decoding: JSONDecodingOptions = JSONDecodingOptions(),
    encoding: JSONEncodingOptions = JSONEncodingOptions()
  ) {
    self.type = type
    self.decoding = decoding
    self.encoding = encoding
  }

  /// Reads a JSON text and appends the serialized message. On an error nothing is appended.
  package func transcode(json: RawSpan, into out: inout OutputBuffer) throws(MessageParseError) {
    let start = out.count
    let mayLackRequired = try json.withUnsafeBytes { (bytes) throws(MessageParseError) in
      try JSONToWire.transcode(bytes, type: type, options: decoding, into: &out)
    }
    if mayLackRequired, !decoding.allowPartial { try checkRequiredFields(&out, from: start) }
  }

  /// Removes the output from `start` on if it lacks required fields.
  @inline(never)
  private func checkRequiredFields(_ out: inout OutputBuffer, from start: Int) throws(MessageParseError) {
    guard let message = try? Message(type, serialized: out.copyBytes(from: start)) else { return }
    let missing = message.missingRequiredFields()
    if missing.isEmpty { return }
    out.truncate(to: start)
    throw MessageParseError(.missingRequired(missing), format: .json)
  }

  /// Reads a serialized message and appends its JSON. On an error nothing is appended.
  package func transcode(serialized: RawSpan, into out: inout OutputBuffer) throws(DecodeError) {
    _ = try serialized.withUnsafeBytes { (bytes) throws(DecodeError) in
      try WireToJSON.transcode(bytes, type: type, options: encoding, into: &out)
    }
  }

  /// Reads serialized messages and appends the JSON of each, and a line feed: up to one that has an error, of which
  /// nothing is appended, or until there is much output.
  ///
  /// - Parameters:
  ///   - places: The places of the messages in the piece, in bytes.
  ///   - piece: Bytes that contain the messages.
  ///   - out: The output.
  /// - Returns: The number of messages that were written.
  package func transcodeLines(
    serialized places: Span<Range<Int>>, of piece: RawSpan, into out: inout OutputBuffer
  ) -> Int {
    piece.withUnsafeBytes {
      WireToJSON.transcodeLines(places, of: $0, type: type, options: encoding, into: &out)
    }
  }

  /// Reads a JSON text and appends the serialized message. On an error nothing is appended.
  package func transcode(json: RawSpan, into out: inout [UInt8]) throws(MessageParseError) {
    var buffer = OutputBuffer()
    try transcode(json: json, into: &buffer)
    buffer.withBytes { out.append(contentsOf: $0) }
  }

  /// Reads a JSON text and appends the serialized message. On an error nothing is appended.
  ///
  /// - Parameters:
  ///   - json: The JSON text, in UTF-8.
  ///   - out: Receives the serialized message.
  /// - Throws: ``MessageParseError`` if the text is not JSON, or does not fit the type.
  public func transcode(json: [UInt8], into out: inout [UInt8]) throws(MessageParseError) {
    try transcode(json: json.span.bytes, into: &out)
  }

  /// Reads a serialized message and appends its JSON. On an error nothing is appended.
  package func transcode(serialized: RawSpan, into out: inout [UInt8]) throws(DecodeError) {
    var buffer = OutputBuffer()
    try transcode(serialized: serialized, into: &buffer)
    buffer.withBytes { out.append(contentsOf: $0) }
  }

  /// Reads a serialized message and appends its JSON. On an error nothing is appended.
  ///
  /// - Parameters:
  ///   - serialized: The message in the binary format.
  ///   - out: Receives the JSON text, in UTF-8.
  /// - Throws: ``DecodeError`` if the bytes are invalid, or JSON has no form for a value.
  public func transcode(serialized: [UInt8], into out: inout [UInt8]) throws(DecodeError) {
    try transcode(serialized: serialized.span.bytes, into: &out)
  }
}
