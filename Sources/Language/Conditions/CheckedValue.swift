import RPCurlProtobuf

/// A value that a condition is about.
enum CheckedValue {
  /// The message has no such value.
  case missing
  case message(Message)
  case match(FieldPath.Match)
  /// The value of a header, or of the message of a status.
  case text(String)
  /// A value that is not one of the call; not `null`.
  case json(JSONValue)

  /// The values of a message at a path; one, unless the path has `[]`.
  static func values(_ path: FieldPath, in message: Message) throws(LanguageError) -> [CheckedValue] {
    guard !path.isWhole else { return [.message(message)] }
    do throws(FieldPathError) {
      return try path.matches(in: message).map { $0.map { .match($0) } ?? .missing }
    } catch {
      throw LanguageError(error.message, hint: error.hint)
    }
  }

  /// Whether the message has the value: a field without presence is set if it is not its default.
  var isSet: Bool {
    switch self {
    case .missing: false
    case .match(let match): match.isSet
    case .message, .text, .json: true
    }
  }

  /// What the path leads to in the content of an Any; nil for other values.
  var leaf: FieldPath.Leaf? { if case .match(let match) = self { match.leaf } else { nil } }

  /// The value as JSON; `null` if it is missing.
  func json(_ options: JSONEncodingOptions) throws(LanguageError) -> JSONValue {
    do {
      switch self {
      case .missing: return .null
      case .message(let message): return try JSONValue(parsing: message.json(options: options))
      case .match(let match): return try JSONValue(parsing: match.json(options))
      case .text(let text): return .string(text)
      case .json(let value): return value
      }
    } catch {
      throw LanguageError("the value has no JSON form: \(error)")
    }
  }

  /// The value as one that has an order; nil if it has none, or is missing.
  ///
  /// - Parameter isNumber: Whether text is read as a number.
  func comparable(isNumber: Bool = false) -> ComparableValue? {
    switch self {
    case .missing: nil
    case .message(let message): ComparableValue(message)
    case .match(let match): match.value.flatMap { ComparableValue($0) }
    case .text(let text), .json(.string(let text)): isNumber ? ComparableValue(number: text) : .text(text)
    case .json(let value): ComparableValue(value)
    }
  }

  /// The elements of a list; nil for other values.
  func elements() throws(LanguageError) -> [ComparableValue?]? {
    if case .match(let match) = self, let elements = match.elements {
      return elements.map { $0.value.flatMap { ComparableValue($0) } }
    }
    guard case .array(let elements) = try json(JSONEncodingOptions()) else { return nil }
    return elements.map { ComparableValue($0) }
  }
}
