import RPCurlLanguage
import RPCurlProtobuf

/// A change of a field of a message.
struct FieldChange: Sendable {
  private enum Action {
    case set(EditedText)
    case append(EditedText)
    case clear
    case copy(to: FieldPath)
    case transform(FieldTransform)
  }

  /// The key and the path, for errors.
  let name: String
  private let path: FieldPath
  private let action: Action

  /// Reads a setting.
  ///
  /// - Parameters:
  ///   - kind: The kind of change: `set`, `append`, `clear`, `copy` or `transform`.
  ///   - value: The value of the setting.
  ///   - key: The key as written, for errors.
  ///   - values: The values of templates; nil if texts are not templates.
  init(_ kind: String, _ value: String, key: String, _ values: FunctionValues?) throws(LanguageError) {
    var parts = (path: value, rest: "")
    if kind != "clear" {
      let isAssignment = kind == "set" || kind == "append"
      guard let found = FieldPath.split(value, at: isAssignment ? "=" : ":") else {
        throw LanguageError(
          "must have the form \(isAssignment ? "PATH=VALUE" : kind == "copy" ? "FROM:TO" : "PATH:FUNCTION")")
      }
      parts = found
    }
    name = "\(key) \(parts.path)"
    path = try Self.path(parts.path, values)
    switch kind {
    case "set": action = .set(try EditedText(parts.rest, values))
    case "append": action = .append(try EditedText(parts.rest, values))
    case "clear": action = .clear
    case "copy":
      let target = try Self.path(parts.rest, values)
      guard !path.hasEach, !target.hasEach else {
        throw LanguageError("[] is not possible in copy, which copies one value")
      }
      action = .copy(to: target)
    default:
      guard let transform = try FieldTransform(parts.rest[...], values) else {
        throw LanguageError("\(parts.rest) is not one of \(FieldTransform.forms)")
      }
      action = .transform(transform)
    }
  }

  private static func path(_ text: String, _ values: FunctionValues?) throws(LanguageError) -> FieldPath {
    if values != nil {
      try FieldPath.refuseValues(in: text, hint: "expand=true inserts values after = and in functions")
    }
    do throws(FieldPathError) {
      let path = try FieldPath(text)
      if path.isWhole { throw .syntax(offset: 1, expected: "a field name") }
      return path
    } catch {
      throw LanguageError("\(error)")
    }
  }

  /// Throws unless messages of a type have the fields.
  func check(_ type: MessageType) throws(FieldPathError) {
    switch action {
    case .append: _ = try path.appending(.each).leaf(in: type)
    case .copy(let target): _ = try (path.leaf(in: type), target.leaf(in: type))
    case .set, .clear, .transform: _ = try path.leaf(in: type)
    }
  }

  /// Applies the change.
  func apply(to message: inout Message) throws(LanguageError) {
    // Why the value of a place cannot be made.
    var problem: LanguageError?
    do throws(FieldPathError) {
      try message.forEachPlace(of: path) { (message, path) throws(FieldPathError) in
        guard problem == nil else { return }
        do {
          try apply(at: path, in: &message)
        } catch let error as FieldPathError {
          throw error
        } catch {
          problem = error as? LanguageError ?? LanguageError("\(error)")
        }
      }
    } catch {
      guard case .indexOutOfRange(let field, _, _) = error else { throw LanguageError("\(error)") }
      throw LanguageError("\(error); append=\(field)=VALUE appends an element")
    }
    if let problem { throw problem }
  }

  private func apply(at path: FieldPath, in message: inout Message) throws {
    switch action {
    case .set(let text): try set(text, at: path, in: &message)
    case .append(let text): try set(text, at: path.appending(.each), in: &message)
    case .clear: try message.clear(at: path)
    case .transform(let transform):
      guard let value = try message.value(at: path) else { return }
      try message.set(try transform.apply(to: value), at: path)
    case .copy(let target): try message.copyValue(at: path, to: target)
    }
  }

  private func set(_ text: EditedText, at path: FieldPath, in message: inout Message) throws {
    let isText = (try? path.kind(in: message.type)) == .string
    try message.setText(try text.text(isText: isText), at: path)
  }
}

/// Text of a setting, which may be a template.
enum EditedText: Sendable {
  case literal(String)
  case template(FieldTemplate, FunctionValues)

  /// Parses text.
  ///
  /// - Parameter values: The values of templates; nil if the text is not a template.
  init(_ text: String, _ values: FunctionValues?) throws(LanguageError) {
    guard let values else {
      self = .literal(text)
      return
    }
    let template = try FieldTemplate(parsing: text)
    for expression in template.expressions { try values.check(expression) }
    self = .template(template, values)
  }

  /// The text with its values.
  ///
  /// - Parameter isText: Whether the field is a string, so that the text is not JSON.
  func text(isText: Bool = true) throws(LanguageError) -> String {
    switch self {
    case .literal(let text): return text
    case .template(let template, let values): return try template.text(values, isText: isText)
    }
  }
}
