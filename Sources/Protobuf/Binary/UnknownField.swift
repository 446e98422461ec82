/// Whether fields that the schema does not declare are part of the output.
package enum UnknownFields: String, Sendable {
  case show
  case drop
}

/// A value whose type is unknown, with the number of its field.
struct UnknownField {
  /// What the wire type says about a value.
  enum Content {
    case varint(UInt64)
    case fixed32(UInt32)
    case fixed64(UInt64)
    /// A message, a string, bytes or packed numbers.
    case lengthDelimited(WireReader)
    case group(WireReader)
  }

  /// The maximum depth at which length-delimited values are read as messages, as in protoc.
  static let depthLimit = 10

  let number: UInt32
  let content: Content

  init(number: UInt32, _ content: Content) {
    self.number = number
    self.content = content
  }

  /// Reads the value of a tag.
  init(_ tag: Tag, _ reader: inout WireReader) throws(DecodeError) {
    number = tag.number
    switch tag.wireType {
    case .varint: content = .varint(try reader.varint())
    case .fixed32: content = .fixed32(try reader.fixed32())
    case .fixed64: content = .fixed64(try reader.fixed64())
    case .lengthDelimited: content = .lengthDelimited(try reader.nested())
    case .startGroup: content = .group(try reader.group(tag.number, depth: 0))
    case .endGroup: throw reader.failure(.unexpectedEndGroup)
    }
  }

  /// The fields of a message without a schema.
  static func all(in fields: WireReader) throws(DecodeError) -> [UnknownField] {
    var reader = fields
    var found: [UnknownField] = []
    while !reader.isAtEnd { found.append(try UnknownField(reader.tag(), &reader)) }
    return found
  }

  /// The fields of a message that its type does not declare, and the unknown numbers of closed enums.
  static func all(in fields: WireReader, of plan: PlanPointer) throws(DecodeError) -> [UnknownField] {
    var reader = fields
    var found: [UnknownField] = []
    while !reader.isAtEnd {
      let tag = try reader.tag()
      if plan.pointee.isMessageSet, tag == MessageSet.itemStart {
        let group = try reader.group(tag.number, depth: 0)
        guard let item = try MessageSet.item(group, depth: 0),
          try plan.pointee.extensionPlan(item.number) == nil
        else { continue }
        found.append(UnknownField(number: item.number, .lengthDelimited(item.content)))
      } else if let field = try CanonicalWriter.field(tag, of: plan) {
        try addUnknown(field, tag, &reader, to: &found)
      } else {
        found.append(try UnknownField(tag, &reader))
      }
    }
    return found
  }

  /// Reads the value of a declared field, and adds it if it is an unknown number of a closed enum.
  private static func addUnknown(
    _ field: FieldPointer, _ tag: Tag, _ reader: inout WireReader, to found: inout [UnknownField]
  ) throws(DecodeError) {
    if field.pointee.isMap {
      let (_, value) = field.partsOfMap()
      let entry = try reader.nested()
      guard value.pointee.flags.contains(.hasClosedEnum) else { return }
      let last = try all(in: entry).last { $0.number == value.pointee.number }
      guard case .varint(let bits) = last?.content, value.isUnknownEnum(bits) else { return }
      return found.append(UnknownField(number: tag.number, .lengthDelimited(entry)))
    }
    guard field.pointee.flags.contains(.hasClosedEnum) else { return try reader.skip(tag, depth: 0) }
    var elements: [UInt64] = []
    if tag.wireType == .varint {
      elements = [try reader.varint()]
    } else {
      var content = try reader.nested()
      while !content.isAtEnd { elements.append(try content.varint()) }
    }
    found += elements.filter(field.isUnknownEnum).map { UnknownField(number: tag.number, .varint($0)) }
  }
}

extension WireReader {
  /// Whether the bytes can be read as a message, from their first to their last.
  var isMessage: Bool {
    var reader = self
    do throws(DecodeError) {
      while !reader.isAtEnd { try reader.skip(try reader.tag(), depth: 0) }
      return true
    } catch {
      return false
    }
  }

  /// The bytes that are not read yet.
  var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: cursor, count: remaining) }
}

extension MessageType {
  /// The canonical form of a serialized message without its unknown fields, also in its messages.
  package func droppingUnknownFields(_ serialized: RawSpan) throws(DecodeError) -> [UInt8] {
    var out = OutputBuffer()
    _ = try serialized.withUnsafeBytes { (bytes) throws(DecodeError) in
      try CanonicalWriter.rewrite(bytes, type: node, unknownFields: .drop, into: &out)
    }
    return out.copyBytes()
  }
}
