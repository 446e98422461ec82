import Protobuf

/// A field of a serialized message, for the reader of declarations, whose speed is not critical.
struct WireRecord {
  let number: UInt32
  /// The value of a varint; 0 otherwise.
  let varint: UInt64
  /// The content of a length-delimited field; empty otherwise.
  let bytes: ArraySlice<UInt8>

  /// The content as text, with invalid UTF-8 replaced.
  var text: String { String(decoding: bytes, as: UTF8.self) }
  var int32: Int32 { Int32(truncatingIfNeeded: varint) }
  var bool: Bool { varint != 0 }

  /// The fields of a message, in order.
  static func all(in message: ArraySlice<UInt8>) throws(DecodeError) -> [WireRecord] {
    var records: [WireRecord] = []
    var position = message.startIndex
    func failure(_ reason: DecodeError.Reason) -> DecodeError {
      DecodeError(reason, at: position - message.startIndex)
    }
    func varint() throws(DecodeError) -> UInt64 {
      var value: UInt64 = 0
      for shift in stride(from: UInt64(0), through: 63, by: 7) {
        guard position < message.endIndex else { throw failure(.truncated) }
        let byte = message[position]
        position += 1
        value |= UInt64(byte & 0x7f) << shift
        if byte < 0x80 { return value }
      }
      throw failure(.varintTooLong)
    }
    func skip(_ count: UInt64) throws(DecodeError) -> ArraySlice<UInt8> {
      guard count <= UInt64(message.endIndex - position) else { throw failure(.truncated) }
      defer { position += Int(count) }
      return message[position..<position + Int(count)]
    }
    while position < message.endIndex {
      let tag = try varint()
      guard tag <= UInt64(UInt32.max), tag >= 8 else { throw failure(.invalidTag) }
      let number = UInt32(tag >> 3)
      switch tag & 7 {
      case 0: records.append(WireRecord(number: number, varint: try varint(), bytes: []))
      case 1: _ = try skip(8)
      case 2: records.append(WireRecord(number: number, varint: 0, bytes: try skip(try varint())))
      case 5: _ = try skip(4)
      default: throw failure(.invalidWireType(UInt8(tag & 7)))
      }
    }
    return records
  }

  /// The numbers of a packed field.
  static func packed(_ bytes: ArraySlice<UInt8>) -> [Int32] {
    var numbers: [Int32] = []
    var value: UInt64 = 0
    var shift: UInt64 = 0
    for byte in bytes {
      if shift < 64 { value |= UInt64(byte & 0x7f) << shift }
      shift += 7
      guard byte < 0x80 else { continue }
      numbers.append(Int32(truncatingIfNeeded: value))
      (value, shift) = (0, 0)
    }
    return numbers
  }
}
