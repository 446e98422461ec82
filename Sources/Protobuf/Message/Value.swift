/// The value of a field, or an element of a list or a map.
public enum Value: Sendable {
  /// `bool`.
  case bool(Bool)
  /// `int32`, `sint32`, `sfixed32`.
  case int32(Int32)
  /// `int64`, `sint64`, `sfixed64`.
  case int64(Int64)
  /// `uint32`, `fixed32`.
  case uint32(UInt32)
  /// `uint64`, `fixed64`.
  case uint64(UInt64)
  /// `float`.
  case float(Float)
  /// `double`.
  case double(Double)
  /// `string`. One that is not UTF-8, which proto2 allows, is `bytes`.
  case string(String)
  /// `bytes`.
  case bytes([UInt8])
  /// The number of an enum value.
  case `enum`(Int32)
  /// A message or a group.
  case message(Message)
}

extension Value: Equatable {
  /// Equal if both have the same bytes on the wire: strings are not normalized, and NaN equals itself.
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.bool(let a), .bool(let b)): a == b
    case (.int32(let a), .int32(let b)): a == b
    case (.int64(let a), .int64(let b)): a == b
    case (.uint32(let a), .uint32(let b)): a == b
    case (.uint64(let a), .uint64(let b)): a == b
    case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.bytes(let a), .bytes(let b)): a == b
    case (.enum(let a), .enum(let b)): a == b
    case (.message(let a), .message(let b)): a == b
    default: false
    }
  }
}

extension Value {
  /// About how many bytes the value has when it is serialized, with its tag.
  var approximateSizeBytes: Int {
    switch self {
    case .string(let text): text.utf8.count + 4
    case .bytes(let bytes): bytes.count + 4
    case .message(let message): message.approximateSizeBytes + 4
    case .bool, .int32, .int64, .uint32, .uint64, .float, .double, .enum: 4
    }
  }

  /// Whether a field without presence is omitted with this value.
  @inline(__always)
  var isZero: Bool {
    switch self {
    case .bool(let value): !value
    case .int32(let value), .enum(let value): value == 0
    case .int64(let value): value == 0
    case .uint32(let value): value == 0
    case .uint64(let value): value == 0
    case .float(let value): value.bitPattern == 0
    case .double(let value): value.bitPattern == 0
    case .string(let value): value.isEmpty
    case .bytes(let value): value.isEmpty
    case .message: false
    }
  }

  /// The same value in the case for the field's kind; nil if it is out of range or of another type.
  func converted(to field: FieldNode) -> Value? {
    switch (field.kind, self) {
    case (.bool, .bool), (.float, .float), (.double, .double), (.string, .string), (.bytes, .bytes):
      return self
    case (.float, .double(let value)): return .float(Float(value))
    case (.double, .float(let value)): return .double(Double(value))
    case (.message, .message(let message)), (.group, .message(let message)):
      return message.type.name == field.messageType?.name ? self : nil
    case (.enumeration, .string(let name)): return field.enumType?.number(of: name).map { .enum($0) }
    case (.string, .bytes(let bytes)):
      let isText = bytes.withUnsafeBytes { UTF8Validation.isValid($0) }
      return isText ? .string(String(decoding: bytes, as: UTF8.self)) : field.validatesUTF8 ? nil : self
    default: break
    }
    switch field.kind {
    case .int32, .sint32, .sfixed32: return integer().map { .int32($0) }
    case .int64, .sint64, .sfixed64: return integer().map { .int64($0) }
    case .uint32, .fixed32: return integer().map { .uint32($0) }
    case .uint64, .fixed64: return integer().map { .uint64($0) }
    case .enumeration: return integer().flatMap { field.enumType?.accepts($0) == false ? nil : .enum($0) }
    case .double:
      let number: Int64? = integer()
      return number.flatMap { Double(exactly: $0) }.map { .double($0) }
    default: return nil
    }
  }

  private func integer<Number: FixedWidthInteger>() -> Number? {
    switch self {
    case .int32(let value), .enum(let value): Number(exactly: value)
    case .int64(let value): Number(exactly: value)
    case .uint32(let value): Number(exactly: value)
    case .uint64(let value): Number(exactly: value)
    default: nil
    }
  }
}

/// The key of a map entry, in the order of deterministic output: numbers by value, strings by bytes.
enum MapKey: Sendable {
  case bool(Bool)
  case signed(Int64)
  case unsigned(UInt64)
  case string(String)
  /// A proto2 string that is not UTF-8.
  case bytes([UInt8])

  /// About how many bytes the key has when it is serialized, with its tag.
  var approximateSizeBytes: Int {
    switch self {
    case .string(let text): text.utf8.count + 4
    case .bytes(let bytes): bytes.count + 4
    case .bool, .signed, .unsigned: 4
    }
  }

  init?(_ value: Value) {
    switch value {
    case .bool(let value): self = .bool(value)
    case .int32(let value): self = .signed(Int64(value))
    case .int64(let value): self = .signed(value)
    case .uint32(let value): self = .unsigned(UInt64(value))
    case .uint64(let value): self = .unsigned(value)
    case .string(let value): self = .string(value)
    case .bytes(let value): self = .bytes(value)
    default: return nil
    }
  }

  func value(kind: FieldKind) -> Value {
    switch self {
    case .bool(let value): .bool(value)
    case .signed(let value):
      kind == .int64 || kind == .sint64 || kind == .sfixed64
        ? .int64(value) : .int32(Int32(truncatingIfNeeded: value))
    case .unsigned(let value):
      kind == .uint64 || kind == .fixed64 ? .uint64(value) : .uint32(UInt32(truncatingIfNeeded: value))
    case .string(let value): .string(value)
    case .bytes(let value): .bytes(value)
    }
  }
}

extension MapKey: Hashable, Comparable {
  static func == (a: MapKey, b: MapKey) -> Bool {
    switch (a, b) {
    case (.bool(let a), .bool(let b)): a == b
    case (.signed(let a), .signed(let b)): a == b
    case (.unsigned(let a), .unsigned(let b)): a == b
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.bytes(let a), .bytes(let b)): a == b
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let value): hasher.combine(value)
    case .signed(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .string(let value):
      var value = value
      value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .bytes(let value): hasher.combine(value)
    }
  }

  static func < (a: MapKey, b: MapKey) -> Bool {
    switch (a, b) {
    case (.bool(let a), .bool(let b)): !a && b
    case (.signed(let a), .signed(let b)): a < b
    case (.unsigned(let a), .unsigned(let b)): a < b
    case (.string(let a), .string(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.string(let a), .bytes(let b)): a.utf8.lexicographicallyPrecedes(b)
    case (.bytes(let a), .string(let b)): a.lexicographicallyPrecedes(b.utf8)
    case (.bytes(let a), .bytes(let b)): a.lexicographicallyPrecedes(b)
    default: false
    }
  }
}
