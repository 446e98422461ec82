/// A value of a field, as text with expressions. Within strings of JSON, values are escaped.
package struct FieldTemplate: Equatable, Sendable {
  /// The text as a template; nil if it is one only as JSON.
  private let text: Template?
  /// The text as a template of JSON; nil if it is not a string, a list or an object.
  private let json: JSONTemplate?

  /// Parses a value.
  ///
  /// - Throws: ``LanguageError`` if `${` does not begin an expression.
  package init(parsing text: String) throws(LanguageError) {
    let first = text.utf8.first { $0 > 0x20 }
    json =
      first.map { "\"[{".utf8.contains($0) } ?? false ? try? JSONTemplate(parsing: Array(text.utf8)) : nil
    guard json == nil else {
      self.text = try? Template(parsing: text)
      return
    }
    self.text = try Template(parsing: text)
  }

  /// The expressions in order.
  package var expressions: [Expression] { json?.expressions ?? text?.expressions ?? [] }

  /// Inserts values.
  ///
  /// - Parameters:
  ///   - values: Where values are from.
  ///   - isText: Whether the field is a string, so that the text is not JSON.
  /// - Throws: ``LanguageError`` if there is no such value.
  package func text(_ values: any TemplateValues, isText: Bool) throws(LanguageError) -> String {
    if let text, isText || json == nil { return try text.text(values) }
    guard let json else { return "" }
    return String(decoding: try json.json(values), as: UTF8.self)
  }
}
