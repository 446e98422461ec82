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
    do {
      try redact(&message, at: [], names[...])
    } catch {
      // An empty message is better than a leaked secret.
      message = Message(message.type)
    }
  }

  private func redact(
    _ message: inout Message, at steps: [FieldPath.Step], _ names: ArraySlice<String>
  ) throws(FieldPathError) {
    guard let name = names.first else { return }
    let path = try FieldPath(steps: steps + [.field(name)])
    guard let field = Self.field(path, in: message), try message.has(path) else { return }
    let rest = names.dropFirst()
    guard !rest.isEmpty else { return try Self.hide(path, field, in: &message) }
    guard field.isRepeated else { return try redact(&message, at: path.steps, rest) }
    for element in try FieldTargets.subscripts(of: path, message) {
      try redact(&message, at: path.steps + [.subscripted(element)], rest)
    }
  }

  private static func hide(
    _ path: FieldPath, _ field: Field, in message: inout Message
  ) throws(FieldPathError) {
    if field.kind == .string, !field.isRepeated {
      try message.set(.string(Redaction.placeholder), at: path)
    } else {
      try message.clear(at: path)
    }
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
