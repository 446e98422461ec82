@testable import RPCurlProtobuf

/// A field of a serialized descriptor that is a text, bytes or a message.
func delimitedField(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
  var out = OutputBuffer(capacity: content.count + 8)
  out.appendTag(Tag(UInt32(number), .lengthDelimited))
  out.appendVarint(UInt64(content.count))
  return out.copyBytes() + content
}
