import Protobuf

/// A message field to redact, by its path: `user.password`. The path includes all elements of lists and maps.
struct RedactedField: Sendable {
  private let names: [String]

  /// - Throws: ``ConditionError`` if `text` is not a list of names separated by dots.
  init(_ text: String) throws(ConditionError) {
    let path: FieldPath
    do throws(FieldPathError) {
      path = try FieldPath(text)
    } catch {
      throw ConditionError("not a valid field path: \(error)")
    }
    var names: [String] = []
    for step in path.steps {
      guard case .field(let name) = step else {
        throw ConditionError(
          "names an element; a path applies to all elements of lists and maps")
      }
      names.append(name)
    }
    self.names = names
  }

  /// Replaces strings by a placeholder, and clears other values. A message without the field is unchanged.
  func redact(_ message: inout Message) {
    redact(&message, at: [], names[...])
  }

  private func redact(_ message: inout Message, at steps: [FieldPath.Step], _ names: ArraySlice<String>) {
    guard let name = names.first, let path = try? FieldPath(steps: steps + [.field(name)]),
      let field = Self.field(path, in: message)
    else { return }
    let rest = names.dropFirst()
    guard !rest.isEmpty else { return Self.hide(path, field, in: &message) }
    guard (try? message.has(path)) == true else { return }
    guard field.isRepeated else { return redact(&message, at: path.steps, rest) }
    for key in Self.keys(path, field, in: message) {
      redact(&message, at: path.steps + [.subscripted(key)], rest)
    }
  }

  private static func hide(_ path: FieldPath, _ field: Field, in message: inout Message) {
    guard (try? message.has(path)) == true else { return }
    let isText = field.kind == .string && !field.isRepeated
    do {
      if isText {
        try message.set(.string(Redaction.placeholder), at: path)
      } else {
        try message.clear(at: path)
      }
    } catch {
      // An empty message is better than a leaked secret.
      message = Message(message.type)
    }
  }

  private static func keys(
    _ path: FieldPath, _ field: Field, in message: Message
  ) -> [FieldPath.Subscript] {
    guard field.isMap else { return (0..<((try? message.length(path)) ?? 0)).map { .integer(Int64($0)) } }
    guard let json = try? message.json(at: path), case .object(let members)? = try? JSONValue(parsing: json)
    else { return [] }
    return members.map { FieldPath.Subscript($0.name, keyOf: field) }
  }

  private static func field(_ path: FieldPath, in message: Message) -> Field? {
    var type: MessageType? = message.type
    var found: Field?
    for step in path.steps {
      guard case .field(let name) = step else {
        if let map = found?.mapValue { type = map.messageType }
        continue
      }
      found = (try? type?.field(named: name)) ?? nil
      type = found?.messageType
    }
    return found
  }
}
