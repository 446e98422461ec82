import RPCurlLanguage
import RPCurlProtobuf

/// The variables of stubs, which all calls of a run share. Clients choose keys and values: both are limited.
struct StubVariables: Sendable {
  /// The most values, and bytes of memory that they take, with their keys.
  struct Limit: Sendable {
    var values = 100_000
    var bytes = 64 << 20
  }

  private struct Element: Sendable {
    let key: String
    let value: JSONValue
    let byteCount: Int

    init(_ key: String, _ value: JSONValue) {
      (self.key, self.value) = (key, value)
      byteCount = key.utf8.count + value.memoryBytes
    }
  }

  /// An object, or another value.
  private struct Variable: Sendable {
    var value: JSONValue?
    /// The members of an object, which are set one by one.
    var elements: [String: (order: Int, element: Element)] = [:]
    /// The order of the next element.
    var next = 0

    init() {}

    init(_ value: JSONValue) {
      guard case .object(let members) = value else {
        self.value = value
        return
      }
      for member in members where member.value != .null { set(Element(member.name, member.value)) }
    }

    mutating func set(_ element: Element) {
      let order = elements[element.key]?.order ?? next
      if order == next { next += 1 }
      elements[element.key] = (order, element)
    }

    /// The value; the members of an object are in the order in which they were set first.
    var json: JSONValue {
      value
        ?? .object(
          elements.values.sorted { $0.order < $1.order }.map {
            JSONValue.Member(name: $0.element.key, value: $0.element.value)
          })
    }

    var valueCount: Int { value == nil ? elements.count : 1 }
    var byteCount: Int { value?.memoryBytes ?? elements.values.reduce(0) { $0 + $1.element.byteCount } }
  }

  private let limit: Limit
  private var variables: [String: Variable] = [:]
  private(set) var valueCount = 0
  private(set) var byteCount = 0

  init(limit: Limit = Limit()) { self.limit = limit }

  /// Whether a variable is set.
  func has(_ name: String) -> Bool { variables[name] != nil }

  /// The value at a path, which begins with the name; `null` if it is not set.
  ///
  /// - Throws: ``LanguageError`` if a value in the path is not what the path needs.
  func value(at path: FieldPath) throws(LanguageError) -> JSONValue {
    let absent = path.hasEach ? JSONValue.array([]) : .null
    guard let variable = variables[path.variable] else { return absent }
    // An element is found without a look at the others.
    guard variable.value == nil, let key = path.steps.dropFirst().first?.key else {
      return try value(of: path, in: variable.json, after: 1)
    }
    return try variable.elements[key].map { element throws(LanguageError) in
      try value(of: path, in: element.element.value, after: 2)
    } ?? absent
  }

  /// The value at the steps of a path after the first ones.
  private func value(
    of path: FieldPath, in value: JSONValue, after count: Int
  ) throws(LanguageError) -> JSONValue {
    do throws(FieldPathError) {
      return try FieldPath(steps: Array(path.steps.dropFirst(count))).value(in: value)
    } catch .unknownField {
      // The JSON of a message lacks fields with default values.
      return .null
    } catch {
      throw LanguageError("\(path): \(error.message)", hint: error.hint)
    }
  }

  /// Whether a path is a variable, or an element of one.
  static func canSet(_ path: FieldPath) -> Bool {
    path.steps.count == 1 || path.steps.count == 2 && path.steps[1].key != nil
  }

  /// Sets a variable, or one of its elements; `null` removes it.
  ///
  /// - Throws: ``LanguageError`` if the variable has no elements, or if there is no room. Nothing changes then.
  mutating func set(_ path: FieldPath, to value: JSONValue) throws(LanguageError) {
    let name = path.variable
    guard let key = path.steps.dropFirst().first?.key else {
      let new = value == .null ? nil : Variable(value)
      let old = variables[name]
      try reserve(
        (new?.valueCount ?? 0) - (old?.valueCount ?? 0), (new?.byteCount ?? 0) - (old?.byteCount ?? 0), path)
      return variables[name] = new
    }
    if let whole = variables[name]?.value {
      throw LanguageError("\(path): \(name) is not an object: \(whole.text.prefix(100))")
    }
    let new = value == .null ? nil : Element(key, value)
    let old = variables[name]?.elements[key]?.element
    try reserve(
      (new == nil ? 0 : 1) - (old == nil ? 0 : 1), (new?.byteCount ?? 0) - (old?.byteCount ?? 0), path)
    if let new {
      variables[name, default: Variable()].set(new)
    } else {
      variables[name]?.elements[key] = nil
    }
  }

  private mutating func reserve(_ values: Int, _ bytes: Int, _ path: FieldPath) throws(LanguageError) {
    guard valueCount + values <= limit.values, byteCount + bytes <= limit.bytes else {
      throw LanguageError(
        "\(path): the variables of stubs would have more than "
          + (valueCount + values > limit.values ? "\(limit.values) values" : "\(limit.bytes) bytes"))
    }
    valueCount += values
    byteCount += bytes
  }
}

extension FieldPath.Step {
  /// The key of a member of an object; nil for other steps.
  fileprivate var key: String? {
    switch self {
    case .field(let name): name
    case .subscripted(.string(let key)): key
    case .subscripted(let key): "\(key)"
    case .extension, .any, .each: nil
    }
  }
}

extension JSONValue {
  /// About how much memory the value takes, in bytes: a list of small numbers takes many times its text.
  fileprivate var memoryBytes: Int {
    let own = 32
    return switch self {
    case .array(let values): values.reduce(own) { $0 + $1.memoryBytes }
    case .object(let members): members.reduce(own) { $0 + $1.name.utf8.count + $1.value.memoryBytes }
    case .string(let text), .number(let text): own + text.utf8.count
    default: own
    }
  }
}
