import CSchemas

/// The options of a declaration: the built-in ones and those that extend `google.protobuf.FieldOptions` and its like.
public struct DescriptorOptions: Sendable {
  /// The options as a serialized message, empty when there are none.
  public let serialized: [UInt8]
  private let typeName: String
  private let pool: PoolCore?

  /// No options.
  static let none = DescriptorOptions(serialized: [], typeName: "", pool: nil)

  private init(serialized: [UInt8], typeName: String, pool: PoolCore?) {
    self.serialized = serialized
    self.typeName = typeName
    self.pool = pool
  }

  /// Takes over an unpacked options message of protobuf-c, with what it does not know.
  init<Options>(_ options: UnsafeMutablePointer<Options>?, _ typeName: StaticString, pool: PoolCore) {
    guard let options else {
      self = .none
      return
    }
    // Every message of protobuf-c starts with what is common to all.
    let serialized = options.withMemoryRebound(to: ProtobufCMessage.self, capacity: 1) { message in
      let count = protobuf_c_message_get_packed_size(message)
      return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
        written = protobuf_c_message_pack(message, buffer.baseAddress)
      }
    }
    self.init(serialized: serialized, typeName: "google.protobuf.\(typeName)", pool: pool)
  }

  /// The options as a message of `google.protobuf.FileOptions`, `MessageOptions` and so on, in which custom options
  /// are extensions: `(google.api.http).get`.
  ///
  /// Nil when there are none, or when no source defines the type: sets that use custom options hold
  /// `google/protobuf/descriptor.proto`.
  public func message() throws(DecodeError) -> Message? {
    guard let pool, !serialized.isEmpty else { return nil }
    let type: MessageType?
    do { type = try pool.messageType(named: typeName) } catch { throw DecodeError(.schema(error)) }
    guard let type else { return nil }
    return try Message(type, serialized: serialized)
  }
}

extension DescriptorOptions: Equatable {
  /// Equal when they are the same bytes.
  public static func == (a: DescriptorOptions, b: DescriptorOptions) -> Bool {
    a.serialized == b.serialized
  }
}
