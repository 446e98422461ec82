import Interception
import Language
import Protobuf

/// A message field to redact, by its path: `user.password`. The path includes all elements of lists and maps.
struct RedactedField: Sendable {
  /// The types whose content has names that the schema does not have.
  private static let open: Set<String> = [
    "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue", "google.protobuf.Any",
  ]

  private let names: [String]
  /// Reports that messages do not have the field.
  private let absence = Once()

  /// - Throws: ``LanguageError`` if `text` is not a list of names separated by dots.
  init(_ text: String) throws(LanguageError) {
    let path: FieldPath
    do throws(FieldPathError) {
      path = try FieldPath(text)
    } catch {
      throw LanguageError("not a valid field path: \(error)")
    }
    var names: [String] = []
    for step in path.steps {
      guard case .field(let name) = step else {
        throw LanguageError(
          "names an element; a path applies to all elements of lists and maps")
      }
      names.append(name)
    }
    self.names = names
  }

  /// Logs a warning, once, if the types of a call are known and neither has the field.
  func reportIfMissing(_ call: CallFacts, _ context: CallContext) {
    guard !call.isSubrequest, let request = call.requestType, let response = call.responseType,
      !exists(in: request), !exists(in: response)
    else { return }
    absence.report {
      context.log(
        .warning,
        "redact-field=\(names.joined(separator: ".")): no message of \(call.method) has this field")
    }
  }

  /// Whether messages of a type may have the field.
  private func exists(in type: MessageType) -> Bool {
    var type: MessageType? = type
    for name in names {
      guard let field = Self.field(named: name, of: type) else {
        return type.map { Self.open.contains($0.name) } ?? false
      }
      type = field.mapValue?.messageType ?? field.messageType
    }
    return true
  }

  /// Replaces strings by a placeholder, and clears other values. A message without the field is unchanged.
  ///
  /// - Parameter clearsOpenTypes: Whether the path `field.key` clears the whole field if it is a `google.protobuf.Struct` or
  ///   has another type whose content is not in the schema; otherwise it has no effect.
  func redact(_ message: inout Message, clearsOpenTypes: Bool = true) {
    do {
      try redact(&message, at: [], names[...], clearsOpenTypes)
    } catch {
      // An empty message is better than a leaked secret.
      message = Message(message.type)
    }
  }

  private func redact(
    _ message: inout Message, at steps: [FieldPath.Step], _ names: ArraySlice<String>, _ clearsOpenTypes: Bool
  ) throws(FieldPathError) {
    guard let name = names.first else { return }
    let type = Self.type(at: steps, in: message)
    guard let field = Self.field(named: name, of: type) else {
      guard clearsOpenTypes, let type, Self.open.contains(type.name) else { return }
      guard !steps.isEmpty else { return message = Message(type) }
      return try message.clear(at: FieldPath(steps: steps))
    }
    let path = try FieldPath(steps: steps + [.field(name)])
    guard try message.has(path) else { return }
    let rest = names.dropFirst()
    guard !rest.isEmpty else { return try Self.hide(path, field, in: &message) }
    guard field.isRepeated else { return try redact(&message, at: path.steps, rest, clearsOpenTypes) }
    for element in try FieldTargets.subscripts(of: path, message) {
      try redact(&message, at: path.steps + [.subscripted(element)], rest, clearsOpenTypes)
    }
  }

  private static func hide(
    _ path: FieldPath, _ field: Field, in message: inout Message
  ) throws(FieldPathError) {
    if field.kind == .string, !field.isRepeated {
      try message.set(.string(SecretMask.placeholder), at: path)
    } else {
      try message.clear(at: path)
    }
  }

  /// The type of the message at a place within another; nil if it is not a message.
  private static func type(at steps: [FieldPath.Step], in message: Message) -> MessageType? {
    var type: MessageType? = message.type
    var found: Field?
    for step in steps {
      guard case .field(let name) = step else {
        if let map = found?.mapValue { type = map.messageType }
        continue
      }
      found = field(named: name, of: type)
      type = found?.messageType
    }
    return type
  }

  private static func field(named name: String, of type: MessageType?) -> Field? {
    (try? type?.field(named: name)) ?? nil
  }
}
