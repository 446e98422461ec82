import RPCurlLanguage
import RPCurlProtobuf

/// A message field to redact, by its path: `user.password`. A name after a list or a map is that of a field in each element.
package struct RedactedField: Sendable {
  /// The types whose content has names that the schema does not have.
  private static let open: Set<String> = [
    "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue", "google.protobuf.Any",
  ]

  private let path: FieldPath
  /// Reports that messages do not have the field.
  private let absence = Once()

  /// - Throws: ``LanguageError`` if `text` is not the path of a field.
  package init(_ text: String) throws(LanguageError) {
    do throws(FieldPathError) {
      path = try FieldPath(text)
    } catch {
      throw LanguageError("not a valid field path: \(error)")
    }
    if path.isWhole { throw LanguageError("not the path of a field") }
  }

  /// Logs a warning, once, if the types of a call are known and neither has the field.
  func reportIfMissing(_ call: CallFacts, _ context: CallContext) {
    guard !call.isSubrequest, let request = call.requestType, let response = call.responseType,
      place(in: request) == nil, place(in: response) == nil
    else { return }
    absence.report {
      context.log(.warning, "redact-field=\(path): no message of \(call.method) has this field")
    }
  }

  /// Replaces strings by a placeholder, and clears other values. A message without the field is unchanged.
  ///
  /// - Parameter clearsOpenTypes: Whether the path `field.key` clears the whole field if it is a `google.protobuf.Struct` or
  ///   has another type whose content is not in the schema; otherwise it has no effect.
  package func redact(_ message: inout Message, clearsOpenTypes: Bool = true) {
    guard let place = place(in: message.type), clearsOpenTypes || !place.isOpen else { return }
    do {
      try message.forEachPlace(of: place.path) { (message, path) throws(FieldPathError) in
        if try message.has(path) { try Self.hide(path, in: &message) }
      }
    } catch {
      // An empty message is better than a leaked secret.
      message = Message(message.type)
    }
  }

  private static func hide(_ path: FieldPath, in message: inout Message) throws(FieldPathError) {
    if case .field(let field, _, let isElement) = try path.leaf(in: message.type), field.kind == .string,
      isElement || !field.isRepeated
    {
      try message.set(.string(SecretMask.placeholder), at: path)
    } else {
      try message.clear(at: path)
    }
  }

  /// The path in messages of a type, with `[]` for the elements of lists and maps; nil if the type lacks the field. An open
  /// path ends at a value whose content is not in the schema.
  private func place(in type: MessageType) -> (path: FieldPath, isOpen: Bool)? {
    var place = FieldPath(steps: [])
    for step in path.steps {
      switch try? place.leaf(in: type) {
      case nil: return nil
      case .dynamic: return (place, true)
      case .message(let type): if Self.isOpen(type, step) { return (place, true) }
      case .field(let field, _, let isElement) where field.isRepeated && !isElement:
        guard Self.needsEach(field, step) else { break }
        place = place.appending(.each)
        if Self.isOpen(field.mapValue.map(\.messageType) ?? field.messageType, step) { return (place, true) }
      case .field(let field, _, _):
        if Self.isOpen(field.messageType, step) { return (place, true) }
      }
      place = place.appending(step)
    }
    return (try? place.leaf(in: type)) == nil ? nil : (place, false)
  }

  /// Whether the schema does not have what a step names in a type.
  private static func isOpen(_ type: MessageType?, _ step: FieldPath.Step) -> Bool {
    guard let type, open.contains(type.name) else { return false }
    switch step {
    case .any: return false
    case .field(let name) where type.name != "google.protobuf.Any":
      return (try? type.field(named: name)) ?? nil == nil
    default: return true
    }
  }

  /// Whether a step after a list or a map is that of each element.
  private static func needsEach(_ field: Field, _ step: FieldPath.Step) -> Bool {
    switch step {
    case .each, .subscripted: return false
    case .extension, .any: return true
    case .field(let name):
      guard let value = field.mapValue, field.mapKey?.kind == .string else { return true }
      // The field of each entry, rather than the entry with this key.
      return (try? value.messageType?.field(named: name)) ?? nil != nil || isOpen(value.messageType, step)
    }
  }
}
