/// A Swift type as which ``Message/get(_:as:)`` reads scalar fields: `Bool`, `String`, `Double`, `[UInt8]`, and the integer
/// types, which also read enum fields.
public protocol FieldScalar {
  /// The value of a field; nil if it has another type, or is out of range.
  init?(field value: Value)
}

extension Bool: FieldScalar {
  /// The value of a field of the type `bool`.
  public init?(field value: Value) {
    guard case .bool(let bool) = value else { return nil }
    self = bool
  }
}

extension String: FieldScalar {
  /// The value of a field of the type `string`.
  public init?(field value: Value) {
    guard case .string(let text) = value else { return nil }
    self = text
  }
}

extension Double: FieldScalar {
  /// The value of a field of the type `double` or `float`.
  public init?(field value: Value) {
    guard case .double(let number) = value else { return nil }
    self = number
  }
}

extension [UInt8]: FieldScalar {
  /// The value of a field of the type `bytes`.
  public init?(field value: Value) {
    guard case .bytes(let bytes) = value else { return nil }
    self = bytes
  }
}

extension FieldScalar where Self: FixedWidthInteger {
  /// The value of a field with an integer type or an enum.
  public init?(field value: Value) {
    switch value {
    case .int64(let number): self.init(exactly: number)
    case .uint64(let number): self.init(exactly: number)
    case .enum(let number): self.init(exactly: number)
    case .bool, .double, .string, .bytes: return nil
    }
  }
}

extension Int: FieldScalar {}
extension Int32: FieldScalar {}
extension Int64: FieldScalar {}
extension UInt32: FieldScalar {}
extension UInt64: FieldScalar {}
