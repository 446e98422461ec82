/// A message of a type that is known only at run time.
///
/// It is a value: copies are independent, and share their content until one of them changes.
///
/// Small input may be large in memory: a message may be two bytes. Decoding takes at most 100 times the
/// length of the input, for every format (binary, JSON, text) and content; usually a few times. Encoding
/// takes at most three times the length of its output, and for maps, which are sorted, as much as they take
/// in the message.
public struct Message: Sendable {
  var storage: MessageStorage

  init(storage: MessageStorage) { self.storage = storage }

  /// Makes an empty message.
  public init(_ type: MessageType) {
    self.init(type.node)
  }

  /// Decodes a message. Uses at most 100 times the length of `serialized` in memory.
  ///
  /// - Parameters:
  ///   - type: The type of the message.
  ///   - serialized: The message in the binary format.
  /// - Throws: ``DecodeError`` if the bytes are not a message of the type.
  public init(_ type: MessageType, serialized: [UInt8]) throws(DecodeError) {
    self = try serialized.withUnsafeBufferPointer { (bytes) throws(DecodeError) in
      try Message(type.node, bytes: UnsafeRawBufferPointer(bytes))
    }
  }

  /// Decodes a message. Uses at most 100 times the length of `serialized` in memory.
  ///
  /// - Parameters:
  ///   - type: The type of the message.
  ///   - serialized: The message in the binary format.
  /// - Throws: ``DecodeError`` if the bytes are not a message of the type.
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

  /// The depth to which the content of Anys is compared. Each level is read from the bytes of the one above.
  private static let anyDepth = 10

  /// The serialized message; the content of Anys has its fields and entries in order too, so that equal messages have the same
  /// bytes.
  package func canonicalBytes() -> [UInt8] {
    var out = OutputBuffer()
    BinaryEncoder.encode(storage, into: &out, anyDepth: Self.anyDepth)
    return out.copyBytes()
  }

  /// About how many bytes the serialized message has, for flow control: its strings, bytes and unknown fields, and some
  /// for each value. It is computed without serializing the message.
  package var approximateSizeBytes: Int {
    var size = storage.unknown.count
    storage.forEachPresent { _, value in
      switch value {
      case .none: break
      case .single(let value): size += value.approximateSizeBytes
      case .list(let values): for value in values { size += value.approximateSizeBytes }
      case .map(let entries):
        for (key, value) in entries { size += key.approximateSizeBytes + value.approximateSizeBytes }
      }
    }
    return size
  }

  /// Whether both are copies of one message, unchanged since. False does not mean that they differ.
  package func isIdentical(to other: Message) -> Bool {
    storage === other.storage
  }

  /// An identifier that differs from those of all other existing messages; never 0.
  package var identity: Int { Int(bitPattern: ObjectIdentifier(storage)) }

  /// Whether no field is set and there are no unknown fields.
  public var isEmpty: Bool {
    var isEmpty = storage.unknown.isEmpty
    storage.forEachPresent { _, _ in isEmpty = false }
    return isEmpty
  }

  /// The serialized fields that the type does not define, in the order received.
  public var unknownFields: [UInt8] { storage.unknown }

  /// The fields and extensions that are set, by number.
  public var setFields: [Field] {
    var fields: [Field] = []
    forEachSetField { field, _ in fields.append(field) }
    return fields
  }

  /// Calls `body` with each field or extension that is set, by number, and its values: one, or those of a
  /// list, or those of a map in the order of its keys.
  package func forEachSetField(_ body: (Field, [Value]) -> Void) {
    storage.forEachPresent { field, value in
      let values: [Value] =
        switch value {
        case .none: []
        case .single(let value): [value]
        case .list(let values): values
        case .map(let entries): entries.sorted { $0.key < $1.key }.map(\.value)
        }
      body(Field(field, storage.pool), values)
    }
  }

  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
  }
}

extension Message: Equatable {
  /// Equal if the types are the same and both have the same values and unknown fields. The order of fields and of the entries
  /// of maps makes no difference, nor does it in the content of an Any whose type is in the schema.
  public static func == (a: Message, b: Message) -> Bool {
    a.storage === b.storage || a.storage.type === b.storage.type && a.canonicalBytes() == b.canonicalBytes()
  }
}
