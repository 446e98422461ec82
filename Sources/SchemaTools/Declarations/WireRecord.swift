import RPCurlProtobuf

/// A field of a serialized message, for readers of declarations and options, whose speed is not critical.
package struct WireRecord {
  /// The number of the field.
  package let number: UInt32
  /// The value of a varint; 0 otherwise.
  package let varint: UInt64
  /// The content of a length-delimited field; empty otherwise.
  package let bytes: ArraySlice<UInt8>

  /// The content as text, with invalid UTF-8 replaced.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
  var int32: Int32 { Int32(truncatingIfNeeded: varint) }
  var bool: Bool { varint != 0 }

  /// The fields of a message, in order.
  package static func all(in message: ArraySlice<UInt8>) throws(DecodeError) -> [WireRecord] {
    try message.span.bytes.withUnsafeBytes { (bytes) throws(DecodeError) in
      var records: [WireRecord] = []
      var reader = WireReader(bytes)
      while !reader.isAtEnd {
        let tag = try reader.tag()
        switch tag.wireType {
        case .varint: records.append(WireRecord(number: tag.number, varint: try reader.varint(), bytes: []))
        case .lengthDelimited:
          let count = try reader.lengthDelimited().count
          let end = message.startIndex + reader.offset
          records.append(WireRecord(number: tag.number, varint: 0, bytes: message[(end - count)..<end]))
        default: try reader.skip(tag, depth: 0)
        }
      }
      return records
    }
  }

  /// The numbers of a packed field.
  static func packed(_ bytes: ArraySlice<UInt8>) -> [Int32] {
    bytes.span.bytes.withUnsafeBytes { bytes in
      var numbers: [Int32] = []
      var reader = WireReader(bytes)
      while !reader.isAtEnd, let number = try? reader.varint() {
        numbers.append(Int32(truncatingIfNeeded: number))
      }
      return numbers
    }
  }
}
