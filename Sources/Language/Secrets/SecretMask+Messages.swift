import Protobuf

extension SecretMask {
  /// The most levels of messages in a message that are read as such.
  private static let maxDepth = 64

  /// A serialized message without secrets in its texts. Its schema is not needed: bytes with a secret are read as a message
  /// if they are one, and else as text.
  package func apply(toMessage bytes: [UInt8]) -> [UInt8] { apply(toMessage: bytes, depth: 0) }

  private func apply(toMessage bytes: [UInt8], depth: Int) -> [UInt8] {
    let text = apply(bytes)
    guard text != bytes, let message = fields(bytes, depth), apply(message) == message else { return text }
    return message
  }

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
          if tag.wireType == .lengthDelimited {
            masked += bytes[start..<reader.offset]
            let value = Array(try reader.lengthDelimited())
            masked.append(delimited: apply(toMessage: value, depth: depth + 1))
          } else {
            try reader.skip(tag, depth: depth)
            masked += bytes[start..<reader.offset]
          }
        }
      } catch {
        return nil
      }
      return masked
    }
  }
}
