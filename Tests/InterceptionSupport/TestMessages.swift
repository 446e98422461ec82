import Protobuf

import Interception

/// The messages of these tests: one text each.
package enum TestMessages {
  package static let type: MessageType = {
    let pool = DescriptorPool()
    do {
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
      guard let type = try pool.messageType(named: "google.protobuf.StringValue") else {
        preconditionFailure("the well-known types have no StringValue")
      }
      return type
    } catch {
      preconditionFailure("\(error)")
    }
  }()
  private static let path = try? FieldPath("value")

  package static func make(_ text: String) -> Message { changed(Message(type), text) }
  package static func text(_ message: Message) -> String {
    guard let path, let value = try? message.value(at: path) else { return "?" }
    guard case .string(let text) = value else { return "?" }
    return text
  }
  package static func changed(_ message: Message, _ text: String) -> Message {
    var message = message
    if let path { try? message.set(.string(text), at: path) }
    return message
  }
  package static func bytes(_ text: String) -> [UInt8] { make(text).serialized() }
  package static func text(_ bytes: [UInt8]) -> String {
    (try? Message(type, serialized: bytes)).map(text) ?? "?"
  }

  package struct Unreadable: Error {}

  package static var codec: MessageCodec {
    MessageCodec(
      serialize: { message in
        if text(message) == "unserializable" { throw Unreadable() }
        return message.serialized()
      },
      parseRequest: { try Message(type, serialized: $0) },
      parseResponse: { try Message(type, serialized: $0) })
  }
}
