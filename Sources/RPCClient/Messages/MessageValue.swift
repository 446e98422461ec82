import Protobuf
import RPCProtocols

/// A value for a field of a request, or a whole message: the values of JSON, bytes, and messages.
///
/// ```swift
/// let person: MessageValue = ["name": "Ada", "tags": ["a", "b"], "born": MessageValue(["year": 1815])]
/// ```
///
/// Fields have their names of the schema or of JSON. Enums are their names, and well-known types have their JSON form, such
/// as `"1.5s"` for a `Duration`.
public enum MessageValue: Sendable {
  /// No value: the field is not set.
  case null
  /// A `bool`.
  case bool(Bool)
  /// A number of any integer type.
  case integer(Int64)
  /// A number above those of `integer`.
  case unsigned(UInt64)
  /// A number of any type.
  case double(Double)
  /// A `string`, the name of an enum's value, or a well-known type.
  case string(String)
  /// `bytes`.
  case bytes([UInt8])
  /// The elements of a list.
  indirect case list([MessageValue])
  /// The fields of a message, or the entries of a map, in order.
  indirect case fields([(name: String, value: MessageValue)])
  /// A message.
  case message(Message)

  /// Makes a value.
  public init(_ value: some MessageValueConvertible) { self = value.messageValue }

  /// Makes a value from a literal: `MessageValue(["year": 1815])`.
  public init(_ value: MessageValue) { self = value }
}

/// A type whose values may be fields of a ``MessageValue``.
public protocol MessageValueConvertible {
  /// The value.
  var messageValue: MessageValue { get }
}

extension MessageValue: MessageValueConvertible {
  /// The value itself.
  public var messageValue: MessageValue { self }
}

extension MessageValue: ExpressibleByDictionaryLiteral {
  /// Makes a message or a map.
  public init(dictionaryLiteral elements: (String, any MessageValueConvertible)...) {
    self = .fields(elements.map { ($0.0, $0.1.messageValue) })
  }
}

extension MessageValue: ExpressibleByArrayLiteral {
  /// Makes a list.
  public init(arrayLiteral elements: any MessageValueConvertible...) {
    self = .list(elements.map(\.messageValue))
  }
}

extension Message: MessageValueConvertible {
  /// The message.
  public var messageValue: MessageValue { .message(self) }
}

extension Bool: MessageValueConvertible {
  /// A `bool`.
  public var messageValue: MessageValue { .bool(self) }
}

extension String: MessageValueConvertible {
  /// A `string`.
  public var messageValue: MessageValue { .string(self) }
}

extension Int: MessageValueConvertible {
  /// A number.
  public var messageValue: MessageValue { .integer(Int64(self)) }
}

extension Int32: MessageValueConvertible {
  /// A number.
  public var messageValue: MessageValue { .integer(Int64(self)) }
}

extension Int64: MessageValueConvertible {
  /// A number.
  public var messageValue: MessageValue { .integer(self) }
}

extension UInt32: MessageValueConvertible {
  /// A number.
  public var messageValue: MessageValue { .integer(Int64(self)) }
}

extension UInt64: MessageValueConvertible {
  /// A number.
  public var messageValue: MessageValue { .unsigned(self) }
}

extension Float: MessageValueConvertible {
  /// A number.
  public var messageValue: MessageValue { .double(Double(self)) }
}

extension Double: MessageValueConvertible {
  /// A number.
  public var messageValue: MessageValue { .double(self) }
}

extension Optional: MessageValueConvertible where Wrapped: MessageValueConvertible {
  /// The value, or `null`.
  public var messageValue: MessageValue { self?.messageValue ?? .null }
}

extension Array: MessageValueConvertible where Element: MessageValueConvertible {
  /// A list.
  public var messageValue: MessageValue { .list(map(\.messageValue)) }
}

extension Dictionary: MessageValueConvertible where Key == String, Value: MessageValueConvertible {
  /// A message or a map.
  public var messageValue: MessageValue {
    .fields(sorted { $0.key < $1.key }.map { ($0.key, $0.value.messageValue) })
  }
}
