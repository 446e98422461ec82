import RPCurlProtobuf

/// The fields of a serialized message of options, in the order of the bytes.
///
/// Rules are read from the bytes by the numbers of their fields, so that they do not depend on the version of
/// `buf/validate/validate.proto` in the schema.
struct OptionFields: Sendable {
  /// The value of a field.
  enum Content: Sendable {
    /// The bits of a varint or of a fixed-length number.
    case bits(UInt64)
    case bytes([UInt8])
  }

  private(set) var fields: [(number: UInt32, content: Content)] = []
  /// The serialized message.
  let serialized: [UInt8]

  /// Reads a message; the fields after malformed bytes are missing.
  init(_ bytes: [UInt8]) {
    serialized = bytes
    bytes.withUnsafeBytes { bytes in
      var reader = WireReader(bytes)
      while !reader.isAtEnd {
        guard let tag = try? reader.tag(), let content = try? Self.content(tag, &reader) else { return }
        if let content = content { fields.append((tag.number, content)) }
      }
    }
  }

  private static func content(_ tag: Tag, _ reader: inout WireReader) throws(DecodeError) -> Content?? {
    switch tag.wireType {
    case .varint: return .bits(try reader.varint())
    case .fixed32: return .bits(UInt64(try reader.fixed32()))
    case .fixed64: return .bits(try reader.fixed64())
    case .lengthDelimited: return .bytes(Array(try reader.lengthDelimited()))
    case .startGroup, .endGroup:
      try reader.skip(tag, depth: 0)
      return .some(nil)
    }
  }

  /// The contents of all occurrences of a field.
  func all(_ number: UInt32) -> [Content] { fields.filter { $0.number == number }.map(\.content) }

  /// The bits of a number or of a `bool`; nil if it is absent.
  func bits(_ number: UInt32) -> UInt64? {
    guard case .bits(let bits)? = all(number).last else { return nil }
    return bits
  }

  /// Whether a `bool` is present and true.
  func flag(_ number: UInt32) -> Bool { (bits(number) ?? 0) != 0 }

  /// The contents of a field of bytes.
  func bytes(_ number: UInt32) -> [[UInt8]] {
    all(number).compactMap { if case .bytes(let bytes) = $0 { bytes } else { nil } }
  }

  /// The values of a field of strings.
  func texts(_ number: UInt32) -> [String] { bytes(number).map { String(decoding: $0, as: UTF8.self) } }

  /// A message; nil if it is absent. The parts of one that occurs several times are merged.
  func message(_ number: UInt32) -> OptionFields? {
    let parts = bytes(number)
    return parts.isEmpty ? nil : OptionFields(parts.flatMap { $0 })
  }

  /// The messages of a list.
  func messages(_ number: UInt32) -> [OptionFields] { bytes(number).map { OptionFields($0) } }
}
