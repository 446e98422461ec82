import GRPCCore

/// A message as the bytes of its fields.
///
/// Generated types would need a build of swift-protobuf's plugin.
package struct Wire: Sendable {
  /// The serialized message.
  package var bytes: [UInt8]

  package init(bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  /// Appends a field that is a number.
  package mutating func append(_ number: Int, _ value: Int) {
    self.append(varint: number << 3)
    self.append(varint: value)
  }

  /// Appends a field that is a message or has bytes.
  package mutating func append(_ number: Int, _ value: [UInt8]) {
    self.append(varint: number << 3 | 2)
    self.append(varint: value.count)
    self.bytes += value
  }

  private mutating func append(varint value: Int) {
    var rest = UInt64(bitPattern: Int64(value))
    while rest >= 0x80 {
      self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    self.bytes.append(UInt8(rest))
  }

  /// The values of the fields with a number, which are numbers.
  package func numbers(_ number: Int) throws -> [Int] {
    try self.fields().filter { $0.number == number }.map(\.value)
  }

  /// The values of the fields with a number, which are messages or bytes.
  package func messages(_ number: Int) throws -> [Wire] {
    try self.fields().filter { $0.number == number }.map { Wire(bytes: Array($0.bytes)) }
  }

  private func fields() throws -> [(number: Int, value: Int, bytes: ArraySlice<UInt8>)] {
    var fields: [(number: Int, value: Int, bytes: ArraySlice<UInt8>)] = []
    var rest = self.bytes[...]
    while !rest.isEmpty {
      let tag = try Self.varint(&rest)
      let value = try Self.varint(&rest)
      switch tag & 7 {
      case 0:
        fields.append((tag >> 3, value, []))
      case 2 where value <= rest.count:
        fields.append((tag >> 3, 0, rest.prefix(value)))
        rest = rest.dropFirst(value)
      default:
        throw RPCError(code: .invalidArgument, message: "not a message of this service")
      }
    }
    return fields
  }

  private static func varint(_ rest: inout ArraySlice<UInt8>) throws -> Int {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard let byte = rest.popFirst() else { break }
      value |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return Int(truncatingIfNeeded: value) }
    }
    throw RPCError(code: .invalidArgument, message: "not a message")
  }
}

package struct WireSerializer: MessageSerializer {
  package init() {}

  package func serialize<Bytes: GRPCContiguousBytes>(_ message: Wire) throws -> Bytes {
    Bytes(message.bytes)
  }
}

package struct WireDeserializer: MessageDeserializer {
  package init() {}

  package func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Wire {
    Wire(bytes: bytes.withUnsafeBytes { Array($0) })
  }
}
