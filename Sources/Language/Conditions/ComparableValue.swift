import RPCurlProtobuf

/// A value in a form that has an order relative to others of its type.
enum ComparableValue {
  case integer(Int128)
  case real(Double)
  case text(String)
  case bytes([UInt8])
  case enumeration(Int32)
  /// The nanoseconds of a timestamp or a duration.
  case time(Int128)

  /// The form of a value; nil if values of its type have no order.
  init?(_ value: Value) {
    switch value {
    case .int32(let value): self = .integer(Int128(value))
    case .int64(let value): self = .integer(Int128(value))
    case .uint32(let value): self = .integer(Int128(value))
    case .uint64(let value): self = .integer(Int128(value))
    case .float(let value): self = .real(Double(value))
    case .double(let value): self = .real(value)
    case .string(let value): self = .text(value)
    case .enum(let value): self = .enumeration(value)
    case .message(let value): self.init(value)
    case .bytes(let value): self = .bytes(value)
    case .bool: return nil
    }
  }

  /// The form of a time, or of the value of a wrapper or a Value; nil for other messages.
  init?(_ message: Message) {
    let value = { (name: String) -> Value? in
      (try? FieldPath(name)).flatMap { (try? message.value(at: $0)) ?? nil }
    }
    switch try? message.type.wellKnown() {
    case .timestamp, .duration:
      guard case .int64(let seconds)? = value("seconds"), case .int32(let nanos)? = value("nanos") else {
        return nil
      }
      self = .time(Int128(seconds) * 1_000_000_000 + Int128(nanos))
    case .wrapper:
      guard let wrapped = value("value") else { return nil }
      self.init(wrapped)
    case .value:
      guard let scalar = value("number_value") ?? value("string_value") else { return nil }
      self.init(scalar)
    default: return nil
    }
  }

  /// Whether it is a number.
  var isNumber: Bool {
    switch self {
    case .integer, .real: true
    case .text, .bytes, .enumeration, .time: false
    }
  }

  /// Its order relative to another value of its type.
  func order(to other: ComparableValue) -> Order {
    switch (self, other) {
    case (.integer(let one), .integer(let other)): Order(one, other)
    case (.integer(let one), .real(let other)): Order(Double(one), other)
    case (.real(let one), .integer(let other)): Order(one, Double(other))
    case (.real(let one), .real(let other)): one.isNaN && other.isNaN ? .same : Order(one, other)
    case (.text(let one), .text(let other)): Self.order(one.utf8, other.utf8)
    case (.bytes(let one), .bytes(let other)): Self.order(one, other)
    case (.enumeration(let one), .enumeration(let other)): Order(one, other)
    case (.time(let one), .time(let other)): Order(one, other)
    default: .none
    }
  }

  /// By bytes, as protobuf compares strings, without normalization.
  private static func order(_ one: some Sequence<UInt8>, _ other: some Sequence<UInt8>) -> Order {
    if one.elementsEqual(other) { return .same }
    return one.lexicographicallyPrecedes(other) ? .before : .after
  }
}
