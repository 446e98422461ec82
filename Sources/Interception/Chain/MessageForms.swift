import Protobuf

/// A message in the forms in which somebody has built it. When both are there, they are the same message.
struct MessageForms: Sendable {
  var typed: Message?
  var bytes: [UInt8]?
  /// The size of the serialized form, or of what the caller made the message of; 0 when unknown.
  var sizeBytes: Int

  init(typed: Message, sizeBytes: Int = 0) {
    self.typed = typed
    self.sizeBytes = sizeBytes
  }

  init(bytes: [UInt8]) {
    self.bytes = bytes
    self.sizeBytes = bytes.count
  }

  init(_ payload: Payload, sizeBytes: Int = 0) {
    switch payload {
    case .typed(let message): self.init(typed: message, sizeBytes: sizeBytes)
    case .bytes(let bytes): self.init(bytes: bytes)
    }
  }

  /// Takes the bytes that an interceptor let go on.
  mutating func replace(bytes new: [UInt8]) {
    bytes = new
    sizeBytes = new.count
    typed = nil
  }

  /// Takes the message that an interceptor let go on. Unchanged, it keeps its bytes.
  mutating func replace(typed new: Message) {
    if let typed, new.isIdentical(to: typed) { return }
    typed = new
    bytes = nil
  }

  /// This message after an interceptor had it.
  func replaced(by new: MessageForms) -> MessageForms {
    var forms = self
    if let typed = new.typed {
      forms.replace(typed: typed)
    } else if let bytes = new.bytes {
      forms.replace(bytes: bytes)
    }
    return forms
  }
}
