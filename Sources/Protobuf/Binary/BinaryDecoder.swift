/// Decodes serialized bytes into messages.
enum BinaryDecoder {
  /// Decodes all bytes of `reader`, and merges them into `message`.
  static func decode(
    _ reader: inout WireReader, into message: MessageStorage, depth: Int
  ) throws(DecodeError) {
    let table = message.table
    while !reader.isAtEnd {
      let start = reader.cursor
      let tag = try reader.tag()
      if table.isMessageSet, tag == MessageSet.itemStart {
        let content = try reader.group(tag.number, depth: depth + 1)
        if try decodeSetItem(content, into: message, depth: depth + 1) { continue }
      } else if let field = try find(tag.number, of: message) {
        do {
          if try decode(field, tag, &reader, into: message, depth: depth) { continue }
        } catch {
          throw error.inside(field)
        }
        // A wire type other than the field's: unknown.
        try reader.skip(tag, depth: depth)
      } else {
        try reader.skip(tag, depth: depth)
      }
      message.appendUnknown(UnsafeBufferPointer(start: start, count: reader.cursor - start))
    }
  }

  /// The field or extension with a number.
  @inline(__always)
  static func find(_ number: UInt32, of message: MessageStorage) throws(DecodeError) -> FieldNode? {
    if let field = message.table.field(number) { return field }
    return try findExtension(number, of: message.type, message.table)
  }

  static func findExtension(
    _ number: UInt32, of type: MessageNode, _ table: MessageTable
  ) throws(DecodeError) -> FieldNode? {
    guard table.mayExtend(number) else { return nil }
    do { return try type.pool.extensionField(of: type.name, number: number) } catch {
      throw DecodeError(.schema(error))
    }
  }

  /// Returns false, with nothing read, if the field cannot have the wire type.
  private static func decode(
    _ field: FieldNode, _ tag: Tag, _ reader: inout WireReader, into message: MessageStorage, depth: Int
  ) throws(DecodeError) -> Bool {
    guard tag.wireType == field.kind.wireType else {
      guard field.isRepeated, field.kind.isPackable, tag.wireType == .lengthDelimited else { return false }
      try decodePacked(field, &reader, into: message)
      return true
    }
    if field.isMap {
      try decodeEntry(field, &reader, into: message, depth: depth)
      return true
    }
    if field.kind.isMessage {
      try decodeMessage(field, &reader, into: message, depth: depth)
      return true
    }
    let start = reader.cursor
    let value = try scalar(field, &reader)
    if case .enum(let number) = value, let type = field.enumType, !type.accepts(number) {
      reader.cursor = start
      return false
    }
    if field.isRepeated {
      append(value, to: field, of: message)
    } else {
      message.clearOthers(of: field)
      message[field] = .single(value)
    }
    return true
  }

  private static func append(_ value: Value, to field: FieldNode, of message: MessageStorage) {
    guard case .list(var values) = message.take(field) else {
      message[field] = .list([value])
      return
    }
    values.append(value)
    message[field] = .list(values)
  }

  private static func decodePacked(
    _ field: FieldNode, _ reader: inout WireReader, into message: MessageStorage
  ) throws(DecodeError) {
    var content = try reader.nested()
    var values: [Value] = []
    if case .list(let earlier) = message.take(field) { values = earlier }
    defer { message[field] = values.isEmpty ? .none : .list(values) }
    let count: Int
    switch field.kind.wireType {
    case .fixed32:
      guard content.remaining % 4 == 0 else { throw content.failure(.invalidPackedLength) }
      count = content.remaining / 4
    case .fixed64:
      guard content.remaining % 8 == 0 else { throw content.failure(.invalidPackedLength) }
      count = content.remaining / 8
    // Each varint has exactly one byte without the continuation bit.
    default: count = UnsafeBufferPointer(start: content.cursor, count: content.remaining).count { $0 < 0x80 }
    }
    // Reserve exactly for a long piece; for short ones the capacity doubles, as if they were appended one by
    // one.
    if values.count + count > values.capacity {
      values.reserveCapacity(max(values.count + count, values.capacity * 2))
    }
    while !content.isAtEnd {
      let start = content.cursor
      let value = try scalar(field, &content)
      if case .enum(let number) = value, let type = field.enumType, !type.accepts(number) {
        keepUnknown(Tag(field.number, .varint), start, content.cursor, of: message)
      } else {
        values.append(value)
      }
    }
  }

  private static func decodeMessage(
    _ field: FieldNode, _ reader: inout WireReader, into message: MessageStorage, depth: Int
  ) throws(DecodeError) {
    guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
    guard let type = field.messageType else { return }
    var content =
      field.kind == .group ? try reader.group(field.number, depth: depth + 1) : try reader.nested()
    if field.isRepeated {
      let nested = try empty(type)
      try decode(&content, into: nested, depth: depth + 1)
      append(.message(Message(storage: nested)), to: field, of: message)
      return
    }
    message.clearOthers(of: field)
    var nested: Message
    if case .single(.message(let earlier)) = message.take(field) {
      nested = earlier
      nested.makeUnique()
    } else {
      nested = Message(storage: try empty(type))
    }
    try decode(&content, into: nested.storage, depth: depth + 1)
    message[field] = .single(.message(nested))
  }

  private static func empty(_ type: MessageNode) throws(DecodeError) -> MessageStorage {
    do { return MessageStorage(type, try type.table()) } catch { throw DecodeError(.schema(error)) }
  }

  private static func decodeSetItem(
    _ content: WireReader, into message: MessageStorage, depth: Int
  ) throws(DecodeError) -> Bool {
    guard let (number, item) = try MessageSet.item(content, depth: depth),
      let field = try findExtension(number, of: message.type, message.table), !field.isRepeated,
      field.kind == .message, let type = field.messageType
    else { return false }
    guard depth < nestingLimit else { throw item.failure(.tooDeep) }
    var nested = Message(storage: try empty(type))
    if case .single(.message(let earlier)) = message.take(field) {
      nested = earlier
      nested.makeUnique()
    }
    var reader = item
    do throws(DecodeError) {
      try decode(&reader, into: nested.storage, depth: depth + 1)
    } catch {
      throw error.inside(field)
    }
    message[field] = .single(.message(nested))
    return true
  }

  // MARK: Maps

  private static func decodeEntry(
    _ field: FieldNode, _ reader: inout WireReader, into message: MessageStorage, depth: Int
  ) throws(DecodeError) {
    guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
    guard let keyField = field.mapKey, let valueField = field.mapValue else { return }
    let entryStart = reader.cursor
    var content = try reader.nested()
    var key: Value?
    var value: Value?
    while !content.isAtEnd {
      let tag = try content.tag()
      if tag == Tag(1, keyField.kind.wireType) {
        key = try scalar(keyField, &content)
      } else if tag == Tag(2, valueField.kind.wireType) {
        guard let type = valueField.messageType else {
          value = try scalar(valueField, &content)
          continue
        }
        guard depth + 1 < nestingLimit else { throw content.failure(.tooDeep) }
        var nested = Message(storage: try empty(type))
        if case .message(let earlier)? = value { nested = earlier }
        value = nil
        var item = try content.nested()
        try decode(&item, into: nested.storage, depth: depth + 2)
        value = .message(nested)
      } else {
        try content.skip(tag, depth: depth + 1)
      }
    }
    if case .enum(let number)? = value, let type = valueField.enumType, !type.accepts(number) {
      return keepUnknown(field.tag, entryStart, reader.cursor, of: message)
    }
    if value == nil, let type = valueField.messageType { value = .message(Message(storage: try empty(type))) }
    guard let key = key ?? DefaultValue.zero(of: keyField), let mapKey = MapKey(key),
      let value = value ?? DefaultValue.zero(of: valueField)
    else { return }
    var entries: [MapKey: Value] = [:]
    if case .map(let earlier) = message.take(field) { entries = earlier }
    entries[mapKey] = value
    message[field] = .map(entries)
  }

  /// Keeps an unknown number of a closed enum, or a map entry that contains one.
  private static func keepUnknown(
    _ tag: Tag, _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, of message: MessageStorage
  ) {
    var buffer = OutputBuffer(capacity: 16)
    buffer.appendTag(tag)
    message.appendUnknown(UnsafeBufferPointer(start: buffer.base, count: buffer.count))
    message.appendUnknown(UnsafeBufferPointer(start: start, count: end - start))
  }

  // MARK: Single values

  /// Reads a value of a kind other than message and group.
  @inline(__always)
  private static func scalar(_ field: FieldNode, _ reader: inout WireReader) throws(DecodeError) -> Value {
    switch field.kind {
    case .double: return .double(Double(bitPattern: try reader.fixed64()))
    case .float: return .float(Float(bitPattern: try reader.fixed32()))
    case .int64: return .int64(Int64(bitPattern: try reader.varint()))
    case .uint64: return .uint64(try reader.varint())
    case .int32: return .int32(Int32(truncatingIfNeeded: try reader.varint()))
    case .fixed64: return .uint64(try reader.fixed64())
    case .fixed32: return .uint32(try reader.fixed32())
    case .bool: return .bool(try reader.varint() != 0)
    case .uint32: return .uint32(UInt32(truncatingIfNeeded: try reader.varint()))
    case .enumeration: return .enum(Int32(truncatingIfNeeded: try reader.varint()))
    case .sfixed32: return .int32(Int32(bitPattern: try reader.fixed32()))
    case .sfixed64: return .int64(Int64(bitPattern: try reader.fixed64()))
    case .sint32:
      return .int32(
        Int32(truncatingIfNeeded: ZigZag.decode(UInt64(UInt32(truncatingIfNeeded: try reader.varint())))))
    case .sint64: return .int64(ZigZag.decode(try reader.varint()))
    case .string:
      let start = reader
      let bytes = try reader.lengthDelimited()
      if UTF8Validation.isValid(bytes) { return .string(String(decoding: bytes, as: UTF8.self)) }
      if field.validatesUTF8 { throw start.failure(.invalidUTF8) }
      return .bytes([UInt8](bytes))
    case .bytes, .message, .group: return .bytes([UInt8](try reader.lengthDelimited()))
    }
  }
}
