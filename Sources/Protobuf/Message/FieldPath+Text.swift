extension Message {
  /// Sets the value at a path to a value of JSON, or of plain text if the JSON of the field is a string.
  ///
  /// - Parameters:
  ///   - text: The JSON or the text.
  ///   - path: The path.
  ///   - options: How the JSON is read.
  /// - Throws: ``FieldPathError`` if the field cannot have the value; the message is then unchanged.
  package mutating func setText(
    _ text: String, at path: FieldPath, options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(FieldPathError) {
    try setJSON(Self.json(text, path.leaf(in: type)), at: path, options: options)
  }

  private static func json(_ text: String, _ leaf: FieldPath.Leaf) -> [UInt8] {
    let first = text.utf8.first { $0 > 0x20 }
    let isQuoted = first == UInt8(ascii: "\"") || text == "null"
    let isText: Bool
    switch leaf {
    case .field(let field, _, let isElement):
      if field.isRepeated, !isElement { return Array(text.utf8) }
      switch field.kind {
      case .string: isText = true
      case .bytes: isText = !isQuoted
      case .enumeration:
        let isNumber = first.map { $0 == UInt8(ascii: "-") || (48...57).contains($0) } ?? false
        isText = !isQuoted && !isNumber
      default: isText = !isQuoted && isString(field.messageType)
      }
    case .message(let type): isText = !isQuoted && isString(type)
    case .dynamic: isText = false
    }
    return Array((isText ? JSONValue.quoted(text) : text).utf8)
  }

  /// Whether the JSON of a message type is a string.
  private static func isString(_ type: MessageType?) -> Bool {
    guard let type, let kind = try? type.wellKnown() else { return false }
    switch kind {
    case .timestamp, .duration, .fieldMask: return true
    case .wrapper: return (try? type.fields())?.contains { $0.kind == .string || $0.kind == .bytes } == true
    case .any, .structure, .value, .listValue: return false
    }
  }
}
