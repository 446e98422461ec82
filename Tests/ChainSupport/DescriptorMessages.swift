import RPCurlProtobuf
import RPCurlProtocols

/// Messages of built-in types.
package enum DescriptorMessages {
  /// The schema of these types.
  package static let pool: DescriptorPool = {
    let pool = DescriptorPool()
    do {
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
      try pool.add(WellKnownSchemas.optionTypes, source: WellKnownSchemas.sourceName)
    } catch {
      preconditionFailure("\(error)")
    }
    return pool
  }()

  /// The type with a name.
  package static func type(_ name: String) -> MessageType {
    guard let type = try? pool.messageType(named: name) else { preconditionFailure("no type \(name)") }
    return type
  }

  /// A message of JSON; an empty one without.
  package static func make(_ name: String, json: String?) -> Message {
    do {
      guard let json else { return Message(type(name)) }
      return try Message(type(name), json: Array(json.utf8))
    } catch {
      preconditionFailure("\(name) \(json ?? ""): \(error)")
    }
  }

  /// The JSON form of a detail of a status.
  package static func json(of detail: StatusDetail) throws -> String {
    String(decoding: try Message(type(detail.typeName), serialized: detail.value).json(), as: UTF8.self)
  }
}
