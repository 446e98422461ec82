import Language
import Protobuf

/// A change of a field of a message.
struct FieldChange: Sendable {
  /// Why a change is invalid or impossible.
  struct Problem: Error {
    let reason: String
    let hint: String?

    init(_ reason: String, hint: String? = nil) {
      self.reason = reason
      self.hint = hint
    }
  }

  private enum Action {
    case set(FieldTargets, appends: Bool, EditedText)
    case clear(FieldTargets)
    case copy(FieldPath, FieldPath)
    case transform(FieldTargets, FieldTransform)
  }

  /// The key and the path, for errors.
  let name: String
  private let action: Action

  /// Reads a setting.
  ///
  /// - Parameters:
  ///   - kind: The kind of change: `set`, `clear`, `copy` or `transform`.
  ///   - value: The value of the setting.
  ///   - key: The key as written, for errors.
  ///   - values: The values of templates; nil if texts are not templates.
  init(_ kind: String, _ value: String, key: String, _ values: FunctionValues?) throws(Problem) {
    var parts = (path: value[...], rest: Substring())
    if kind != "clear" {
      guard let found = FieldAssignment.split(value, at: kind == "set" ? "=" : ":") else {
        throw Problem(
          "must have the form \(["set": "PATH=VALUE", "copy": "FROM:TO"][kind] ?? "PATH:FUNCTION")")
      }
      parts = found
    }
    let (path, rest) = parts
    name = "\(key) \(path)"
    switch kind {
    case "set":
      let appends = path.hasSuffix("[]")
      action = .set(
        try Self.parsed { () throws(FieldPathError) in try FieldTargets(appends ? path.dropLast(2) : path) },
        appends: appends, try EditedText(String(rest), values))
    case "clear": action = .clear(try Self.parsed { () throws(FieldPathError) in try FieldTargets(path) })
    case "copy":
      action = try Self.parsed { () throws(FieldPathError) in
        .copy(try FieldPath(String(path)), try FieldPath(String(rest)))
      }
    default:
      guard let transform = try FieldTransform(rest, values) else {
        throw Problem("\(rest) is not one of \(FieldTransform.forms)")
      }
      action = .transform(try Self.parsed { () throws(FieldPathError) in try FieldTargets(path) }, transform)
    }
  }

  private static func parsed<Result>(_ parse: () throws(FieldPathError) -> Result) throws(Problem) -> Result {
    do throws(FieldPathError) { return try parse() } catch { throw Problem("\(error)") }
  }

  /// Throws unless messages of a type have the fields.
  func check(_ type: MessageType) throws(FieldPathError) {
    switch action {
    case .set(let targets, _, _), .clear(let targets), .transform(let targets, _): try targets.check(type)
    case .copy(let from, let to):
      _ = try type.field(at: from)
      _ = try type.field(at: to)
    }
  }

  /// Applies the change.
  func apply(to message: inout Message) throws(Problem) {
    do {
      switch action {
      case .set(let targets, let appends, let text):
        for path in try targets.paths(in: message) {
          let assignment = FieldAssignment(path: path, appends: appends)
          let value = try text.text(isText: assignment.isText(in: message.type))
          try assignment.assign(text: value, to: &message)
        }
      case .clear(let targets):
        for path in try targets.paths(in: message) { try message.clear(at: path) }
      case .copy(let from, let to):
        let json = try message.json(at: from)
        // A google.protobuf.Value would be set to null by the JSON of a field that is not set.
        if try !message.has(from), json == Array("null".utf8) {
          try message.clear(at: to)
        } else {
          try message.setJSON(json, at: to)
        }
      case .transform(let targets, let transform):
        for path in try targets.paths(in: message) {
          guard let value = try message.value(at: path) else { continue }
          try message.set(try transform.apply(to: value), at: path)
        }
      }
    } catch let problem as Problem {
      throw problem
    } catch {
      throw Problem("\(error)")
    }
  }
}

/// Text of a setting, which may be a template.
enum EditedText: Sendable {
  case literal(String)
  case template(FieldTemplate, FunctionValues)

  /// Parses text.
  ///
  /// - Parameter values: The values of templates; nil if the text is not a template.
  init(_ text: String, _ values: FunctionValues?) throws(FieldChange.Problem) {
    guard let values else {
      self = .literal(text)
      return
    }
    do throws(LanguageError) {
      let template = try FieldTemplate(parsing: text)
      for expression in template.expressions { try values.check(expression) }
      self = .template(template, values)
    } catch {
      throw FieldChange.Problem(error.reason, hint: error.hint)
    }
  }

  /// The text with its values.
  ///
  /// - Parameter isText: Whether the field is a string, so that the text is not JSON.
  func text(isText: Bool = true) throws(FieldChange.Problem) -> String {
    switch self {
    case .literal(let text): return text
    case .template(let template, let values):
      do throws(LanguageError) {
        return try template.text(values, isText: isText)
      } catch {
        throw FieldChange.Problem(error.reason)
      }
    }
  }
}

/// The fields that a path with `[]` for all elements leads to.
struct FieldTargets: Sendable {
  private let selector: FieldSelector

  /// Parses a path.
  init(_ text: Substring) throws(FieldPathError) { selector = try FieldSelector(String(text)) }

  /// Throws unless messages of a type have the fields.
  func check(_ type: MessageType) throws(FieldPathError) { _ = try selector.kind(in: type) }

  /// The paths in a message. The last element of a list comes first, so that elements can be removed in this order.
  func paths(in message: Message) throws(FieldPathError) -> [FieldPath] {
    try Self.paths([], selector.steps[...], message)
  }

  private static func paths(
    _ before: [FieldPath.Step], _ steps: ArraySlice<FieldSelector.Step>, _ message: Message
  ) throws(FieldPathError) -> [FieldPath] {
    guard let step = steps.first else { return [try FieldPath(steps: before)] }
    guard case .each = step else {
      guard case .path(let own) = step else { return [] }
      return try paths(before + [own], steps.dropFirst(), message)
    }
    var found: [FieldPath] = []
    for element in try subscripts(of: try FieldPath(steps: before), message) {
      found += try paths(before + [.subscripted(element)], steps.dropFirst(), message)
    }
    return found
  }

  /// The subscripts of all elements of a list or map. The last element of a list comes first.
  static func subscripts(
    of path: FieldPath, _ message: Message
  ) throws(FieldPathError) -> [FieldPath.Subscript] {
    guard try message.type.field(at: path).isMap else {
      return (0..<Int64(try message.length(path))).reversed().map { .integer($0) }
    }
    return try message.mapKeys(at: path).compactMap { key in
      switch key {
      case .string(let key): .string(key)
      case .bool(let key): .bool(key)
      case .int32(let key): .integer(Int64(key))
      case .int64(let key): .integer(key)
      case .uint32(let key): .integer(Int64(key))
      case .uint64(let key): Int64(exactly: key).map { .integer($0) } ?? .unsigned(key)
      default: nil
      }
    }
  }
}
