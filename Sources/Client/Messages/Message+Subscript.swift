import RPCurlProtobuf

extension Message {
  /// The value at a path, in the type that the context requires.
  ///
  /// ```swift
  /// let city: String = try message["user.addresses[0].city"]
  /// let age = try message["user.age"] as Int?
  /// let tags: [String] = try message["tags"]
  /// ```
  ///
  /// A value that is not set is the field's default; for an optional type, it is nil if the field has presence. The value of
  /// an enum is a name or a number.
  ///
  /// - Parameter path: The path: names of fields, indexes of lists, and keys of maps.
  /// - Throws: `FieldPathError` if the message has no such field, or if its value does not have the type.
  public subscript<Result: FieldResult>(path: String) -> Result {
    get throws(FieldPathError) { try Result(of: self, at: try FieldPath(path)) }
  }
}

/// A type of values that a path of a message may lead to. `[any thread]`
public protocol FieldResult {
  /// Reads the value at a path.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - path: The path to the field.
  /// - Throws: `FieldPathError` if the message has no such field, or its value has another type.
  init(of message: Message, at path: FieldPath) throws(FieldPathError)
}

/// A type of single values, which may also be the elements of lists. `[any thread]`
public protocol SingleFieldResult: FieldResult {
  /// Makes the result of a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - field: The field of the value.
  /// - Returns: Nil if the value has another type, or is out of range.
  /// - Throws: `FieldPathError` if the field is not known.
  init?(_ value: Value, of field: @autoclosure () throws(FieldPathError) -> Field) throws(FieldPathError)
  /// The value of a field that is not set and has no default.
  ///
  /// - Parameter field: The field.
  static func empty(_ field: Field) -> Self?
  /// The elements of a single value that is an array in Swift: of `bytes`. Nil for other values.
  ///
  /// - Parameter value: The value of the field.
  static func elements(of value: Value) -> [Self]?
  /// The name of the type in errors.
  static var fieldTypeName: String { get }
}

extension SingleFieldResult {
  /// The value has no elements.
  public static func elements(of value: Value) -> [Self]? { nil }

  /// Reads the value at a path, or its default.
  public init(of message: Message, at path: FieldPath) throws(FieldPathError) {
    try self.init(message.value(at: path), message, path)
  }

  /// Reads a value of a path, or the default of its field.
  fileprivate init(_ value: Value?, _ message: Message, _ path: FieldPath) throws(FieldPathError) {
    if let result = try Self.read(value, message, path) {
      self = result
      return
    }
    let field = try message.type.field(at: path)
    if let value = field.defaultValue, let result = try Self(value, of: field) {
      self = result
    } else if let result = Self.empty(field) {
      self = result
    } else {
      throw Self.mismatch(field, path)
    }
  }

  /// The error of a value of another type, or of a number that is out of range.
  private static func mismatch(_ field: Field, _ path: FieldPath) -> FieldPathError {
    .notReadable(field: path.description, type: field.typeDescription, as: fieldTypeName)
  }

  fileprivate static func read(
    _ value: Value?, _ message: Message, _ path: FieldPath
  ) throws(FieldPathError) -> Self? {
    guard let value else { return nil }
    let field = { () throws(FieldPathError) in try message.type.field(at: path) }
    guard let result = try Self(value, of: try field()) else { throw mismatch(try field(), path) }
    return result
  }
}

extension Optional: FieldResult where Wrapped: SingleFieldResult {
  /// Reads the value at a path; nil if it is not set and its field has presence.
  public init(of message: Message, at path: FieldPath) throws(FieldPathError) {
    self = try Wrapped.read(message.value(at: path), message, path)
  }
}

extension Array: FieldResult where Element: SingleFieldResult {
  /// Reads all elements of a list or a map, each value of a path with `[]`, or `bytes`.
  public init(of message: Message, at path: FieldPath) throws(FieldPathError) {
    self = []
    var path = path
    if !path.hasEach, Element.self == UInt8.self,
      let bytes = try message.value(at: path) ?? .some(.bytes([])),
      let elements = Element.elements(of: bytes)
    {
      self = elements
      return
    }
    if !path.hasEach {
      guard try message.length(path) > 0 else { return }
      path = path.appending(.each)
    }
    for value in try message.values(at: path) { append(try Element(value, message, path)) }
  }
}

extension String: SingleFieldResult {
  /// Makes a string of a string, or of the name of an enum's value.
  public init?(_ value: Value, of field: @autoclosure () throws(FieldPathError) -> Field)
    throws(FieldPathError)
  {
    switch value {
    case .string(let text): self = text
    case .enum(let number): self = try field().enumType?.name(of: number) ?? String(number)
    default: return nil
    }
  }
  /// The empty string, for a string.
  public static func empty(_ field: Field) -> String? { field.kind == .string ? "" : nil }
  /// The name of the type in errors.
  public static var fieldTypeName: String { "a string or an enum" }
}

extension Bool: SingleFieldResult {
  /// Makes a value of a `bool`.
  public init?(_ value: Value, of field: @autoclosure () throws(FieldPathError) -> Field)
    throws(FieldPathError)
  {
    guard case .bool(let value) = value else { return nil }
    self = value
  }
  /// False, for a `bool`.
  public static func empty(_ field: Field) -> Bool? { field.kind == .bool ? false : nil }
  /// The name of the type in errors.
  public static var fieldTypeName: String { "a bool" }
}

extension SingleFieldResult where Self: FixedWidthInteger {
  /// Makes a number of an integer, or of the number of an enum's value; nil if it is out of range.
  public init?(_ value: Value, of field: @autoclosure () throws(FieldPathError) -> Field)
    throws(FieldPathError)
  {
    switch value {
    case .int32(let value), .enum(let value): self.init(exactly: value)
    case .int64(let value): self.init(exactly: value)
    case .uint32(let value): self.init(exactly: value)
    case .uint64(let value): self.init(exactly: value)
    default: return nil
    }
  }
  /// Zero, for an integer.
  public static func empty(_ field: Field) -> Self? {
    switch field.kind {
    case .bool, .string, .bytes, .float, .double, .message, .group: nil
    default: 0
    }
  }
  /// The name of the type in errors.
  public static var fieldTypeName: String { "an integer that fits \(Self.self)" }
}

extension Int: SingleFieldResult {}
extension Int32: SingleFieldResult {}
extension Int64: SingleFieldResult {}
extension UInt32: SingleFieldResult {}
extension UInt64: SingleFieldResult {}

extension Double: SingleFieldResult {
  /// Makes a number of a `double` or a `float`.
  public init?(_ value: Value, of field: @autoclosure () throws(FieldPathError) -> Field)
    throws(FieldPathError)
  {
    switch value {
    case .double(let value): self = value
    case .float(let value): self = Double(value)
    default: return nil
    }
  }
  /// Zero, for a `double` or a `float`.
  public static func empty(_ field: Field) -> Double? {
    field.kind == .double || field.kind == .float ? 0 : nil
  }
  /// The name of the type in errors.
  public static var fieldTypeName: String { "a double or a float" }
}

extension UInt8: SingleFieldResult {
  /// The content of `bytes`.
  public static func elements(of value: Value) -> [UInt8]? {
    if case .bytes(let bytes) = value { bytes } else { nil }
  }
}

extension Message: SingleFieldResult {
  /// Makes a message.
  public init?(_ value: Value, of field: @autoclosure () throws(FieldPathError) -> Field)
    throws(FieldPathError)
  {
    guard case .message(let value) = value else { return nil }
    self = value
  }
  /// The empty message of the field's type.
  public static func empty(_ field: Field) -> Message? { field.messageType.map { Message($0) } }
  /// The name of the type in errors.
  public static var fieldTypeName: String { "a message" }
}
