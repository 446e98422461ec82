/// The attributes of a call: text by key, which its caller and interceptors share. They are never sent.
///
/// Each attempt at a call works on a copy, and that of the attempt whose response is taken becomes the call's. An
/// interceptor's own calls have a copy.
public struct CallAttributes: Sendable, Hashable {
  /// The maximum number of attributes.
  public static let limit = 64
  /// The maximum size of a key and of a value, in bytes.
  public static let maxBytes = 4096

  private var values: [String: String] = [:]

  /// Makes an empty set.
  public init() {}

  /// The attributes by key, in the order of the keys.
  public var all: [(key: String, value: String)] {
    values.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
  }

  /// Whether there is none.
  public var isEmpty: Bool { values.isEmpty }

  /// The value of an attribute; nil if it is not set.
  ///
  /// - Parameter key: The name of the attribute.
  public subscript(key: String) -> String? { values[key] }

  /// The value of a typed attribute; nil if it is not set, or its text is no such value.
  ///
  /// - Parameter key: The attribute.
  public subscript<Value>(key: AttributeKey<Value>) -> Value? { values[key.name].flatMap { Value($0) } }

  /// Sets an attribute, or removes it if the value is nil.
  ///
  /// - Parameters:
  ///   - key: The name of the attribute.
  ///   - value: The value; nil removes the attribute.
  /// - Throws: An error if the key is invalid, the value is too long, or there are too many attributes.
  public mutating func set(_ key: String, _ value: String?) throws(InvalidValue) {
    guard let value else {
      values[key] = nil
      return
    }
    guard Self.isKey(key) else {
      throw InvalidValue(
        "the key of an attribute must be 1 to 4096 printable characters of ASCII without blank, = and :")
    }
    guard value.utf8.count <= Self.maxBytes else {
      throw InvalidValue("the attribute \(key) is longer than \(Self.maxBytes) bytes")
    }
    guard values[key] != nil || values.count < Self.limit else {
      throw InvalidValue("a call has at most \(Self.limit) attributes")
    }
    values[key] = value
  }

  /// Sets a typed attribute, or removes it if the value is nil.
  ///
  /// - Parameters:
  ///   - key: The attribute.
  ///   - value: The value; nil removes the attribute.
  /// - Throws: As `set(_:_:)` for text.
  public mutating func set<Value>(_ key: AttributeKey<Value>, _ value: Value?) throws(InvalidValue) {
    try set(key.name, value.map { "\($0)" })
  }

  /// Whether a text can be a key.
  package static func isKey(_ text: String) -> Bool {
    (1...maxBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ":")
      }
  }
}

/// The key of an attribute whose text is a value of a type.
///
/// ```swift
/// extension AttributeKey where Value == Int { static var priority: Self { Self("app.priority") } }
/// ```
public struct AttributeKey<Value: LosslessStringConvertible & Sendable>: Sendable {
  /// The key of the text.
  public let name: String

  /// Makes a key.
  public init(_ name: String) { self.name = name }
}
