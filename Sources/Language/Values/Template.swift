import RPCurlProtobuf

/// Text in which `${EXPRESSION}` is replaced by a value; `$${` is a literal `${`. rpcurl-language(7), VALUES.
package struct Template: Equatable, Sendable {
  /// A part of a template.
  package enum Part: Equatable, Sendable {
    case text(String)
    case value(Expression)
  }

  /// A part of a template whose values are inserted.
  package enum Piece: Equatable, Sendable {
    /// Text of the author of the template.
    case typed(String)
    /// A value, which may be from a server.
    case value(JSONValue)

    /// The text of the piece.
    package var text: String {
      switch self {
      case .typed(let text): text
      case .value(let value): value.plainText
      }
    }
  }

  /// The parts in order. Two texts do not follow each other, and no text is empty.
  package let parts: [Part]

  /// Makes a template of parts.
  init(parts: [Part]) { self.parts = parts }

  /// Parses a template.
  ///
  /// - Throws: ``LanguageError`` if `${` does not begin an expression.
  package init(parsing text: some StringProtocol) throws(LanguageError) {
    do throws(LanguageError) { try self.init(parsing: text, depth: 0) } catch { throw error.withHint }
  }

  /// Parses a template in an expression.
  ///
  /// - Parameter depth: How deep it is nested in others.
  init(parsing text: some StringProtocol, depth: Int) throws(LanguageError) {
    guard text.utf8.contains(UInt8(ascii: "$")) else {
      parts = text.isEmpty ? [] : [.text(String(text))]
      return
    }
    var parser = TemplateParser(Array(text.utf8), depth: depth)
    parts = try parser.template()
  }

  /// Makes a template without expressions.
  package init(literal text: String) { parts = text.isEmpty ? [] : [.text(text)] }

  /// Text that ``withShortForm()`` of its template gives back.
  package static func quoting(_ text: String) -> String {
    let escaped = escaped(text)
    let read = try? Template(parsing: escaped).withShortForm()
    return read?.literal == text ? escaped : "${\(Expression.literal(.string(text)))}"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("${", with: "$${")
  }

  /// The expressions in order.
  package var expressions: [Expression] {
    parts.compactMap { if case .value(let expression) = $0 { expression } else { nil } }
  }

  /// The text of a template without expressions; nil with expressions.
  package var literal: String? {
    switch parts.count {
    case 0: return ""
    case 1: if case .text(let text) = parts[0] { return text }
    default: break
    }
    return nil
  }

  /// The expression of a template that consists of it alone.
  package var onlyExpression: Expression? {
    guard parts.count == 1, case .value(let expression) = parts[0] else { return nil }
    return expression
  }

  /// The template with the short form of a reference: text that is `$name.path` and nothing else.
  ///
  /// - Throws: ``LanguageError`` if the path is invalid.
  package func withShortForm() throws(LanguageError) -> Template {
    guard let bytes = literal.map({ Array($0.utf8) }), bytes.first == UInt8(ascii: "$"),
      !bytes.starts(with: "${".utf8),
      let (expression, end) = try Expression.parse(in: bytes, at: 0, hasShortForm: true), end == bytes.count
    else { return self }
    return Template(parts: [.value(expression)])
  }

  /// The templates before and after the first separator in text; nil if no text contains it.
  package func split(at separator: Unicode.Scalar) -> (before: Template, after: Template)? {
    for (index, part) in parts.enumerated() {
      guard case .text(let text) = part, let place = text.unicodeScalars.firstIndex(of: separator) else {
        continue
      }
      let before = Template(literal: String(text[..<place])).parts
      let after = Template(literal: String(text.unicodeScalars[place...].dropFirst())).parts
      return (Template(parts: parts[..<index] + before), Template(parts: after + parts[(index + 1)...]))
    }
    return nil
  }

  /// Inserts values.
  ///
  /// - Parameters:
  ///   - values: Where values are from.
  ///   - limitBytes: The longest result.
  /// - Throws: ``LanguageError`` if there is no such value, or if the result is too long.
  package func pieces(
    _ values: any TemplateValues, limitBytes: Int = Self.limitBytes
  ) throws(LanguageError) -> [Piece] {
    var pieces: [Piece] = []
    var size = 0
    for part in parts {
      let piece: Piece
      switch part {
      case .text(let text): piece = .typed(text)
      case .value(let expression):
        let value = try values.value(of: expression)
        guard value != .null else {
          throw LanguageError(
            "${\(expression)} has no value", hint: "as JSON, outside of strings, it is null")
        }
        piece = .value(value)
      }
      size += piece.text.utf8.count
      guard size <= limitBytes else { throw Self.tooLong(limitBytes) }
      pieces.append(piece)
    }
    return pieces
  }

  /// The first expression of text that is not a template, as it is written; nil if there is none.
  package static func reference(in text: String) -> String? {
    guard text.utf8.contains(UInt8(ascii: "$")), let template = try? Template(parsing: text) else {
      return nil
    }
    return template.expressions.first.map { "${\($0)}" }
  }

  /// Inserts the texts of values.
  ///
  /// - Parameters:
  ///   - values: Where values are from.
  ///   - limitBytes: The longest result.
  /// - Throws: ``LanguageError`` if there is no such value, or if the result is too long.
  package func text(
    _ values: any TemplateValues, limitBytes: Int = Self.limitBytes
  ) throws(LanguageError) -> String {
    if let literal { return literal }
    return try pieces(values, limitBytes: limitBytes).reduce(into: "") { $0 += $1.text }
  }

  /// The longest text with values, in bytes.
  package static let limitBytes = 64 << 20

  /// The error for a text that is too long.
  package static func tooLong(_ limit: Int) -> LanguageError {
    LanguageError("the text with its values is longer than \(limit) bytes")
  }
}

extension Template: CustomStringConvertible {
  /// The text of the template; parsing it gives the same template.
  package var description: String {
    parts.reduce(into: "") { text, part in
      switch part {
      case .text(let literal): text += Self.escaped(literal)
      case .value(let expression): text += "${\(expression)}"
      }
    }
  }
}

/// Where the values of templates are from.
package protocol TemplateValues {
  /// The value of a reference.
  ///
  /// - Throws: ``LanguageError`` if there is no such value.
  func value(of reference: Reference) throws(LanguageError) -> JSONValue
  /// The result of a function. The number of arguments is right.
  ///
  /// - Throws: ``LanguageError`` if it has no result for these arguments.
  func value(of function: Function, _ arguments: [JSONValue]) throws(LanguageError) -> JSONValue
  /// Whether references that begin with this name, of a variable or a reserved one, can have values.
  func hasValues(of name: String) -> Bool
}

extension TemplateValues {
  /// Checks that the references of an expression have values. Does not call functions.
  ///
  /// - Throws: ``LanguageError`` if there is no such value.
  package func check(_ expression: Expression) throws(LanguageError) {
    if case .reference(let reference) = expression { _ = try value(of: reference) }
    for part in expression.parts { try check(part) }
  }

  /// Checks that a text in quotes is not the short form of a reference to a value that exists.
  ///
  /// - Throws: ``LanguageError`` if it is.
  package func checkText(_ reference: Reference) throws(LanguageError) {
    if hasValues(of: reference.name) { throw reference.isText }
  }

  /// The reference that an expression is, with the values of its keys.
  ///
  /// - Throws: ``LanguageError`` if it is no reference, or if a value is no key.
  package func reference(_ expression: Expression) throws(LanguageError) -> Reference {
    switch expression {
    case .reference(let reference): return reference
    case .element(let base, let key, let path):
      let value = try value(of: key)
      guard let step = FieldPath.Subscript(value) else {
        throw LanguageError(
          value == .null ? "${\(key)} has no value" : "${\(key)} is no key: \(value.text.cut(toBytes: 200))",
          hint: "a key is text, a whole number, true or false")
      }
      guard let reference = try reference(base).appending([.subscripted(step)] + (path?.steps ?? [])) else {
        throw LanguageError("\(base) has no elements")
      }
      return reference
    case .literal, .json, .call: throw LanguageError("\(expression) is not the name of a value")
    }
  }

  /// The value of an expression.
  ///
  /// - Throws: ``LanguageError`` if there is no such value.
  package func value(of expression: Expression) throws(LanguageError) -> JSONValue {
    switch expression {
    case .literal(let value): return value
    case .json(let template):
      let json = try template.json(self)
      do throws(MessageParseError) {
        return try JSONValue(parsing: json)
      } catch {
        throw LanguageError("\(template) is not JSON: \(error.message)", hint: error.hint)
      }
    case .reference(let reference): return try value(of: reference)
    case .element: return try value(of: try reference(expression))
    case .call(let function, let arguments):
      var values: [JSONValue] = []
      for argument in arguments { values.append(try value(of: argument)) }
      return try value(of: function, values)
    }
  }
}

extension JSONValue {
  /// The value within text: a string without its quotes, otherwise JSON.
  package var plainText: String {
    if case .string(let content) = self { return content }
    return text
  }
}
