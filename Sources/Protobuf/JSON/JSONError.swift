/// Why a text is not the JSON form of a message.
public struct JSONError: Error, Equatable, Sendable {
  /// The cause of the error.
  public enum Reason: Equatable, Sendable {
    /// The text ends within a value, or is empty.
    case unexpectedEnd
    /// A token other than the grammar expects here.
    case syntax(expected: String)
    /// A number that JSON does not allow, such as `01` or `1.`.
    case invalidNumber
    /// A control character in a string.
    case controlCharacter
    /// An invalid escape after a backslash.
    case invalidEscape
    /// Half of a surrogate pair.
    case loneSurrogate
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// More text after the value.
    case trailingData
    /// Nested deeper than 100 levels.
    case tooDeep
    /// A value that is longer than the reader's limit.
    case tooLong(limitBytes: Int)
    /// A duplicate key, possibly under different names of one field.
    case duplicateKey(String)
    /// A key that is not a field of the message; `nearest` are similar names.
    case unknownField(name: String, type: String, nearest: [String])
    /// A name or number that is not a value of the enum; `nearest` are similar names.
    case unknownEnumValue(value: String, type: String, nearest: [String])
    /// A value of a type other than the field's.
    case wrongType(expected: String)
    /// A number that is out of the field's range, or not a whole number.
    case outOfRange(type: String)
    /// A bytes field that is not base64.
    case invalidBase64
    /// A null in a list or a map, where it is not allowed.
    case nullElement
    /// Two fields of one oneof.
    case oneofConflict(oneof: String)
    /// Not an RFC 3339 time between the years 1 and 9999.
    case invalidTimestamp
    /// Not a number of seconds such as `1.5s`, or more than 10,000 years.
    case invalidDuration
    /// Not a list of paths in lower camel case.
    case invalidFieldMask
    /// An Any without `@type`.
    case missingAnyType
    /// An Any of a type that the schema does not define.
    case unknownAnyType(String)
    /// Required fields that are not set, as paths.
    case missingRequired([String])
    /// The schema of the message is invalid.
    case schema(SchemaError)
  }

  /// The cause of the error.
  public var reason: Reason
  /// The position of the error.
  public var position: JSONPosition
  /// The path of the field, empty at the top level: `user.addresses[2].city`.
  public var fieldPath: String

  /// The line, counted from 1.
  public var line: Int { position.line }
  /// The column in characters, counted from 1.
  public var column: Int { position.column }
  /// The byte, counted from 0.
  public var byteOffset: Int { position.byteOffset }

  init(_ failure: JSONFailure, in text: UnsafeRawBufferPointer) {
    reason = failure.reason
    position = failure.position(in: text)
    fieldPath = failure.fieldPath
  }

  /// The same error in a text that contains the parsed text as a part.
  public func moved(to start: JSONPosition) -> JSONError {
    var error = self
    error.position = position.moved(to: start)
    return error
  }
}

typealias JSONFailure = ReadFailure<JSONError.Reason>

/// A position in a text.
public struct JSONPosition: Equatable, Sendable {
  /// The line, counted from 1.
  public var line = 1
  /// The column in characters, counted from 1.
  public var column = 1
  /// The byte, counted from 0.
  public var byteOffset = 0

  /// The start of a text.
  public init() {}
}

extension JSONError: CustomStringConvertible {
  /// The error message.
  public var description: String { describe(reason.text, at: position, of: fieldPath) }

  /// A suggestion, if there is one.
  public var hint: String? {
    switch reason {
    case .unknownField(_, _, let nearest) where !nearest.isEmpty,
      .unknownEnumValue(_, _, let nearest) where !nearest.isEmpty:
      "did you mean \(nearest.joined(separator: ", "))?"
    default: nil
    }
  }
}

extension JSONError.Reason {
  var text: String {
    switch self {
    case .unexpectedEnd: "unexpected end of the JSON"
    case .syntax(let expected): "expected \(expected)"
    case .invalidNumber: "not a valid JSON number"
    case .controlCharacter: "control character in a string; use an escape"
    case .invalidEscape: "invalid escape"
    case .loneSurrogate: "half of a surrogate pair"
    case .invalidUTF8: "not UTF-8"
    case .trailingData: "unexpected text after the value"
    case .tooDeep: "nested deeper than \(nestingLimit) levels"
    case .tooLong(let limit): "a value longer than \(limit) bytes"
    case .duplicateKey(let key): "duplicate key \"\(key)\""
    case .unknownField(let name, let type, _): "\(type) has no field \"\(name)\""
    case .unknownEnumValue(let value, let type, _): "\(type) has no value \(value)"
    case .wrongType(let expected): "expected \(expected)"
    case .outOfRange(let type): "number out of range for \(type)"
    case .invalidBase64: "not base64"
    case .nullElement: "null is not allowed in a list or a map"
    case .oneofConflict(let oneof): "another field of the oneof \"\(oneof)\" is set too"
    case .invalidTimestamp: "not a timestamp such as 2024-05-01T12:00:00Z"
    case .invalidDuration: "not a duration such as 1.5s"
    case .invalidFieldMask: "not a field mask such as user.displayName,photo"
    case .missingAnyType: "an Any requires \"@type\""
    case .unknownAnyType(let name): "the schema does not define the type \(name)"
    case .missingRequired(let paths): missingText(paths)
    case .schema(let error): error.description
    }
  }
}
