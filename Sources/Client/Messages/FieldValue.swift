import RPCurlProtobuf
import RPCurlProtocols

/// A value for a field of a request, or a whole message: the values of JSON, bytes, and messages.
///
/// ```swift
/// let person: FieldValue = ["name": "Ada", "tags": ["a", "b"], "born": FieldValue(["year": 1815])]
/// ```
///
/// Fields have their names of the schema or of JSON. Enums are their names, and well-known types have their JSON form, such
/// as `"1.5s"` for a `Duration`.
public enum FieldValue: Sendable {
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
  indirect case list([FieldValue])
  /// The fields of a message, or the entries of a map, in order.
  indirect case fields([(name: String, value: FieldValue)])
  /// A message.
  case message(Message)

  /// Makes a value.
  ///
  /// - Parameter value: A value that is not a literal.
  public init(_ value: some FieldValueConvertible) { self = value.fieldValue }

  /// Makes a value from a literal: `FieldValue(["year": 1815])`.
  ///
  /// - Parameter value: The value, unchanged.
  public init(_ value: FieldValue) { self = value }
}

/// A type whose values may be fields of a ``FieldValue``.
public protocol FieldValueConvertible {
  /// The value.
  var fieldValue: FieldValue { get }
}

extension FieldValue: FieldValueConvertible {
  /// The value itself.
  public var fieldValue: FieldValue { self }
}

extension FieldValue: ExpressibleByDictionaryLiteral {
  /// Makes a message or a map.
  public init(dictionaryLiteral elements: (String, any FieldValueConvertible)...) {
    self = .fields(elements.map { ($0.0, $0.1.fieldValue) })
  }
}

extension FieldValue: ExpressibleByArrayLiteral {
  /// Makes a list.
  public init(arrayLiteral elements: any FieldValueConvertible...) {
    self = .list(elements.map(\.fieldValue))
  }
}

extension Message: FieldValueConvertible {
  /// The message.
  public var fieldValue: FieldValue { .message(self) }
}

extension Bool: FieldValueConvertible {
  /// A `bool`.
  public var fieldValue: FieldValue { .bool(self) }
}

extension String: FieldValueConvertible {
  /// A `string`.
  public var fieldValue: FieldValue { .string(self) }
}

extension Int: FieldValueConvertible {
  /// A number.
  public var fieldValue: FieldValue { .integer(Int64(self)) }
}

extension Int32: FieldValueConvertible {
  /// A number.
  public var fieldValue: FieldValue { .integer(Int64(self)) }
}

extension Int64: FieldValueConvertible {
  /// A number.
  public var fieldValue: FieldValue { .integer(self) }
}

extension UInt32: FieldValueConvertible {
  /// A number.
  public var fieldValue: FieldValue { .integer(Int64(self)) }
}

extension UInt64: FieldValueConvertible {
  /// A number.
  public var fieldValue: FieldValue { .unsigned(self) }
}

extension Float: FieldValueConvertible {
  /// A number.
  public var fieldValue: FieldValue { .double(Double(self)) }
}

extension Double: FieldValueConvertible {
  /// A number.
  public var fieldValue: FieldValue { .double(self) }
}

extension Optional: FieldValueConvertible where Wrapped: FieldValueConvertible {
  /// The value, or `null`.
  public var fieldValue: FieldValue { self?.fieldValue ?? .null }
}

extension Array: FieldValueConvertible where Element: FieldValueConvertible {
  /// A list.
  public var fieldValue: FieldValue { .list(map(\.fieldValue)) }
}

extension Dictionary: FieldValueConvertible where Key == String, Value: FieldValueConvertible {
  /// A message or a map.
  public var fieldValue: FieldValue {
    .fields(sorted { $0.key < $1.key }.map { ($0.key, $0.value.fieldValue) })
  }
}
