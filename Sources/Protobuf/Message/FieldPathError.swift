/// Why a path does not lead to a value.
public enum FieldPathError: Error, Equatable, Sendable {
  /// The text is not a path.
  case syntax(offset: Int, expected: String)
  /// The message has no such field; `nearest` are similar names.
  case unknownField(name: String, type: String, nearest: [String])
  /// The path continues after a value that is not a message.
  case notAMessage(field: String)
  /// Brackets after a field that is neither a list nor a map.
  case notIndexable(field: String)
  /// A type in brackets in a message that is not an Any.
  case notAnAny(type: String)
  /// Missing brackets: the field is a list or a map; `example` are brackets that fit.
  case needsSubscript(field: String, example: String = "[0]")
  /// The list has no element at this position, where a value is written.
  case indexOutOfRange(field: String, index: Int64, count: Int)
  /// The brackets contain a type other than the map's keys.
  case wrongKeyType(field: String, expected: String)
  /// The field cannot have the value.
  case wrongType(field: String, expected: String)
  /// The value of the field cannot be read as another type.
  case notReadable(field: String, type: String, as: String)
  /// The field cannot have the number: it is an integer that is too large, or negative.
  case outOfRange(field: String, expected: String)
  /// The bytes are not UTF-8, as the string has to be.
  case notUTF8(field: String)
  /// The field is not a list.
  case notAList(field: String)
  /// The schema of a message in the path is invalid.
  case schema(SchemaError)
  /// The value has no JSON form, or the content of an Any is not a message of its type.
  case encoding(DecodeError)
  /// The JSON is invalid for the field, or the type of an Any is unknown.
  case json(MessageParseError)
}

extension FieldPathError: CustomStringConvertible {
  /// The error message, with the suggestion.
  public var description: String {
    // The error of JSON has its own position and suggestion.
    if case .json(let error) = self { return error.description }
    return hint.map { "\(message); \($0)" } ?? message
  }

  /// The error message without a suggestion.
  package var message: String {
    switch self {
    case .syntax(let offset, let expected): "expected \(expected) at byte \(offset) of the path"
    case .unknownField(let name, let type, _): "\(type) has no field \(name)"
    case .notAMessage(let field): "\(field) is not a message"
    case .notIndexable(let field): "\(field) is neither a list nor a map"
    case .notAnAny(let type): "\(type) is not google.protobuf.Any, which has a type in brackets"
    case .needsSubscript(let field, _): "\(field) is a list or a map"
    case .indexOutOfRange(let field, let index, let count):
      "index \(index) is out of range: \(field) has \(count) elements"
    case .wrongKeyType(let field, let expected): "the keys of \(field) have the type \(expected)"
    case .wrongType(let field, let expected), .outOfRange(let field, let expected):
      "\(field) requires \(expected)"
    case .notReadable(let field, let type, let wanted):
      "the value of \(field) (\(type)) cannot be read as \(wanted)"
    case .notUTF8(let field): "not UTF-8, but \(field) is a string"
    case .notAList(let field): "\(field) is not a list"
    case .schema(let error): error.description
    case .encoding(let error): error.description
    case .json(let error): error.message
    }
  }

  /// A suggestion, if there is one.
  package var hint: String? {
    switch self {
    case .unknownField(_, _, let nearest) where !nearest.isEmpty:
      "did you mean \(nearest.joined(separator: ", "))?"
    case .unknownField(let name, "google.protobuf.Any", _): Self.hint(ofContent: name)
    case .needsSubscript(let field, let example):
      "\(field)\(example) is an element, and \(field)[] means all elements"
    case .wrongKeyType(let field, let expected): "write \(field)\(FieldPath.exampleKey(expected))"
    case .json(let error): error.hint
    default: nil
    }
  }

  /// How the content of an Any is written.
  ///
  /// - Parameter name: A field of the content; or in brackets the name of its type, perhaps in quotes.
  private static func hint(ofContent name: String) -> String {
    let bare = String(
      String.UnicodeScalarView(name.unicodeScalars.filter { !"[]\"".unicodeScalars.contains($0) }))
    guard name.hasPrefix("["), bare.contains(".") else {
      return "write the type of its content, as in [type.googleapis.com/pkg.Type].\(bare)"
    }
    let type = bare.contains("/") ? bare : "type.googleapis.com/\(bare)"
    return "the type of its content is written [\(type)]"
  }

  /// Whether the reason is the type of a message, and not its content.
  var isOfType: Bool {
    switch self {
    case .unknownField, .notAMessage, .notIndexable, .notAnAny, .needsSubscript, .wrongKeyType: true
    default: false
    }
  }
}
