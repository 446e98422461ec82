/// Why a text is not the text format of a message.
public struct TextError: Error, Equatable, Sendable {
  /// What is wrong.
  public enum Reason: Equatable, Sendable {
    /// The text ends within a message or a string.
    case unexpectedEnd
    /// Something else than what the grammar asks for here.
    case syntax(expected: String)
    /// A number that text format does not allow, such as `08` or `1x`.
    case invalidNumber
    /// The line ends within a string.
    case unterminatedString
    /// A backslash that no valid escape follows.
    case invalidEscape
    /// A half of a surrogate pair, which text format does not allow even if the other half follows.
    case loneSurrogate
    /// Bytes that are not UTF-8 where the schema asks for it.
    case invalidUTF8
    /// Nested deeper than 100 levels.
    case tooDeep
    /// A field that is neither repeated nor a map, twice.
    case duplicateField(String)
    /// Two fields of one oneof.
    case oneofConflict(oneof: String)
    /// A name that is no field of the message; the resembling names come with it.
    case unknownField(name: String, type: String, nearest: [String])
    /// A name in brackets that is no extension of the message.
    case unknownExtension(name: String, type: String)
    /// A field by its number, as unknown fields are written.
    case numberedField
    /// A name or number that is no value of the enum.
    case unknownEnumValue(value: String, type: String, nearest: [String])
    /// A value of another kind than the field has.
    case wrongType(expected: String)
    /// A number that does not fit the field.
    case outOfRange(type: String)
    /// A type URL in brackets within a message that is no Any.
    case notAnAny(String)
    /// An Any of a type that the schema does not define.
    case unknownAnyType(String)
    /// Required fields that are not set, by their paths.
    case missingRequired([String])
    /// The schema of the message cannot be used.
    case schema(SchemaError)
  }

  /// What is wrong.
  public var reason: Reason
  /// Where.
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

  /// The same error in a text of which the one that was read is a part.
  public func moved(to start: JSONPosition) -> TextError {
    var error = self
    error.position = position.moved(to: start)
    return error
  }
}

typealias TextFailure = ReadFailure<TextError.Reason>

extension TextError: CustomStringConvertible {
  /// The text that is shown to a person.
  public var description: String { describe(reason.text, at: position, of: fieldPath) }

  /// What to try, if there is something.
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
    case .unexpectedEnd: "the text ends too early"
    case .syntax(let expected): "expected \(expected)"
    case .invalidNumber: "not a number as text format has them"
    case .unterminatedString: "the line ends within a string"
    case .invalidEscape: "invalid escape"
    case .loneSurrogate: "half of a surrogate pair"
    case .invalidUTF8: "not UTF-8"
    case .tooDeep: "nested deeper than \(nestingLimit) levels"
    case .duplicateField(let name): "“\(name)” is there twice"
    case .oneofConflict(let oneof): "another field of the oneof “\(oneof)” is set too"
    case .unknownField(let name, let type, _): "\(type) has no field “\(name)”"
    case .unknownExtension(let name, let type): "\(type) has no extension [\(name)]"
    case .numberedField: "expected a field's name, not its number"
    case .unknownEnumValue(let value, let type, _): "\(type) has no value \(value)"
    case .wrongType(let expected): "expected \(expected)"
    case .outOfRange(let type): "not a number that fits \(type)"
    case .notAnAny(let type): "\(type) is no Any and cannot hold a message of any type"
    case .unknownAnyType(let name): "the schema does not define the type \(name)"
    case .missingRequired(let paths): missingText(paths)
    case .schema(let error): error.description
    }
  }
}
