import RPCurlProtobuf
import RPCurlProtocols

/// A message at a stage: typed, serialized in the call's codec, or both. If both forms exist, they are the same message.
///
/// An interceptor has the form that it declares (`StagedInterceptor.messages`). Each form is made when an interceptor
/// needs it, and dropped when the other is changed; so a message that no interceptor changes leaves the chain with the
/// bytes that entered it.
public struct MessageValue: Sendable {
  private(set) var typedForm: Message?
  private(set) var bytesForm: [UInt8]?
  /// The size of the serialized form, or of the caller's source of the message, in bytes; 0 if unknown.
  public private(set) var sizeBytes: Int
  /// The number of the delivery in which an interceptor has received the value.
  var sequence = 0
  /// The number of the interceptor that has set the bytes (`ChainFamily.name(of:)`); -1 for the server or the caller.
  private(set) var setter: Int32 = -1
  /// What the interceptor that has the value may do with it.
  package internal(set) var access = MessageAccess.none
  /// Whether the interceptor that has the value has changed it.
  private(set) var isChanged = false

  init(typed: Message, sizeBytes: Int = 0) {
    typedForm = typed
    self.sizeBytes = sizeBytes
  }

  init(bytes: [UInt8]) {
    bytesForm = bytes
    sizeBytes = bytes.count
  }

  /// Makes a message that has no place in a call.
  package init(local message: Message, _ access: MessageAccess) {
    self.init(typed: message)
    self.access = access
  }

  /// - Parameter sizeBytes: The size of a typed message, if it is known; 0 otherwise.
  init(_ payload: Payload, sizeBytes: Int = 0) {
    switch payload {
    case .typed(let message):
      self.init(typed: message, sizeBytes: sizeBytes > 0 ? sizeBytes : message.approximateSizeBytes)
    case .bytes(let bytes): self.init(bytes: bytes)
    }
  }

  /// The typed message.
  ///
  /// - Throws: An error for an interceptor that does not declare this form.
  public var typed: Message {
    get throws(MessageAccessError) {
      guard access.isTyped, let typedForm else { throw MessageAccessError.form(access) }
      return typedForm
    }
  }

  /// The message serialized in the call's codec, before compression: binary, or the text of JSON.
  ///
  /// - Throws: An error for an interceptor that does not declare this form.
  public var bytes: [UInt8] {
    get throws(MessageAccessError) {
      guard access.isBytes, let bytesForm else { throw MessageAccessError.form(access) }
      return bytesForm
    }
  }

  /// Replaces the message by a typed one. The message that was read, unchanged, keeps its bytes.
  ///
  /// - Parameter message: The message.
  /// - Throws: An error for an interceptor that does not declare that it changes messages.
  public mutating func setTyped(_ message: Message) throws(MessageAccessError) {
    guard access.mayChange else { throw MessageAccessError.change(access) }
    if let typedForm, message.isIdentical(to: typedForm) { return }
    typedForm = message
    bytesForm = nil
    isChanged = true
  }

  /// Replaces the message by a serialized one, in the call's codec. The same bytes change nothing.
  ///
  /// - Parameter bytes: The serialized message, in the codec of the call.
  /// - Throws: An error for an interceptor that does not declare that it changes messages.
  public mutating func setBytes(_ bytes: [UInt8]) throws(MessageAccessError) {
    guard access.mayChange else { throw MessageAccessError.change(access) }
    if bytes == bytesForm { return }
    typedForm = nil
    bytesForm = bytes
    sizeBytes = bytes.count
    isChanged = true
  }

  /// What leaves the chain: the bytes, if they exist.
  var payload: Payload {
    if let bytesForm { .bytes(bytesForm) } else if let typedForm { .typed(typedForm) } else { .bytes([]) }
  }

  /// The message in the form that an interceptor receives; the typed one, if both exist.
  package var content: Payload? {
    if access.isTyped, let typedForm { return .typed(typedForm) }
    return access.isBytes ? bytesForm.map(Payload.bytes) : nil
  }

  /// Takes the typed message out for a change in place, so that its storage has one reference; `putTyped` returns it.
  package mutating func takeTyped() throws(MessageAccessError) -> Message {
    let message = try typed
    typedForm = nil
    return message
  }

  /// Returns the typed message; an unchanged one keeps its bytes.
  ///
  /// - Parameter isChanged: Whether the message may differ from the one taken.
  package mutating func putTyped(_ message: Message, isChanged: Bool) {
    typedForm = message
    guard isChanged else { return }
    bytesForm = nil
    self.isChanged = true
  }

  // MARK: - For the chain

  /// The same message without its typed form, which a record need not keep.
  var serializedOnly: MessageValue {
    var value = self
    if bytesForm != nil { value.typedForm = nil }
    return value
  }

  /// Adds the typed form of the bytes.
  package mutating func add(typed message: Message) { typedForm = message }

  /// Adds the serialized form.
  mutating func add(bytes: [UInt8]) {
    bytesForm = bytes
    sizeBytes = bytes.count
  }

  /// Records that an interceptor has forwarded this value in place of another.
  mutating func recordSetter(_ number: Int32, inPlaceOf old: MessageValue) {
    isChanged = false
    setter = typedForm == nil && bytesForm != nil ? number : old.setter
    // The size of a typed message is not known before it is serialized.
    if bytesForm == nil { sizeBytes = old.sizeBytes }
  }
}

/// Why an interceptor cannot read or change a message: it has declared something else.
public struct MessageAccessError: Error, CustomStringConvertible {
  /// What the interceptor has declared.
  public let access: MessageAccess
  /// The reason, in one line.
  public let description: String

  static func form(_ access: MessageAccess) -> MessageAccessError {
    let form = access.isTyped ? "typed messages" : access.isBytes ? "bytes" : "no content of messages"
    return MessageAccessError(
      access: access, description: "the interceptor declares that it receives \(form)")
  }

  static func change(_ access: MessageAccess) -> MessageAccessError {
    MessageAccessError(
      access: access, description: "the interceptor does not declare that it changes messages")
  }
}
