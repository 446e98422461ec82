import RPCurlCSchemas

/// The options of a declaration: built-in ones, and extensions of `google.protobuf.FieldOptions` and the
/// like.
public struct DescriptorOptions: Sendable {
  /// The options as a serialized message, without those that are groups; empty if there are none.
  public let serialized: [UInt8]
  private let typeName: String
  private let pool: PoolCore

  package init(_ options: SerializedOptions, pool: PoolCore) {
    serialized = options.bytes
    typeName = options.typeName
    self.pool = pool
  }

  /// Whether these options of a field have `debug_redact`: its values are no part of texts for people.
  package var redactsInDebugText: Bool {
    guard !serialized.isEmpty, let records = try? WireRecord.all(in: serialized[...]) else { return false }
    return records.last { $0.number == 16 }?.bool == true
  }

  /// The options as a message of `google.protobuf.FileOptions`, `MessageOptions` and so on. Custom options
  /// are extensions of it: `(google.api.http).get`.
  ///
  /// Nil if there are none, or if no source defines the type: sets with custom options contain
  /// `google/protobuf/descriptor.proto`.
  ///
  /// - Throws: ``DecodeError`` if the options are invalid.
  public func message() throws(DecodeError) -> Message? {
    guard !serialized.isEmpty else { return nil }
    let type: MessageNode?
    do { type = try pool.messageType(named: typeName) } catch { throw DecodeError(.schema(error)) }
    guard let type else { return nil }
    return try Message(MessageType(type), serialized: serialized)
  }
}

extension DescriptorOptions: Equatable {
  /// Equal if the bytes are equal.
  public static func == (a: DescriptorOptions, b: DescriptorOptions) -> Bool {
    a.serialized == b.serialized
  }
}

/// The stored options of a declaration.
package struct SerializedOptions: Sendable {
  let bytes: [UInt8]
  let typeName: String

  static let none = SerializedOptions(bytes: [], typeName: "")

  package init(bytes: [UInt8], typeName: String) {
    self.bytes = bytes
    self.typeName = typeName
  }

  /// Copies an unpacked options message of protobuf-c, including its unknown fields.
  init<Options>(_ options: UnsafeMutablePointer<Options>?, _ typeName: StaticString) {
    guard let options else {
      self = .none
      return
    }
    // Every message of protobuf-c starts with the same header.
    bytes = options.withMemoryRebound(to: ProtobufCMessage.self, capacity: 1) { message in
      let count = protobuf_c_message_get_packed_size(message)
      // Filling an empty array would write to the storage that all empty arrays share.
      guard count > 0 else { return [] }
      return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
        written = protobuf_c_message_pack(message, buffer.baseAddress)
      }
    }
    self.typeName = "google.protobuf.\(typeName)"
  }

  /// Reads the options of an extension range, which are an unknown field in the schema for protobuf-c.
  init(ofRange range: Rpcurl__Schemas__DescriptorProto__ExtensionRange) {
    var bytes: [UInt8] = []
    for field in UnsafeBufferPointer(
      start: range.base.unknown_fields, count: Int(range.base.n_unknown_fields))
    where field.tag == 3 && field.wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED {
      // The data starts with its length. Concatenation merges options in several parts.
      var reader = WireReader(UnsafeRawBufferPointer(start: field.data, count: field.len))
      if let part = try? reader.lengthDelimited() { bytes += part }
    }
    self.init(bytes: bytes, typeName: "google.protobuf.ExtensionRangeOptions")
  }
}
