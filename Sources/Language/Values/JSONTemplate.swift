import RPCurlProtobuf

/// JSON in which `${EXPRESSION}` is replaced by values: within a string by text, outside of strings by JSON.
/// rpcurl-language(7), VALUES.
package struct JSONTemplate: Equatable, Sendable {
  /// A part of a template.
  private enum Part: Equatable, Sendable {
    /// JSON as it is written.
    case json(ArraySlice<UInt8>)
    /// A string with expressions.
    case string(Template)
    /// A string that is exactly the short form of a reference.
    case short(Reference)
    case value(Expression)
  }

  private let parts: [Part]

  /// Parses a template. Errors of the JSON itself are found when it is read with its values.
  ///
  /// - Parameters:
  ///   - json: The text.
  ///   - hasShortForm: Whether `$name.path` outside of strings is a reference, as in sessions.
  ///   - depth: How deep it is nested in expressions.
  /// - Throws: ``LanguageError`` if `${` does not begin an expression.
  package init(parsing json: [UInt8], hasShortForm: Bool = false, depth: Int = 0) throws(LanguageError) {
    guard json.contains(UInt8(ascii: "$")) else {
      parts = [.json(json[...])]
      return
    }
    (parts, _) = try Self.parse(json, hasShortForm: hasShortForm, depth: depth)
  }

  /// Parses the list or the object in an expression.
  ///
  /// - Parameters:
  ///   - text: The text of the expression.
  ///   - index: The start of the list or the object; afterwards its end.
  ///   - depth: How deep it is nested in others.
  /// - Returns: nil if it has no end.
  init?(in text: [UInt8], at index: inout Int, depth: Int) throws(LanguageError) {
    let end: Int?
    (parts, end) = try Self.parse(text, at: index, isValue: true, depth: depth)
    guard let end else { return nil }
    index = end
  }

  /// - Parameter isValue: Whether to end after a list or an object.
  /// - Returns: The parts, and the end of the list or the object; nil if it has none.
  private static func parse(
    _ json: [UInt8], at first: Int = 0, isValue: Bool = false, hasShortForm: Bool = false, depth: Int = 0
  ) throws(LanguageError) -> ([Part], Int?) {
    var parts: [Part] = []
    var start = first
    var index = first
    var brackets = 0
    func endJSON(_ end: Int) { if end > start { parts.append(.json(json[start..<end])) } }
    while index < json.count {
      switch json[index] {
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        brackets += 1
        index += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        brackets -= 1
        index += 1
        guard brackets == 0, isValue else { continue }
        endJSON(index)
        return (parts, index)
      case UInt8(ascii: "\""):
        let end = endOfString(json, index)
        if let part = try string(json[index..<end], depth) {
          endJSON(index)
          parts.append(part)
          start = end
        }
        index = end
      case UInt8(ascii: "$"):
        guard
          let (expression, end) = try Expression.parse(
            in: json, at: index, hasShortForm: hasShortForm, depth: depth)
        else {
          index += 1
          continue
        }
        endJSON(index)
        parts.append(.value(expression))
        (start, index) = (end, end)
      default: index += 1
      }
    }
    endJSON(json.count)
    return (parts, nil)
  }

  /// Whether it has no expressions.
  package var isLiteral: Bool {
    parts.allSatisfy { if case .json = $0 { true } else { false } }
  }

  /// Whether it has expressions, or strings that are the short form of a reference in quotes.
  package var hasValues: Bool {
    !expressions.isEmpty || parts.contains { if case .short = $0 { true } else { false } }
  }

  /// The expressions in order.
  package var expressions: [Expression] {
    parts.flatMap { part -> [Expression] in
      switch part {
      case .json, .short: []
      case .string(let template): template.expressions
      case .value(let expression): [expression]
      }
    }
  }

  /// The first expression of the value that begins at an index of JSON that is not a template; nil if it has none.
  package static func expression(ofValueAt index: Int, in json: [UInt8]) -> Expression? {
    switch json[index] {
    case UInt8(ascii: "\""):
      let content = json[index..<endOfString(json, index)]
      guard case .string(let template)? = try? string(content, 0) else { return nil }
      return template.expressions.first
    case UInt8(ascii: "$"):
      guard let found = try? Expression.parse(in: json, at: index, hasShortForm: false) else { return nil }
      return found.0
    default: return nil
    }
  }

  /// Inserts values.
  ///
  /// - Parameters:
  ///   - values: Where values are from.
  ///   - limitBytes: The longest result.
  /// - Throws: ``LanguageError`` if there is no such value, if the result is too long, or if a string is the short form of a
  ///   reference to a value that exists.
  package func json(
    _ values: any TemplateValues, limitBytes: Int = Template.limitBytes
  ) throws(LanguageError) -> [UInt8] {
    var out: [UInt8] = []
    for part in parts {
      switch part {
      case .json(let bytes): out += bytes
      case .string(let template):
        out += JSONValue.quoted(try template.text(values, limitBytes: limitBytes)).utf8
      case .short(let reference):
        try values.checkText(reference)
        out += JSONValue.quoted("$\(reference)").utf8
      case .value(let expression): out += try values.value(of: expression).text.utf8
      }
      guard out.count <= limitBytes else { throw Template.tooLong(limitBytes) }
    }
    return out
  }

  // MARK: Parsing

  /// The part of a string; nil if the string has no expression.
  private static func string(
    _ json: ArraySlice<UInt8>, _ depth: Int
  ) throws(LanguageError) -> Part? {
    guard json.contains(UInt8(ascii: "$")), case .string(let content)? = try? JSONValue(parsing: Array(json))
    else { return nil }
    let template = try Template(parsing: content, depth: depth)
    guard let literal = template.literal else { return .string(template) }
    if case .reference(let reference)? = (try? template.withShortForm())?.onlyExpression {
      return .short(reference)
    }
    return literal == content ? nil : .string(template)
  }

  /// The end of the string that begins at `start`.
  private static func endOfString(_ json: [UInt8], _ start: Int) -> Int {
    var index = start + 1
    while index < json.count {
      switch json[index] {
      case UInt8(ascii: "\\"): index += 2
      case UInt8(ascii: "\""): return index + 1
      default: index += 1
      }
    }
    return json.count
  }
}

extension JSONTemplate: CustomStringConvertible {
  /// The text of the template; parsing it gives the same template.
  package var description: String {
    parts.reduce(into: "") { text, part in
      switch part {
      case .json(let bytes): text += String(decoding: bytes, as: UTF8.self)
      case .string(let template): text += JSONValue.quoted("\(template)")
      case .short(let reference): text += JSONValue.quoted("$\(reference)")
      case .value(let expression): text += "${\(expression)}"
      }
    }
  }
}
