/// A message of a type that is known at run time only.
///
/// A value: copies are independent, and share their content until one of them is changed.
///
/// What is small in a file may be large in memory: two bytes can be a message. Decoding takes no more than 100 times
/// the length of the input, whatever the form (binary, JSON, text) and whatever it holds; mostly it is a few times.
/// Encoding takes no more than three times the length of what it gives, and for maps, which are sorted, as much as they
/// take in the message.
public struct Message: Sendable {
  var storage: MessageStorage

  init(storage: MessageStorage) { self.storage = storage }

  /// An empty message.
  public init(_ type: MessageType) {
    self.init(type.node)
  }

  /// Decodes a message, in memory of no more than 100 times the length of `serialized`.
  public init(_ type: MessageType, serialized: [UInt8]) throws(DecodeError) {
    self = try serialized.withUnsafeBufferPointer { (bytes) throws(DecodeError) in
      try Message(type.node, bytes: UnsafeRawBufferPointer(bytes))
    }
  }

  /// Decodes a message, in memory of no more than 100 times the length of `serialized`.
  public init(_ type: MessageType, serialized: RawSpan) throws(DecodeError) {
    self = try serialized.withUnsafeBytes { (bytes) throws(DecodeError) in
      try Message(type.node, bytes: bytes)
    }
  }

  init(_ type: MessageNode) {
    storage = MessageStorage(type)
  }

  init(_ type: MessageNode, bytes: UnsafeRawBufferPointer) throws(DecodeError) {
    let table: MessageTable
    do { table = try type.table() } catch { throw DecodeError(.schema(error)) }
    storage = MessageStorage(type, table)
    var reader = WireReader(bytes)
    try BinaryDecoder.decode(&reader, into: storage, depth: 0)
  }

  /// The type.
  public var type: MessageType { MessageType(storage.type) }

  /// The serialized message: fields by number, map entries by key, unknown fields last.
  public func serialized() -> [UInt8] {
    var out = OutputBuffer()
    BinaryEncoder.encode(storage, into: &out)
    return out.copyBytes()
  }

  /// Whether both are copies of one message that nobody changed since. Says nothing about equality otherwise.
  public func isIdentical(to other: Message) -> Bool {
    storage === other.storage
  }

  /// What tells this message from all others that exist at the same time, without looking at it; never 0.
  package var identity: Int { Int(bitPattern: ObjectIdentifier(storage)) }

  /// Whether no field is set and no unknown field kept.
  public var isEmpty: Bool {
    var isEmpty = storage.unknown.isEmpty
    storage.forEachPresent { _, _ in isEmpty = false }
    return isEmpty
  }

  /// The fields that the type does not define, serialized, in the order in which they came.
  public var unknownFields: [UInt8] { storage.unknown }

  /// The fields and extensions that are set, by number.
  public var setFields: [Field] {
    var fields: [Field] = []
    storage.forEachPresent { field, _ in fields.append(Field(field, storage.pool)) }
    return fields
  }

  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
  }
}

extension Message: Equatable {
  /// Equal when the types are the same and both would be serialized to the same bytes.
  public static func == (a: Message, b: Message) -> Bool {
    a.storage === b.storage || a.storage.type === b.storage.type && a.serialized() == b.serialized()
  }
}
