import RPCurlProtobuf

extension SecretMask {
  /// The most levels of messages in a message that are read as such.
  private static let maxDepth = 64

  /// A serialized message without secrets in its texts. Its schema is not needed: bytes are read as a message if they are one,
  /// and else as text.
  package func apply(toMessage bytes: [UInt8]) -> [UInt8] {
    let text = apply(bytes)
    guard text != bytes, let message = fields(bytes, 0), apply(message) == message else { return text }
    return message
  }

  /// Only what is no message within the bytes is searched, so that the time does not grow with their depth.
  ///
  /// - Returns: nil if the bytes are no message.
  private func fields(_ bytes: [UInt8], _ depth: Int) -> [UInt8]? {
    guard depth < Self.maxDepth, let records = try? WireRecord.all(in: bytes[...]) else { return nil }
    var masked = OutputBuffer()
    for record in records {
      let content = Array(record.bytes)
      let shown = content.isEmpty ? content : fields(content, depth + 1) ?? apply(content)
      if shown == content {
        masked.append(Array(record.whole))
      } else {
        masked.appendTag(record.tag)
        masked.appendVarint(UInt64(shown.count))
        masked.append(shown)
      }
    }
    return masked.copyBytes()
  }
}
