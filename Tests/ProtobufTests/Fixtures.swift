import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

/// A type of the test schemas.
func type(_ name: String) throws -> MessageType {
  try #require(try makePool().messageType(named: name))
}

/// Bytes from hexadecimal digits; ignores white space.
func hex(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

/// Hexadecimal digits of bytes.
func hexText(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// The JSON of a serialized message; checks that the direct and the message-based conversion agree.
func json(
  _ typeName: String, _ bytes: [UInt8], _ options: JSONEncodingOptions = JSONEncodingOptions()
) throws -> String {
  let type = try type(typeName)
  var direct: [UInt8] = []
  try JSONTranscoder(type, encoding: options).transcode(serialized: bytes, into: &direct)
  let text = String(decoding: direct, as: UTF8.self)
  let message = try Message(type, serialized: bytes)
  #expect(String(decoding: try message.json(options: options), as: UTF8.self) == text)
  return text
}

/// The serialized message of a JSON text; checks that the direct and the message-based conversion agree.
func wire(
  _ typeName: String, _ json: String, _ options: JSONDecodingOptions = JSONDecodingOptions()
) throws -> [UInt8] {
  let type = try type(typeName)
  var direct: [UInt8] = []
  try JSONTranscoder(type, decoding: options).transcode(json: Array(json.utf8), into: &direct)
  let message = try Message(type, json: Array(json.utf8), options: options)
  #expect(hexText(message.serialized()) == hexText(direct))
  return direct
}

/// The error of a JSON text.
func jsonError(_ typeName: String, _ json: String) -> MessageParseError? {
  do {
    _ = try wire(typeName, json)
    return nil
  } catch {
    return error as? MessageParseError
  }
}
