import RPCurlProtobuf

import RPCurlChain

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

extension MessageAccesses {
  /// Typed messages of both directions, which may be changed.
  package static let typed = MessageAccesses()
  /// Serialized messages of both directions, which may be changed.
  package static let bytes = MessageAccesses(.changeBytes)
}

extension MessageValue {
  /// The text of a message at a stage; "?" without its content, or if it cannot be parsed.
  package var text: String {
    switch content {
    case .typed(let message)?: TestMessages.text(message)
    case .bytes(let bytes)?: TestMessages.text(bytes)
    case nil: "?"
    }
  }

  /// The message at a stage with another text, in the form that the interceptor receives.
  package func changed(to text: String) -> MessageValue {
    var value = self
    switch content {
    case .typed(let message)?: try? value.setTyped(TestMessages.changed(message, text))
    case .bytes?, nil: try? value.setBytes(TestMessages.bytes(text))
    }
    return value
  }

  /// The form and the text, as a line of a journal.
  var line: String {
    switch content {
    case .typed?: "message \(text)"
    case .bytes?: "bytes \(text)"
    case nil: "message"
    }
  }
}
