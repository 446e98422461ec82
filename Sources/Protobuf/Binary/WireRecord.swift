/// A field of a serialized message, read without a schema: of declarations, of unknown fields, and of options, whose extensions
/// a schema may lack. For readers whose speed is not critical.
package struct WireRecord: Sendable {
  /// The value of a field.
  package enum Content: Sendable {
    /// The bits of a varint or of a number of fixed length.
    case bits(UInt64)
    case bytes(ArraySlice<UInt8>)
    case group
  }

  package let tag: Tag
  package let content: Content
  /// The bytes of the field, with those of its tag.
  package let whole: ArraySlice<UInt8>

  /// The number of the field.
  package var number: UInt32 { tag.number }
  /// The bits of a number; 0 for other fields.
  package var bits: UInt64 { if case .bits(let bits) = content { bits } else { 0 } }
  /// The content of a length-delimited field; empty for others.
  package var bytes: ArraySlice<UInt8> { if case .bytes(let bytes) = content { bytes } else { [] } }
  /// The content as text, with invalid UTF-8 replaced.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
  package var int32: Int32 { Int32(truncatingIfNeeded: bits) }
  package var bool: Bool { bits != 0 }

  /// The fields of a message, in order.
  package static func all(in message: ArraySlice<UInt8>) throws(DecodeError) -> [WireRecord] {
    var records: [WireRecord] = []
    try read(message, into: &records)
    return records
  }

  /// The fields of a message, in order, up to malformed bytes.
  package static func valid(in message: ArraySlice<UInt8>) -> [WireRecord] {
    var records: [WireRecord] = []
    try? read(message, into: &records)
    return records
  }

  private static func read(
    _ message: ArraySlice<UInt8>, into records: inout [WireRecord]
  ) throws(DecodeError) {
    try message.span.bytes.withUnsafeBytes { (bytes) throws(DecodeError) in
      var reader = WireReader(bytes)
      while !reader.isAtEnd {
        let start = reader.offset
        let tag = try reader.tag()
        var content = Content.group
        switch tag.wireType {
        case .varint: content = .bits(try reader.varint())
        case .fixed32: content = .bits(UInt64(try reader.fixed32()))
        case .fixed64: content = .bits(try reader.fixed64())
        case .lengthDelimited:
          let count = try reader.lengthDelimited().count
          content = .bytes(message.dropFirst(reader.offset - count).prefix(count))
        case .startGroup, .endGroup: try reader.skip(tag, depth: 0)
        }
        let whole = message.dropFirst(start).prefix(reader.offset - start)
        records.append(WireRecord(tag: tag, content: content, whole: whole))
      }
    }
  }

  /// The bits of the numbers of a packed field, up to malformed bytes.
  package static func packed(_ bytes: ArraySlice<UInt8>, _ kind: FieldKind = .int32) -> [UInt64] {
    bytes.span.bytes.withUnsafeBytes { bytes in
      var numbers: [UInt64] = []
      var reader = WireReader(bytes)
      while !reader.isAtEnd, let number = try? number(kind, &reader) { numbers.append(number) }
      return numbers
    }
  }

  private static func number(_ kind: FieldKind, _ reader: inout WireReader) throws(DecodeError) -> UInt64 {
    switch kind {
    case .float, .fixed32, .sfixed32: UInt64(try reader.fixed32())
    case .double, .fixed64, .sfixed64: try reader.fixed64()
    default: try reader.varint()
    }
  }
}

/// The fields of a serialized message by number, without those after malformed bytes.
///
/// Options are read by the numbers of their fields, so that they do not depend on the version of the file in the schema that
/// defines them, such as `buf/validate/validate.proto`.
package struct WireFields: Sendable {
  /// The fields, in the order of the bytes.
  package let records: [WireRecord]
  /// The serialized message.
  package let serialized: [UInt8]

  /// Reads a message.
  package init(_ bytes: [UInt8]) {
    serialized = bytes
    records = WireRecord.valid(in: bytes[...])
  }

  /// Reads options.
  package init(_ options: DescriptorOptions) { self.init(options.serialized) }

  /// The contents of all occurrences of a field.
  package func all(_ number: UInt32) -> [WireRecord.Content] {
    records.filter { $0.number == number }.map(\.content)
  }

  /// The bits of a number, an enum or a `bool`; nil if it is absent.
  package func bits(_ number: UInt32) -> UInt64? {
    guard case .bits(let bits)? = all(number).last else { return nil }
    return bits
  }

  /// Whether a `bool` is present and true.
  package func flag(_ number: UInt32) -> Bool { (bits(number) ?? 0) != 0 }

  /// The contents of a field of bytes.
  package func bytes(_ number: UInt32) -> [[UInt8]] {
    all(number).compactMap { if case .bytes(let bytes) = $0 { Array(bytes) } else { nil } }
  }

  /// The values of a field of strings.
  package func texts(_ number: UInt32) -> [String] {
    bytes(number).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The value of a string; empty if it is absent.
  package func text(_ number: UInt32) -> String { texts(number).last ?? "" }

  /// A message; nil if it is absent. The parts of one that occurs several times are merged.
  package func message(_ number: UInt32) -> WireFields? {
    let parts = bytes(number)
    return parts.isEmpty ? nil : WireFields(parts.flatMap { $0 })
  }

  /// The messages of a list.
  package func messages(_ number: UInt32) -> [WireFields] { bytes(number).map { WireFields($0) } }
}
