import RPCurlCSchemas

/// Messages of schemas that are known at build time, which protobuf-c unpacks: the one place where it reads bytes from outside.
///
/// protobuf-c has no limit of depth, and cannot skip groups. The nesting of descriptors is checked before; the other messages
/// do not contain themselves.
package enum KnownMessage {
  package typealias Unpack<Message> = (
    UnsafeMutablePointer<ProtobufCAllocator>?, Int, UnsafePointer<UInt8>?
  ) -> UnsafeMutablePointer<Message>?

  /// Unpacks a message, which the caller frees; nil if it is malformed.
  ///
  /// - Parameters:
  ///   - bytes: The serialized message.
  ///   - unpack: The function of its type.
  ///   - type: Its type, for bytes that may contain groups.
  package static func unpack<Message>(
    _ bytes: UnsafeRawBufferPointer, _ unpack: Unpack<Message>,
    type: () -> UnsafePointer<ProtobufCMessageDescriptor>?
  ) -> UnsafeMutablePointer<Message>? {
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    if let message = unpack(nil, bytes.count, start) { return message }
    guard let copy = try? withoutGroups(bytes, of: type()), copy.count < bytes.count else { return nil }
    return unpack(nil, copy.count, copy)
  }

  /// A copy of a serialized message without groups. No field of the messages that protobuf-c reads is a group; unknown fields
  /// and custom options may be groups.
  private static func withoutGroups(
    _ bytes: UnsafeRawBufferPointer, of type: UnsafePointer<ProtobufCMessageDescriptor>?
  ) throws(DecodeError) -> [UInt8] {
    var copy: [UInt8] = []
    var reader = WireReader(bytes)
    while !reader.isAtEnd {
      let start = reader.offset
      let tag = try reader.tag()
      let field = protobuf_c_message_descriptor_get_field(type, tag.number)?.pointee
      if let field, field.type == PROTOBUF_C_TYPE_MESSAGE, tag.wireType == .lengthDelimited {
        copy += bytes[start..<reader.offset]
        let inner = field.descriptor?.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
        copy.append(delimited: try withoutGroups(try reader.lengthDelimited(), of: inner))
      } else {
        try reader.skip(tag, depth: 0)
        if tag.wireType != .startGroup { copy += bytes[start..<reader.offset] }
      }
    }
    return copy
  }
}
