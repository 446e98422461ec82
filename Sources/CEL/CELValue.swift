import RPCurlLanguage
import RPCurlProtobuf

/// A value of the Common Expression Language.
package enum CELValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case uint(UInt64)
  case double(Double)
  case string(String)
  case bytes([UInt8])
  case list([CELValue])
  case map([(key: CELValue, value: CELValue)])
  case message(Message)
  /// Nanoseconds since 1970.
  case timestamp(Int128)
  /// Nanoseconds.
  case duration(Int128)
  /// The name of a type.
  case type(String)

  /// The name of its type.
  package var typeName: String {
    switch self {
    case .null: "null_type"
    case .bool: "bool"
    case .int: "int"
    case .uint: "uint"
    case .double: "double"
    case .string: "string"
    case .bytes: "bytes"
    case .list: "list"
    case .map: "map"
    case .message(let message): message.type.name
    case .timestamp: "google.protobuf.Timestamp"
    case .duration: "google.protobuf.Duration"
    case .type: "type"
    }
  }

  /// Whether both are equal. Numbers of different types are equal if they are the same number.
  ///
  /// - Throws: `LanguageError` if the comparison takes too long.
  static func areEqual(
    _ one: CELValue, _ other: CELValue, _ run: inout RuleRun
  ) throws(LanguageError) -> Bool {
    try run.spend(1)
    switch (one, other) {
    case (.null, .null): return true
    case (.bool(let one), .bool(let other)): return one == other
    case (.string(let one), .string(let other)): return one.utf8.elementsEqual(other.utf8)
    case (.bytes(let one), .bytes(let other)): return one == other
    case (.timestamp(let one), .timestamp(let other)), (.duration(let one), .duration(let other)):
      return one == other
    case (.type(let one), .type(let other)): return one == other
    case (.message(let one), .message(let other)):
      guard one.type == other.type else { return false }
      guard !one.isIdentical(to: other) else { return true }
      let (one, other) = (one.serialized(), other.serialized())
      // Comparing 32 bytes takes no longer than another step.
      try run.spend((one.count + other.count) >> 5)
      return one == other
    case (.list(let one), .list(let other)):
      guard one.count == other.count else { return false }
      for (one, other) in zip(one, other) { guard try areEqual(one, other, &run) else { return false } }
      return true
    case (.map(let one), .map(let other)):
      guard one.count == other.count else { return false }
      for (key, value) in one {
        guard let found = try find(key, in: other, &run), try areEqual(found, value, &run) else {
          return false
        }
      }
      return true
    default: return order(one, other) == .same
    }
  }

  /// The value of a key of a map.
  ///
  /// - Throws: `LanguageError` if the search takes too long.
  static func find(
    _ key: CELValue, in entries: [(key: CELValue, value: CELValue)], _ run: inout RuleRun
  ) throws(LanguageError) -> CELValue? {
    for entry in entries { if try areEqual(entry.key, key, &run) { return entry.value } }
    return nil
  }

  /// The order of numbers, texts, bytes, booleans and times; `none` for other values.
  static func order(_ one: CELValue, _ other: CELValue) -> Order {
    switch (one, other) {
    case (.bool(let one), .bool(let other)): return Order(one ? 1 : 0, other ? 1 : 0)
    case (.string(let one), .string(let other)): return order(one.utf8, other.utf8)
    case (.bytes(let one), .bytes(let other)): return order(one, other)
    case (.timestamp(let one), .timestamp(let other)), (.duration(let one), .duration(let other)):
      return Order(one, other)
    default:
      if let one = one.integer, let other = other.integer { return Order(one, other) }
      guard let one = one.real, let other = other.real else { return .none }
      return Order(one, other)
    }
  }

  private static func order(_ one: some Sequence<UInt8>, _ other: some Sequence<UInt8>) -> Order {
    one.lexicographicallyPrecedes(other) ? .before : one.elementsEqual(other) ? .same : .after
  }

  /// An integer; nil for other values.
  var integer: Int128? {
    switch self {
    case .int(let number): Int128(number)
    case .uint(let number): Int128(number)
    default: nil
    }
  }

  private var real: Double? {
    if case .double(let number) = self { return number }
    return integer.map { Double($0) }
  }
}

extension CELValue {
  /// A timestamp in nanoseconds since 1970; nil if it is not in the years 1 to 9999.
  static func timestamp(inRange time: Int128) -> CELValue? {
    (-62_135_596_800_000_000_000..<253_402_300_800_000_000_000).contains(time) ? .timestamp(time) : nil
  }

  /// A duration in nanoseconds; nil if it is longer than about 10,000 years, the maximum of
  /// `google.protobuf.Duration`.
  static func duration(inRange time: Int128) -> CELValue? {
    time.magnitude <= 315_576_000_000_000_000_000 ? .duration(time) : nil
  }

  /// A value of a field or an element.
  package init(_ value: Value) {
    switch value {
    case .bool(let value): self = .bool(value)
    case .int32(let value), .enum(let value): self = .int(Int64(value))
    case .int64(let value): self = .int(value)
    case .uint32(let value): self = .uint(UInt64(value))
    case .uint64(let value): self = .uint(value)
    case .float(let value): self = .double(Double(value))
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    case .bytes(let value): self = .bytes(value)
    case .message(let message): self.init(message)
    }
  }

  /// A message; times, wrappers and dynamic values are converted.
  init(_ message: Message) {
    self = .message(message)
    switch try? message.type.wellKnown() {
    case .timestamp?, .duration?:
      guard let time = message.nanoseconds else { return }
      self = message.type.name.hasSuffix("Timestamp") ? .timestamp(time) : .duration(time)
    case .wrapper?:
      guard let field = try? message.type.fields().first else { return }
      self = CELValue(message.contents(of: field), field)
    case .value?:
      guard let field = message.setFields.first, case .value(let value) = message.contents(of: field) else {
        self = .null
        return
      }
      self = field.kind == .enumeration ? .null : CELValue(value)
    case .structure?, .listValue?:
      guard let field = try? message.type.fields().first else { return }
      self = CELValue(message.contents(of: field), field)
    default: break
    }
  }

  /// The content of a field: an unset one has its default, an unset wrapper is null.
  package init(_ contents: FieldContents, _ field: Field) {
    switch contents {
    case .value(let value): self.init(value)
    case .list(let values): self = .list(values.map { CELValue($0) })
    case .map(let entries): self = .map(entries.map { (CELValue($0.key), CELValue($0.value)) })
    case .unset:
      if field.isMap {
        self = .map([])
      } else if field.isRepeated {
        self = .list([])
      } else if let type = field.messageType {
        if case .wrapper? = try? type.wellKnown() { self = .null } else { self.init(Message(type)) }
      } else {
        self = field.defaultValue.map { CELValue($0) } ?? .null
      }
    }
  }
}
