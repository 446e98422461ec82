import Protobuf

/// Messages of types that are known without any schema of the user's: error details and well-known types.
enum WellKnownMessages {
  /// Loaded when the first of them is read.
  private static let pool: DescriptorPool? = {
    let pool = DescriptorPool()
    guard (try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)) != nil else {
      return nil
    }
    return pool
  }()

  /// The message type of this full name.
  static func type(_ name: String) -> MessageType? { try? pool?.messageType(named: name) }

  /// The value of a field; `nil` when there is none.
  static func value(_ path: String, of message: Message) -> Value? {
    guard let path = try? FieldPath(path) else { return nil }
    return try? message.value(at: path)
  }
}
