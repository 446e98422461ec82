import RPCurlProtobuf

/// A message with every field, to be filled in; it is valid input without changes.
///
/// The first member of a oneof has a value, and the others are `null`, which means absent. A recursive
/// message is `null`, an empty list or an empty map.
package struct MessageTemplate {
  /// The description of a field.
  package struct Note: Sendable, Equatable {
    /// The path of its JSON names: `user.addresses[].city`.
    package let path: String
    /// Its type and further information: `enum Color: RED, GREEN`.
    package let text: String
  }

  /// The maximum number of fields; further ones are cut like a recursion.
  private static let limit = 10_000
  /// The maximum number where omitting a field would be invalid: such a message is too large to fill in.
  private static let requiredLimit = 100_000
  /// The maximum number of enum values or oneof members in a note: each of thousands of members has a note.
  private static let listLimit = 40
  /// The maximum depth: less than the nesting limit of JSON.
  private static let depthLimit = 40

  /// The JSON text, indented, with a final line feed.
  package private(set) var json = ""
  /// The notes on the fields, in order.
  package private(set) var notes: [Note] = []

  private var count = 0

  /// Makes the template of a type.
  ///
  /// - Throws: ``SchemaError`` if its schema is invalid.
  package init(_ type: MessageType) throws(SchemaError) {
    let value = try message(type, path: "", around: [])
    value.render(into: &json, indentation: "")
    json += "\n"
  }

  /// JSON before layout.
  private indirect enum Node {
    case text(String)
    case list(Node)
    case object([(name: String, value: Node)])

    func render(into json: inout String, indentation: String) {
      let inner = indentation + "  "
      switch self {
      case .text(let text): json += text
      case .list(let element):
        json += "[\n\(inner)"
        element.render(into: &json, indentation: inner)
        json += "\n\(indentation)]"
      case .object(let members):
        json += "{"
        for (index, member) in members.enumerated() {
          json += "\(index == 0 ? "" : ",")\n\(inner)\(JSONValue.quoted(member.name)): "
          member.value.render(into: &json, indentation: inner)
        }
        json += members.isEmpty ? "}" : "\n\(indentation)}"
      }
    }
  }

  private mutating func message(
    _ type: MessageType, path: String, around: [String]
  ) throws(SchemaError) -> Node {
    if let known = try wellKnown(type) { return known }
    let oneofs = try type.oneofNames()
    var members: [(name: String, value: Node)] = []
    let fields = try type.fields()
    let chosen = try Self.chosen(fields, around: around + [type.name])
    let alternatives = Dictionary(grouping: fields) { $0.oneofIndex }
    for field in fields {
      count += 1
      let place = path.isEmpty ? field.jsonName : "\(path).\(field.jsonName)"
      let suffix = field.isMap ? "{}" : field.isRepeated ? "[]" : ""
      notes.append(Note(path: place + suffix, text: note(field, oneofs, alternatives)))
      if let index = field.oneofIndex, chosen[index] != field.number {
        // For these fields, null would be a value.
        if try !Self.hasNull(field) { members.append((field.jsonName, .text("null"))) }
        continue
      }
      members.append((field.jsonName, try value(field, path: place + suffix, around: around + [type.name])))
    }
    return .object(members)
  }

  /// The member of each oneof that has a value: one for which `null` does not mean absent, otherwise the
  /// first that is not cut.
  private static func chosen(_ fields: [Field], around: [String]) throws(SchemaError) -> [Int: UInt32] {
    var chosen: [Int: UInt32] = [:]
    for field in fields {
      guard let oneof = field.oneofIndex, chosen[oneof] == nil else { continue }
      if let type = field.messageType, around.contains(type.name) { continue }
      chosen[oneof] = field.number
    }
    return chosen
  }

  private static func hasNull(_ field: Field) throws(SchemaError) -> Bool {
    field.enumType?.name == "google.protobuf.NullValue" || field.messageType?.name == "google.protobuf.Value"
  }

  private mutating func value(_ field: Field, path: String, around: [String]) throws(SchemaError) -> Node {
    if field.isMap, let key = field.mapKey, let value = field.mapValue {
      guard !isCut(value, around) else { return .text("{}") }
      let name = key.kind == .bool ? "false" : key.kind == .string ? "" : "0"
      return .object([(name, try single(value, path: path, around: around))])
    }
    if field.isRepeated {
      // An enum value in a list has an effect, as that of a filter has.
      return isCut(field, around) || field.kind == .enumeration
        ? .text("[]") : .list(try single(field, path: path, around: around))
    }
    return isCut(field, around) ? .text("null") : try single(field, path: path, around: around)
  }

  private func isCut(_ field: Field, _ around: [String]) -> Bool {
    guard let type = field.messageType else { return false }
    return !field.isRequired
      && (around.contains(type.name) || around.count >= Self.depthLimit || count > Self.limit)
      || around.count > 90 || count > Self.requiredLimit
  }

  private mutating func single(_ field: Field, path: String, around: [String]) throws(SchemaError) -> Node {
    if let type = field.messageType { return try message(type, path: path, around: around) }
    return .text(scalar(field))
  }

  private func scalar(_ field: Field) -> String {
    switch field.defaultValue {
    case .bool(let value): return "\(value)"
    case .int32(let value): return "\(value)"
    case .uint32(let value): return "\(value)"
    case .int64(let value): return "\"\(value)\""
    case .uint64(let value): return "\"\(value)\""
    case .float(let value): return number(Double(value), "\(value)")
    case .double(let value): return number(value, "\(value)")
    case .string(let text): return JSONValue.quoted(text)
    case .bytes(let bytes): return "\"\(Base64.encode(bytes))\""
    case .enum(let number): return enumeration(field, number)
    case .message, nil: return zero(field)
    }
  }

  /// The value of an element, which has no default.
  private func zero(_ field: Field) -> String {
    switch field.kind {
    case .bool: "false"
    case .string, .bytes: "\"\""
    case .int64, .uint64, .sint64, .fixed64, .sfixed64: "\"0\""
    case .enumeration: enumeration(field, field.enumType?.defaultNumber ?? 0)
    case .message, .group: "{}"
    default: "0"
    }
  }

  private func enumeration(_ field: Field, _ number: Int32) -> String {
    if field.enumType?.name == "google.protobuf.NullValue" { return "null" }
    return field.enumType?.name(of: number).map { JSONValue.quoted($0) } ?? "\(number)"
  }

  private func number(_ value: Double, _ text: String) -> String {
    if value.isNaN { return "\"NaN\"" }
    return value.isInfinite
      ? (value < 0 ? "\"-Infinity\"" : "\"Infinity\"")
      : text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// The JSON form of a well-known type.
  private func wellKnown(_ type: MessageType) throws(SchemaError) -> Node? {
    switch try type.wellKnown() {
    case .any: return .object([("@type", .text(#""type.googleapis.com/google.protobuf.Empty""#))])
    case .timestamp: return .text(#""1970-01-01T00:00:00Z""#)
    case .duration: return .text(#""0s""#)
    case .fieldMask: return .text(#""""#)
    case .structure: return .text("{}")
    case .value: return .text("null")
    case .listValue: return .text("[]")
    case .wrapper: return try type.fields().first.map { .text(zero($0)) }
    case nil: return nil
    }
  }

  // MARK: Notes

  private func note(_ field: Field, _ oneofs: [String], _ alternatives: [Int?: [Field]]) -> String {
    var text = field.isMap ? "map<\(type(field.mapKey)), \(type(field.mapValue))>" : type(field)
    if field.isRepeated, !field.isMap { text = "repeated \(text)" }
    if field.isRequired { text = "required \(text)" }
    if let values = (field.isMap ? field.mapValue : field)?.enumType?.values, !values.isEmpty {
      text += ": \(Self.list(values.lazy.map(\.name)))"
    }
    if let index = field.oneofIndex, oneofs.indices.contains(index) {
      let others = (alternatives[index] ?? []).lazy.filter { $0.number != field.number }.map(\.jsonName)
      text += "; oneof \(oneofs[index])"
      if !others.isEmpty { text += ", instead of \(Self.list(others))" }
    }
    return text
  }

  private static func list(_ names: some Sequence<String>) -> String {
    let first = Array(names.prefix(listLimit + 1))
    return first.prefix(listLimit).joined(separator: ", ") + (first.count > listLimit ? ", …" : "")
  }

  private func type(_ field: Field?) -> String {
    guard let field else { return "" }
    return field.enumType.map { "enum \($0.name)" } ?? field.messageType?.name ?? field.kind.protoName
  }
}
