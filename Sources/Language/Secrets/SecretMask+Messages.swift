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
    guard depth < Self.maxDepth else { return nil }
    return bytes.withUnsafeBytes { bytes in
      var masked: [UInt8] = []
      var reader = WireReader(bytes)
      do throws(DecodeError) {
        while !reader.isAtEnd {
          let start = reader.offset
          let tag = try reader.tag()
          let value = reader.offset
          guard tag.wireType == .lengthDelimited else {
            try reader.skip(tag, depth: depth)
            masked += bytes[start..<reader.offset]
            continue
          }
          let content = Array(try reader.lengthDelimited())
          let shown = fields(content, depth + 1) ?? apply(content)
          masked += bytes[start..<(shown == content ? reader.offset : value)]
          if shown != content { masked.append(delimited: shown) }
        }
      } catch {
        return nil
      }
      return masked
    }
  }
}
