/// Why a text is not the text format of a message.
public struct TextError: Error, Equatable, Sendable {
  /// The cause of the error.
  public enum Reason: Equatable, Sendable {
    /// The text ends within a message or a string.
    case unexpectedEnd
    /// A token other than the grammar expects here.
    case syntax(expected: String)
    /// A number that text format does not allow, such as `08` or `1x`.
    case invalidNumber
    /// The line ends within a string.
    case unterminatedString
    /// An invalid escape after a backslash.
    case invalidEscape
    /// Half of a surrogate pair, which text format does not allow even before the other half.
    case loneSurrogate
    /// Bytes that are not UTF-8 where the schema requires it.
    case invalidUTF8
    /// Nested deeper than 100 levels.
    case tooDeep
    /// A duplicate of a field that is neither repeated nor a map.
    case duplicateField(String)
    /// Two fields of one oneof.
    case oneofConflict(oneof: String)
    /// A name that is not a field of the message; `nearest` are similar names.
    case unknownField(name: String, type: String, nearest: [String])
    /// A name in brackets that is not an extension of the message.
    case unknownExtension(name: String, type: String)
    /// A field number, as unknown fields are written.
    case numberedField
    /// A name or number that is not a value of the enum; `nearest` are similar names.
    case unknownEnumValue(value: String, type: String, nearest: [String])
    /// A value of a type other than the field's.
    case wrongType(expected: String)
    /// A number out of the field's range.
    case outOfRange(type: String)
    /// A type URL in brackets within a message that is not an Any.
    case notAnAny(String)
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

  init(_ failure: TextFailure, in text: UnsafeRawBufferPointer) {
    reason = failure.reason
    position = failure.position(in: text)
    fieldPath = failure.fieldPath
  }

  /// The same error in a text that contains the parsed text as a part.
  public func moved(to start: JSONPosition) -> TextError {
    var error = self
    error.position = position.moved(to: start)
    return error
  }
}

typealias TextFailure = ReadFailure<TextError.Reason>

extension TextError: CustomStringConvertible {
  /// The error message.
  public var description: String { describe(reason.text, at: position, of: fieldPath) }

  /// A suggestion, if there is one.
  public var hint: String? {
    switch reason {
    case .unknownField(_, _, let nearest) where !nearest.isEmpty,
      .unknownEnumValue(_, _, let nearest) where !nearest.isEmpty:
      "did you mean \(nearest.joined(separator: ", "))?"
    case .numberedField: "unknown fields are printed by number; --allow-unknown-fields skips them"
    default: nil
    }
  }
}

extension TextError.Reason {
  var text: String {
    switch self {
    case .unexpectedEnd: "unexpected end of the text"
    case .syntax(let expected): "expected \(expected)"
    case .invalidNumber: "not a valid text format number"
    case .unterminatedString: "the line ends within a string"
    case .invalidEscape: "invalid escape"
    case .loneSurrogate: "half of a surrogate pair"
    case .invalidUTF8: "not UTF-8"
    case .tooDeep: "nested deeper than \(nestingLimit) levels"
    case .duplicateField(let name): "duplicate field \"\(name)\""
    case .oneofConflict(let oneof): "another field of the oneof \"\(oneof)\" is set too"
    case .unknownField(let name, let type, _): "\(type) has no field \"\(name)\""
    case .unknownExtension(let name, let type): "\(type) has no extension [\(name)]"
    case .numberedField: "expected a field name, not a number"
    case .unknownEnumValue(let value, let type, _): "\(type) has no value \(value)"
    case .wrongType(let expected): "expected \(expected)"
    case .outOfRange(let type): "number out of range for \(type)"
    case .notAnAny(let type): "\(type) is not an Any and cannot contain a message of any type"
    case .unknownAnyType(let name): "the schema does not define the type \(name)"
    case .missingRequired(let paths): missingText(paths)
    case .schema(let error): error.description
    }
  }
}
