/// Encodes messages: fields by number, map entries by key, unknown fields last.
enum BinaryEncoder {
  /// Appends a message.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - out: Receives the bytes.
  ///   - anyDepth: How many levels of Anys in each other have their content encoded in the same way, if its type is in the
  ///     schema. The content of others is appended as it is.
  static func encode(_ message: MessageStorage, into out: inout OutputBuffer, anyDepth: Int = 0) {
    if anyDepth > 0, message.table.wellKnown == .any, let content = message.knownContent {
      let fields = message.table.fields
      if case .single(let url) = message[fields[0]] { append(url, of: fields[0], into: &out) }
      out.appendTag(fields[1].tag)
      let start = out.openLengthDelimited()
      encode(content.storage, into: &out, anyDepth: anyDepth - 1)
      out.closeLengthDelimited(start)
      return out.append(message.unknown)
    }
    message.forEachPresent { field, value in
      switch value {
      case .none: break
      case .single(let value):
        if message.table.isMessageSet, field.isExtension, case .message(let item) = value {
          encodeSetItem(item, number: field.number, into: &out, anyDepth)
        } else {
          append(value, of: field, into: &out, anyDepth)
        }
      case .list(let values): append(values, of: field, into: &out, anyDepth)
      case .map(let entries): append(entries, of: field, into: &out, anyDepth)
      }
    }
    out.append(message.unknown)
  }

  private static func append(
    _ values: [Value], of field: FieldNode, into out: inout OutputBuffer, _ anyDepth: Int
  ) {
    guard field.isPacked else {
      for value in values { append(value, of: field, into: &out, anyDepth) }
      return
    }
    out.appendTag(field.tag)
    let start = out.openLengthDelimited()
    for value in values { appendScalar(value, kind: field.kind, into: &out) }
    out.closeLengthDelimited(start)
  }

  private static func append(
    _ entries: [MapKey: Value], of field: FieldNode, into out: inout OutputBuffer, _ anyDepth: Int
  ) {
    guard let keyField = field.mapKey, let valueField = field.mapValue else { return }
    for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
      out.appendTag(field.tag)
      let start = out.openLengthDelimited()
      append(key.value(kind: keyField.kind), of: keyField, into: &out)
      append(value, of: valueField, into: &out, anyDepth)
      out.closeLengthDelimited(start)
    }
  }

  /// Appends a tag and a value.
  static func append(
    _ value: Value, of field: FieldNode, into out: inout OutputBuffer, _ anyDepth: Int = 0
  ) {
    out.appendTag(Tag(field.number, field.kind.wireType))
    appendContent(value, of: field, into: &out, anyDepth)
  }

  /// Appends a value without its tag.
  static func appendContent(
    _ value: Value, of field: FieldNode, into out: inout OutputBuffer, _ anyDepth: Int = 0
  ) {
    switch value {
    case .message(let message):
      if field.kind == .group {
        encode(message.storage, into: &out, anyDepth: anyDepth)
        out.appendTag(Tag(field.number, .endGroup))
      } else {
        let start = out.openLengthDelimited()
        encode(message.storage, into: &out, anyDepth: anyDepth)
        out.closeLengthDelimited(start)
      }
    case .string(var text):
      text.withUTF8 {
        out.appendVarint(UInt64($0.count))
        out.append(UnsafeRawBufferPointer($0))
      }
    case .bytes(let bytes):
      out.appendVarint(UInt64(bytes.count))
      out.append(bytes)
    default: appendScalar(value, kind: field.kind, into: &out)
    }
  }

  @inline(__always)
  private static func appendScalar(_ value: Value, kind: FieldKind, into out: inout OutputBuffer) {
    switch value {
    case .bool(let value): out.appendVarint(value ? 1 : 0)
    case .int32(let value):
      switch kind {
      case .sint32: out.appendVarint(ZigZag.encode(Int64(value)))
      case .sfixed32: out.appendFixed32(UInt32(bitPattern: value))
      default: out.appendVarint(UInt64(bitPattern: Int64(value)))
      }
    case .int64(let value):
      switch kind {
      case .sint64: out.appendVarint(ZigZag.encode(value))
      case .sfixed64: out.appendFixed64(UInt64(bitPattern: value))
      default: out.appendVarint(UInt64(bitPattern: value))
      }
    case .uint32(let value):
      if kind == .fixed32 { out.appendFixed32(value) } else { out.appendVarint(UInt64(value)) }
    case .uint64(let value):
      if kind == .fixed64 { out.appendFixed64(value) } else { out.appendVarint(value) }
    case .float(let value): out.appendFixed32(value.bitPattern)
    case .double(let value): out.appendFixed64(value.bitPattern)
    case .enum(let value): out.appendVarint(UInt64(bitPattern: Int64(value)))
    case .string, .bytes, .message: break
    }
  }

  private static func encodeSetItem(
    _ message: Message, number: UInt32, into out: inout OutputBuffer, _ anyDepth: Int
  ) {
    out.appendTag(MessageSet.itemStart)
    out.appendTag(MessageSet.typeID)
    out.appendVarint(UInt64(number))
    out.appendTag(MessageSet.message)
    let start = out.openLengthDelimited()
    encode(message.storage, into: &out, anyDepth: anyDepth)
    out.closeLengthDelimited(start)
    out.appendTag(MessageSet.itemEnd)
  }
}
