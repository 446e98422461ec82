import Protobuf
import RPCProtocols

/// A message in the forms that have been built. If both exist, they are the same message.
struct MessageForms: Sendable {
  var typed: Message?
  var bytes: [UInt8]?
  /// The size of the serialized form, or of the caller's source of the message, in bytes; 0 if unknown.
  var sizeBytes: Int

  init(typed: Message, sizeBytes: Int = 0) {
    self.typed = typed
    self.sizeBytes = sizeBytes
  }

  init(bytes: [UInt8]) {
    self.bytes = bytes
    self.sizeBytes = bytes.count
  }

  /// - Parameter sizeBytes: The size of a typed message, if it is known; 0 otherwise.
  init(_ payload: Payload, sizeBytes: Int = 0) {
    switch payload {
    case .typed(let message):
      self.init(typed: message, sizeBytes: sizeBytes > 0 ? sizeBytes : message.approximateSizeBytes)
    case .bytes(let bytes): self.init(bytes: bytes)
    }
  }

  /// Replaces the message by the bytes that an interceptor forwarded.
  mutating func replace(bytes new: [UInt8]) {
    bytes = new
    sizeBytes = new.count
    typed = nil
  }

  /// Replaces the message by the one that an interceptor forwarded. An unchanged message keeps its bytes.
  mutating func replace(typed new: Message) {
    if let typed, new.isIdentical(to: typed) { return }
    typed = new
    bytes = nil
  }

  /// This message after an interceptor forwarded `new`.
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
