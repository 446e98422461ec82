/// Messages of built-in types: error details and well-known types.
package enum WellKnownMessages {
  /// Loaded on first use.
  private static let pool: DescriptorPool? = {
    let pool = DescriptorPool()
    guard (try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)) != nil else {
      return nil
    }
    return pool
  }()

  /// The message type with this full name.
  package static func type(_ name: String) -> MessageType? { try? pool?.messageType(named: name) }

  /// The value of a field; `nil` if it is absent.
  package static func value(_ path: String, of message: Message) -> Value? {
    guard let path = try? FieldPath(path) else { return nil }
    return try? message.value(at: path)
  }

  /// The seconds since 1970 of the JSON form of a timestamp; nil if it is invalid.
  package static func seconds(ofTimestamp json: String) -> Int64? {
    guard let type = Self.type("google.protobuf.Timestamp"),
      let message = try? Message(type, json: Array(json.utf8)),
      case .int64(let seconds)? = value("seconds", of: message)
    else { return nil }
    return seconds
  }
}
