import RPCurlProtobuf

/// A field's value in a form that can be compared with others of its kind.
package enum ComparableValue {
  case bool(Bool)
  case integer(Int128)
  case real(Double)
  case text(String)
  case bytes([UInt8])
  case enumeration(Int32, String?)
  /// Seconds and nanoseconds of a timestamp or a duration.
  case time(Int64, Int32)
  case message(Message)

  /// The form of a value.
  package init(_ value: Value) {
    switch value {
    case .bool(let value): self = .bool(value)
    case .int32(let value): self = .integer(Int128(value))
    case .int64(let value): self = .integer(Int128(value))
    case .uint32(let value): self = .integer(Int128(value))
    case .uint64(let value): self = .integer(Int128(value))
    case .float(let value): self = .real(Double(value))
    case .double(let value): self = .real(value)
    case .string(let value): self = .text(value)
    case .bytes(let value): self = .bytes(value)
    case .enum(let value): self = .enumeration(value, nil)
    case .message(let value): self = ComparableValue(value)
    }
  }

  /// Converts times to numbers, and wrappers and JSON scalars to their value; keeps other messages.
  package init(_ message: Message) {
    self = .message(message)
    switch try? message.type.wellKnown() {
    case .timestamp, .duration:
      guard case .int64(let seconds)? = Self.value("seconds", of: message),
        case .int32(let nanos)? = Self.value("nanos", of: message)
      else { return }
      self = .time(seconds, nanos)
    case .wrapper:
      if let wrapped = Self.value("value", of: message) { self = ComparableValue(wrapped) }
    case .value:
      for name in ["number_value", "string_value", "bool_value"] {
        if let scalar = Self.value(name, of: message) { self = ComparableValue(scalar) }
      }
    default: return
    }
  }

  private static func value(_ name: String, of message: Message) -> Value? {
    guard let path = try? FieldPath(name) else { return nil }
    return (try? message.value(at: path)) ?? nil
  }

  /// Whether values of this kind have an order.
  package var hasOrder: Bool {
    switch self {
    case .integer, .real, .text, .enumeration, .time: true
    case .bool, .bytes, .message: false
    }
  }

  /// The text for regular expressions.
  package var text: String? {
    switch self {
    case .text(let text): text
    case .enumeration(let number, let name): name ?? "\(number)"
    case .bool, .integer, .real, .bytes, .time, .message: nil
    }
  }

  /// Its order relative to another value of its kind.
  package func order(to other: ComparableValue) -> Order {
    switch (self, other) {
    case (.bool(let one), .bool(let other)): one == other ? .same : .none
    case (.integer(let one), .integer(let other)): Order(one, other)
    case (.integer(let one), .real(let other)): Order(Double(one), other)
    case (.real(let one), .integer(let other)): Order(one, Double(other))
    case (.real(let one), .real(let other)): one.isNaN && other.isNaN ? .same : Order(one, other)
    case (.text(let one), .text(let other)): Self.order(one, other)
    case (.bytes(let one), .bytes(let other)): one == other ? .same : .none
    case (.enumeration(let one, _), .enumeration(let other, _)): Order(one, other)
    case (.time(let one, let nanos), .time(let other, let otherNanos)):
      one == other ? Order(nanos, otherNanos) : Order(one, other)
    case (.message(let one), .message(let other)): one == other ? .same : .none
    default: .none
    }
  }

  /// By bytes, as protobuf compares strings, without normalization.
  private static func order(_ one: String, _ other: String) -> Order {
    if one.utf8.elementsEqual(other.utf8) { return .same }
    return one.utf8.lexicographicallyPrecedes(other.utf8) ? .before : .after
  }
}
