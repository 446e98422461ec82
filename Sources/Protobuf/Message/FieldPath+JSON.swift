import RPCurlBase

extension FieldPath {
  /// The value at the path in JSON without a schema; `null` if an index or a key in brackets is absent. With `[]`, the array
  /// of the values.
  ///
  /// - Throws: ``FieldPathError`` if an object has no member with a name, or if a value is not what the path needs.
  package func value(in json: JSONValue) throws(FieldPathError) -> JSONValue {
    let found = try Self.values(json, [], steps[...])
    return hasEach ? .array(found) : found.first ?? .null
  }

  private static func values(
    _ value: JSONValue, _ before: [Step], _ steps: ArraySlice<Step>
  ) throws(FieldPathError) -> [JSONValue] {
    guard let step = steps.first else { return [value] }
    if value == .null { return step == .each ? [] : [.null] }
    let next: [JSONValue] =
      switch value {
      case .array(let elements): try Self.elements(elements, before, step)
      case .object(let members): try Self.members(value, members, before, step)
      case .null, .bool, .number, .string: throw .notAMessage(field: "\(FieldPath(steps: before))")
      }
    var found: [JSONValue] = []
    for value in next { found += try values(value, before + [step], steps.dropFirst()) }
    return found
  }

  private static func elements(
    _ elements: [JSONValue], _ before: [Step], _ step: Step
  ) throws(FieldPathError) -> [JSONValue] {
    switch step {
    case .each: return elements
    case .subscripted(.integer(let index)):
      return [position(index, count: elements.count).map { elements[$0] } ?? .null]
    default: throw .needsSubscript(field: "\(FieldPath(steps: before))")
    }
  }

  private static func members(
    _ object: JSONValue, _ members: [JSONValue.Member], _ before: [Step], _ step: Step
  ) throws(FieldPathError) -> [JSONValue] {
    switch step {
    case .each: return members.map(\.value)
    case .subscripted(.string(let key)): return [object[key] ?? .null]
    case .subscripted(let key): return [object["\(key)"] ?? .null]
    case .any(let url):
      guard case .string(let other)? = object["@type"], AnyOutline.typeName(other) == AnyOutline.typeName(url)
      else { return [.null] }
      return [object]
    case .field(let name), .extension(let name):
      let name = if case .extension = step { "[\(name)]" } else { name }
      if let value = object[name] { return [value] }
      throw .unknownField(
        name: name, type: before.isEmpty ? "the value" : "\(FieldPath(steps: before))",
        nearest: EditDistance.nearest(to: name, among: members.map(\.name)))
    }
  }
}
