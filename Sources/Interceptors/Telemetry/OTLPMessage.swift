import RPCurlProtocols

/// Writes a message of OTLP in protobuf's binary format, field by field. Fields have the numbers of the schemas in
/// `opentelemetry/proto`.
///
/// The program only writes these messages, a few fields of each. The code that protobuf-c generates for these fields has 2,774
/// lines, which are 12 KB of the program.
struct OTLPMessage {
  private(set) var bytes: [UInt8] = []

  private mutating func append(varint value: UInt64) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: value))
  }

  private mutating func append(_ value: UInt64, count: Int) {
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
  }

  /// Adds a field of an integer type of variable size, an enum or a bool.
  mutating func add(_ number: UInt64, varint value: Int) {
    append(varint: number << 3)
    append(varint: UInt64(bitPattern: Int64(value)))
  }

  /// Adds a field of the type `fixed64`, `sfixed64` or, with its bit pattern, `double`.
  mutating func add(_ number: UInt64, fixed64 value: UInt64) {
    append(varint: number << 3 | 1)
    append(value, count: 8)
  }

  /// Adds a field of the type `fixed32`.
  mutating func add(_ number: UInt64, fixed32 value: UInt32) {
    append(varint: number << 3 | 5)
    append(UInt64(value), count: 4)
  }

  /// Adds a field of the type `bytes` or `string`, or a serialized message.
  mutating func add(_ number: UInt64, bytes content: [UInt8]) {
    append(varint: number << 3 | 2)
    append(varint: UInt64(content.count))
    bytes += content
  }

  /// Adds a field of the type `string`.
  mutating func add(_ number: UInt64, _ text: String) { add(number, bytes: Array(text.utf8)) }

  /// Adds a repeated field of the type `fixed64` or, with bit patterns, `double`.
  mutating func add(_ number: UInt64, packed values: [UInt64]) {
    var content = OTLPMessage()
    for value in values { content.append(value, count: 8) }
    add(number, bytes: content.bytes)
  }

  /// Adds the fields of another message.
  mutating func append(_ fields: OTLPMessage) { bytes += fields.bytes }

  /// Adds a `KeyValue` with a string.
  mutating func add(_ number: UInt64, attribute key: String, _ text: String) {
    var value = OTLPMessage()
    value.add(1, text)
    add(number, attribute: key, value)
  }

  /// Adds a `KeyValue` with an integer.
  mutating func add(_ number: UInt64, attribute key: String, _ integer: Int) {
    var value = OTLPMessage()
    value.add(3, varint: integer)
    add(number, attribute: key, value)
  }

  private mutating func add(_ number: UInt64, attribute key: String, _ value: OTLPMessage) {
    var pair = OTLPMessage()
    pair.add(1, key)
    pair.add(2, bytes: value.bytes)
    add(number, bytes: pair.bytes)
  }

  /// Adds the attributes of a method by OpenTelemetry's conventions for RPC, version 1.37.
  mutating func add(_ number: UInt64, attributesOf method: MethodName, _ protocolName: ProtocolName) {
    add(number, attribute: "rpc.system", protocolName == .connect ? "connect_rpc" : "grpc")
    add(number, attribute: "rpc.service", method.service)
    add(number, attribute: "rpc.method", method.method)
  }

  /// Adds the attributes of the status of a call by the same conventions.
  mutating func add(_ number: UInt64, attributesOf code: StatusCode, _ protocolName: ProtocolName) {
    if protocolName != .connect {
      add(number, attribute: "rpc.grpc.status_code", code.rawValue)
    } else if code != .ok {
      add(number, attribute: "rpc.connect_rpc.error_code", code.name)
    }
    if code != .ok { add(number, attribute: "error.type", code.name) }
  }
}
