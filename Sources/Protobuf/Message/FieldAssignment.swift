/// The field that receives a value given as text: a path, or `PATH[]`, the list to which the value is appended.
package struct FieldAssignment: Equatable, Sendable {
  /// The path of the field or of the list.
  package let path: FieldPath
  /// Whether the value is appended to a list.
  package let appends: Bool

  /// Parses a path, which may end with `[]`.
  ///
  /// - Throws: ``FieldPathError`` if the syntax is invalid.
  package init(_ text: some StringProtocol) throws(FieldPathError) {
    appends = text.hasSuffix("[]")
    path = try FieldPath(String(appends ? text.dropLast(2) : text[...]))
  }

  /// Makes the assignment to a path.
  package init(path: FieldPath, appends: Bool) {
    self.path = path
    self.appends = appends
  }

  /// Splits text at the first separator outside of quotes: the keys of maps in a path may contain it.
  ///
  /// - Returns: The parts before and after the separator; nil if it is absent.
  package static func split(
    _ text: String, at separator: Unicode.Scalar
  ) -> (path: Substring, rest: Substring)? {
    var isQuoted = false
    var isEscaped = false
    for index in text.utf8.indices {
      switch text.utf8[index] {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isQuoted: isEscaped = true
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: separator) where !isQuoted:
        return (text[..<index], text[text.utf8.index(after: index)...])
      default: break
      }
    }
    return nil
  }

  /// Sets the field to a value of JSON, or of plain text if the JSON of the field is a string.
  ///
  /// - Parameter options: How the JSON is read.
  /// - Throws: ``FieldPathError`` if the field cannot have the value; the message is then unchanged.
  package func assign(
    text: String, _ options: JSONDecodingOptions = JSONDecodingOptions(), to message: inout Message
  ) throws(FieldPathError) {
    let json = json(text, try message.type.field(at: path))
    if appends {
      try message.appendJSON(json, at: path, options: options)
    } else {
      try message.setJSON(json, at: path, options: options)
    }
  }

  /// Whether the field is a string, so that text is its value as it is.
  package func isText(in type: MessageType) -> Bool {
    guard let field = try? type.field(at: path), field.kind == .string else { return false }
    if case .subscripted? = path.steps.last { return true }
    return appends || !field.isRepeated
  }

  /// Sets the field to these bytes.
  ///
  /// - Throws: ``FieldPathError`` if the field cannot have the value; the message is then unchanged.
  package func assign(bytes: [UInt8], to message: inout Message) throws(FieldPathError) {
    if appends {
      try message.append(.bytes(bytes), at: path)
    } else {
      try message.set(.bytes(bytes), at: path)
    }
  }

  private func json(_ text: String, _ field: Field) -> [UInt8] {
    let isElement = if case .subscripted? = path.steps.last { true } else { appends }
    if field.isRepeated, !isElement { return Array(text.utf8) }
    let first = text.utf8.first { $0 > 0x20 }
    let quoted = Array(JSONValue.quoted(text).utf8)
    switch field.kind {
    case .string: return quoted
    case .bytes: return first == UInt8(ascii: "\"") || text == "null" ? Array(text.utf8) : quoted
    case .enumeration:
      let isNumber = first.map { $0 == UInt8(ascii: "-") || (48...57).contains($0) } ?? false
      return first == UInt8(ascii: "\"") || isNumber || text == "null" ? Array(text.utf8) : quoted
    case .message where Self.isString(field.messageType):
      return first == UInt8(ascii: "\"") || text == "null" ? Array(text.utf8) : quoted
    default: return Array(text.utf8)
    }
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

extension FieldAssignment: CustomStringConvertible {
  /// The text of the path.
  package var description: String { appends ? "\(path)[]" : "\(path)" }
}
