/// Why serialized bytes are not a message of the expected type, or have no JSON form.
public struct DecodeError: Error, Equatable, Sendable {
  /// The cause of the error.
  public enum Reason: Equatable, Sendable {
    /// The input ends within a value.
    case truncated
    /// A varint has more than ten bytes.
    case varintTooLong
    /// A field number is 0 or above 2²⁹−1, or the tag does not fit in 32 bits.
    case invalidTag
    /// Wire type 6 or 7.
    case invalidWireType(UInt8)
    /// The end of a group that was not started, or of another group.
    case unexpectedEndGroup
    /// A group without an end.
    case missingEndGroup
    /// A packed field whose length is not a multiple of its elements' size.
    case invalidPackedLength
    /// A string field with bytes that are not UTF-8.
    case invalidUTF8
    /// Messages are nested deeper than 100 levels.
    case tooDeep
    /// The value is valid, but JSON has no form for it.
    case notRepresentable(String)
    /// The schema of a nested message is invalid.
    case schema(SchemaError)
  }

  /// The cause of the error.
  public var reason: Reason
  /// The offset in the input, from the start of the bytes passed in.
  public var byteOffset: Int
  /// The path of the field, empty at the top level: `user.addresses[2].city`.
  public var fieldPath: String

  package init(_ reason: Reason, at byteOffset: Int = 0, path: String = "") {
    self.reason = reason
    self.byteOffset = byteOffset
    fieldPath = path
  }

  /// The same error with `field` added to the front of its path.
  func inside(_ field: FieldNode) -> DecodeError {
    var error = self
    error.fieldPath = fieldPath.isEmpty ? field.pathName : field.pathName + "." + fieldPath
    return error
  }

  /// The same error, for bytes that are a copy of a part that starts at `offset`.
  func moved(by offset: Int) -> DecodeError {
    var error = self
    error.byteOffset += offset
    return error
  }
}

extension DecodeError: CustomStringConvertible {
  /// The error message.
  public var description: String {
    let place = fieldPath.isEmpty ? "byte \(byteOffset)" : "\(fieldPath) (byte \(byteOffset))"
    return "\(reason.text) at \(place)"
  }
}

extension DecodeError.Reason {
  var text: String {
    switch self {
    case .truncated: "the message is truncated"
    case .varintTooLong: "a varint has more than ten bytes"
    case .invalidTag: "invalid field number"
    case .invalidWireType(let type): "invalid wire type \(type)"
    case .unexpectedEndGroup: "end of a group that was not started"
    case .missingEndGroup: "a group without an end"
    case .invalidPackedLength: "a packed field whose length does not fit its elements"
    case .invalidUTF8: "a string that is not UTF-8"
    case .tooDeep: "messages nested deeper than \(nestingLimit) levels"
    case .notRepresentable(let what): what
    case .schema(let error): error.description
    }
  }
}

/// The maximum nesting of messages in binary, and of objects and arrays in JSON, as in the protobuf
/// libraries.
package let nestingLimit = 100
