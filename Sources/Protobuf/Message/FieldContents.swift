/// The content of a field of a message.
package enum FieldContents: Sendable {
  /// The field is not set; one without presence is zero, a list or a map is empty.
  case unset
  case value(Value)
  case list([Value])
  /// The entries in ascending order of their keys.
  case map([(key: Value, value: Value)])
}

extension Message {
  /// The content of a field of this message's type.
  package func contents(of field: Field) -> FieldContents {
    let stored = storage[field.node]
    if stored.isAbsent(field.node) { return .unset }
    switch stored {
    case .none: return .unset
    case .single(let value): return .value(value)
    case .list(let values): return .list(values)
    case .map(let entries):
      let kind = field.node.mapKey?.kind ?? .string
      return .map(entries.sorted { $0.key < $1.key }.map { ($0.key.value(kind: kind), $0.value) })
    }
  }
}

extension Field {
  /// The name in paths: that of an extension is in brackets.
  package var pathName: String { node.pathName }
}

extension Value {
  /// Whether a field without presence is omitted with this value; a message is zero if it is empty.
  package var isDefault: Bool {
    if case .message(let message) = self { return message.isEmpty }
    return isZero
  }
}
