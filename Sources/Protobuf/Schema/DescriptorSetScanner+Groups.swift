import RPCurlCSchemas

extension DescriptorSetScanner {
  /// A copy of a serialized FileDescriptorProto without groups, which protobuf-c cannot skip.
  ///
  /// No field of the messages that protobuf-c reads is a group; custom options may be groups. The nesting of the file
  /// must have been checked: this function is recursive.
  static func withoutGroups(_ file: UnsafeRawBufferPointer) throws(DecodeError) -> [UInt8] {
    var message = Rpcurl__Schemas__FileDescriptorProto()
    rpcurl__schemas__file_descriptor_proto__init(&message)
    return try withoutGroups(file, of: message.base.descriptor)
  }

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
