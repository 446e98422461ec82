import RPCurlCEL
import RPCurlProtobuf

/// A number, a timestamp or a duration, as an ordered value.
package enum Ordinal: Sendable {
  /// An integer, or a time in nanoseconds.
  case integer(Int128)
  case real(Double)

  /// The form of values of a kind in messages.
  package enum Form: Sendable {
    case number, duration, timestamp
  }

  /// The number of a value, or the time of a message; nil for other values.
  init?(_ value: Value) {
    switch value {
    case .int32(let number), .enum(let number): self = .integer(Int128(number))
    case .int64(let number): self = .integer(Int128(number))
    case .uint32(let number): self = .integer(Int128(number))
    case .uint64(let number): self = .integer(Int128(number))
    case .float(let number): self = .real(Double(number))
    case .double(let number): self = .real(number)
    case .message(let message):
      guard let time = message.nanoseconds else { return nil }
      self = .integer(time)
    case .bool, .string, .bytes: return nil
    }
  }

  /// Reads a value of a rule.
  ///
  /// - Parameters:
  ///   - content: The content of the rule's field.
  ///   - kind: The kind of a number; `message` for a time.
  init?(_ content: WireRecord.Content, _ kind: FieldKind) {
    switch content {
    case .bits(let bits):
      switch kind {
      case .float: self = .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
      case .double: self = .real(Double(bitPattern: bits))
      case .uint32, .fixed32: self = .integer(Int128(UInt32(truncatingIfNeeded: bits)))
      case .uint64, .fixed64: self = .integer(Int128(bits))
      case .sint32, .sint64:
        self = .integer(Int128(Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1)))
      case .int64, .sfixed64: self = .integer(Int128(Int64(bitPattern: bits)))
      case .int32, .sfixed32, .enumeration: self = .integer(Int128(Int32(truncatingIfNeeded: bits)))
      default: return nil
      }
    case .bytes(let bytes):
      guard kind == .message else { return nil }
      let time = WireFields(Array(bytes))
      let seconds = Int128(Int64(bitPattern: time.bits(1) ?? 0))
      self = .integer(seconds * 1_000_000_000 + Int128(Int32(truncatingIfNeeded: time.bits(2) ?? 0)))
    case .group: return nil
    }
  }

  /// Reads the values of a rule that is a list, packed or not.
  static func list(_ contents: [WireRecord.Content], _ kind: FieldKind) -> [Ordinal] {
    contents.flatMap { content -> [Ordinal] in
      guard case .bytes(let bytes) = content, kind != .message else {
        return Ordinal(content, kind).map { [$0] } ?? []
      }
      return WireRecord.packed(bytes, kind).compactMap { Ordinal(.bits($0), kind) }
    }
  }

  /// Whether it is not a number.
  var isNaN: Bool { if case .real(let number) = self { number.isNaN } else { false } }

  /// Whether it is a number below infinity, or a time.
  var isFinite: Bool { if case .real(let number) = self { number.isFinite } else { true } }

  /// The order of values of one kind; false with NaN.
  static func < (one: Ordinal, other: Ordinal) -> Bool {
    switch (one, other) {
    case (.integer(let one), .integer(let other)): one < other
    case (.real(let one), .real(let other)): one < other
    default: false
    }
  }

  /// Whether values of one kind are equal; false with NaN.
  static func == (one: Ordinal, other: Ordinal) -> Bool {
    switch (one, other) {
    case (.integer(let one), .integer(let other)): one == other
    case (.real(let one), .real(let other)): one == other
    default: false
    }
  }

  /// The value of a field as JSON.
  package func json(_ form: Form) -> JSONValue {
    if case .number = form { return .number(text(form)) }
    return .string(text(form))
  }

  /// The text in messages.
  func text(_ form: Form) -> String {
    switch self {
    case .real(let number): DecimalText.plain(number)
    case .integer(let number):
      switch form {
      case .number: "\(number)"
      case .duration: DecimalText.duration(nanoseconds: number)
      case .timestamp: DecimalText.timestamp(nanoseconds: number)
      }
    }
  }
}
