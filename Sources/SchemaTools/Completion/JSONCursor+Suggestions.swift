import RPCurlBase
import RPCurlProtobuf

extension JSONCursor {
  /// A suggestion that replaces the typed prefix.
  package struct Suggestion: Sendable, Equatable {
    /// Its label in a list.
    package let label: String
    /// The text with its quotation marks, and the characters that must follow it.
    package let text: String
    /// A short description.
    package let note: String
  }

  /// A limit above any useful number of values.
  private static let mostNames = 10_000

  /// The possible inputs here, according to the schema: names of fields and enum values as declared.
  ///
  /// - Parameter typeNames: The message types for an Any.
  package func suggestions(typeNames: @autoclosure () -> [String]) -> [Suggestion] {
    switch place {
    case .other: return []
    case .typeKey: return named(["@type"], text: { _ in "\"@type\": \"type.googleapis.com/" })
    case .name(_, let fields):
      let exact = fields.compactMap(suggestion)
      return exact.isEmpty ? matching(fields.filter { isPlain($0.jsonName) }, \.jsonName).map(named) : exact
    case .value(.typeURL):
      let name = AnyOutline.typeName(prefix)
      let all = NameMatch.ownFirst(typeNames().filter(isPlain))
      let found = NameMatch.indices(of: name, in: all).prefix(Self.mostNames).map { all[$0] }
      let host = prefix.dropLast(name.count)
      return found.map {
        let url = "\(host.isEmpty ? "type.googleapis.com/" : host)\($0)"
        return Suggestion(label: $0, text: "\"\(url)\"", note: "")
      }
    case .value(.mapKey(let field)):
      return field.kind == .bool ? named(["true", "false"], text: { "\"\($0)\": " }) : []
    case .value(.anything): return []
    case .value(.message(let type)): return values(type) + null(.message(type))
    case .value(.field(let field)):
      if field.isRepeated { return opening(field.isMap ? "{" : "[", field) }
      return values(field) + null(.field(field))
    case .value(.element(let field)): return values(field)
    }
  }

  private func suggestion(_ field: Field) -> Suggestion? {
    let name = [field.jsonName, field.name].first { $0.hasPrefix(prefix) && isPlain($0) }
    return name.map { named(field, $0) }
  }

  private func named(_ field: Field) -> Suggestion { named(field, field.jsonName) }

  private func named(_ field: Field, _ name: String) -> Suggestion {
    Suggestion(label: name, text: "\"\(name)\": ", note: FieldSummary.type(of: field))
  }

  /// The elements whose names match what is typed.
  private func matching<Element>(_ all: [Element], _ name: (Element) -> String) -> [Element] {
    NameMatch.indices(of: prefix, in: all.map(name)).map { all[$0] }
  }

  private func values(_ field: Field) -> [Suggestion] {
    if let type = field.enumType {
      if type.name == "google.protobuf.NullValue" { return named(["null"], text: { $0 }) }
      let all = type.values.prefix(Self.mostNames).filter { isPlain($0.name) }
      return matching(all, \.name).map {
        let note = $0.isDeprecated ? "\($0.number), deprecated" : "\($0.number)"
        return Suggestion(label: $0.name, text: "\"\($0.name)\"", note: note)
      }
    }
    if let type = field.messageType { return values(type) }
    switch field.kind {
    case .bool: return isQuoted ? [] : named(["true", "false"], text: { $0 })
    case .string, .bytes: return opening("\"", field)
    default: return []
    }
  }

  private func values(_ type: MessageType) -> [Suggestion] {
    guard prefix.isEmpty, !isQuoted else {
      return type.isJSONBool && !isQuoted ? named(["true", "false"], text: { $0 }) : []
    }
    switch (try? type.wellKnown()) ?? nil {
    case nil, .any?, .structure?: return opening("{", nil)
    case .listValue?: return opening("[", nil)
    case .timestamp?, .duration?, .fieldMask?: return opening("\"", nil)
    case .value?: return []
    case .wrapper?:
      let field = try? type.fields().first
      return field.map(values) ?? []
    }
  }

  private func null(_ slot: Slot) -> [Suggestion] {
    guard !isQuoted, !prefix.isEmpty else { return [] }
    if case .message = slot { return [] }
    return named(["null"], text: { $0 })
  }

  private func opening(_ bracket: String, _ field: Field?) -> [Suggestion] {
    guard prefix.isEmpty, !isQuoted else { return [] }
    return [Suggestion(label: bracket, text: bracket, note: field.map(FieldSummary.type) ?? "")]
  }

  private func named(_ names: [String], text: (String) -> String) -> [Suggestion] {
    names.filter { $0.hasPrefix(prefix) }.map { Suggestion(label: $0, text: text($0), note: "") }
  }

  /// Whether a name from a schema is an identifier; others, which may be malicious, are not suggested.
  private func isPlain(_ name: String) -> Bool {
    !name.isEmpty
      && name.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F && $0 != "\"" && $0 != "\\" }
  }

  /// A description of the expected input: `status: enum Status (ACTIVE, …)`.
  package var expectation: String? {
    switch place {
    case .other: return nil
    case .typeKey: return "@type: the type of the message"
    case .name(_, let fields):
      let fits = fields.filter { $0.jsonName.hasPrefix(prefix) || $0.name.hasPrefix(prefix) }
      let exact = fits.first { $0.jsonName == prefix || $0.name == prefix }
      if let field = exact ?? (fits.count == 1 ? fits.first : nil) { return FieldSummary.text(of: field) }
      return fits.isEmpty ? nil : FieldSummary.list(fits.lazy.map(\.jsonName))
    case .value(.anything): return nil
    case .value(.message(let type)): return FieldSummary.shortName(type.name)
    case .value(.field(let field)): return FieldSummary.text(of: field)
    case .value(.element(let field)):
      return FieldSummary.type(of: field, isElement: true)
    case .value(.mapKey(let field)): return "key: \(field.kind.protoName)"
    case .value(.typeURL): return "@type: type.googleapis.com/pkg.Message"
    }
  }
}

extension MessageType {
  fileprivate var isJSONBool: Bool {
    guard case .wrapper? = (try? wellKnown()) ?? nil else { return false }
    return (try? fields().first?.kind) == .bool
  }
}

/// A short description of a field.
enum FieldSummary {
  /// The maximum number of names in a list.
  private static let fewNames = 4

  /// `tags: repeated string`
  static func text(of field: Field) -> String { "\(field.jsonName): \(type(of: field))" }

  static func type(of field: Field) -> String { type(of: field, isElement: false) }

  /// `repeated string`, `map<string, Point>`, `enum Status (ACTIVE, …)`
  static func type(of field: Field, isElement: Bool) -> String {
    if let key = field.mapKey, let value = field.mapValue {
      return "map<\(name(of: key)), \(name(of: value))>"
    }
    let isList = field.isRepeated && !isElement
    var text = (isList ? "repeated " : field.isRequired ? "required " : "") + name(of: field)
    if let values = field.enumType?.values, !values.isEmpty { text += " (\(list(values.lazy.map(\.name))))" }
    if let form = form(of: field) { text += " (\(form))" }
    return text
  }

  private static func name(of field: Field) -> String {
    if let type = field.enumType { return "enum \(shortName(type.name))" }
    return field.messageType.map { shortName($0.name) } ?? field.kind.protoName
  }

  /// The JSON form of a type that has no form of its own in JSON.
  private static func form(of field: Field) -> String? {
    guard let type = field.messageType else { return field.kind == .bytes ? "base64" : nil }
    switch (try? type.wellKnown()) ?? nil {
    case .timestamp: return "2026-01-31T12:00:00Z"
    case .duration: return "1.5s"
    case .fieldMask: return "name,address.city"
    default: return nil
    }
  }

  static func shortName(_ name: String) -> String {
    name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
  }

  /// The first of `names`: `ACTIVE, PAUSED, …`
  static func list(_ names: some Collection<String>) -> String {
    names.prefix(fewNames).joined(separator: ", ") + (names.count > fewNames ? ", …" : "")
  }
}
