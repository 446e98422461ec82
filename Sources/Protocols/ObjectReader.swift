import RPCurlBase
import RPCurlLanguage
import RPCurlProtobuf

/// Reads the members of a JSON object; errors name the member.
package struct ObjectReader {
  /// The members, in order.
  package let members: [JSONValue.Member]
  /// The path of the object.
  package let path: String

  /// Checks that the value is an object.
  ///
  /// - Parameters:
  ///   - value: The value to read.
  ///   - path: The path of the object; empty for the outermost.
  ///   - keys: The allowed members; `nil` for any.
  ///   - replaced: Earlier members, with what to write instead.
  package init(
    _ value: JSONValue, _ path: String = "", keys: [String]?, replaced: [String: String] = [:]
  ) throws(LanguageError) {
    self.path = path
    guard case .object(let members) = value else {
      throw LanguageError("\(path.isEmpty ? "" : "\(path): ")must be an object")
    }
    self.members = members
    guard let keys else { return }
    for (index, member) in members.enumerated() {
      guard keys.contains(member.name) else {
        let nearest = DescriptorPool.nearestNames(to: member.name, among: keys, limit: 1)
        let hint =
          replaced[member.name]
          ?? (nearest.isEmpty
            ? "valid members: \(keys.joined(separator: ", "))" : "did you mean \(nearest[0])?")
        throw error(member.name, "unknown member; \(hint)")
      }
      // There are no more than keys.
      if members[..<index].contains(where: { $0.name == member.name }) {
        throw error(member.name, "duplicate member")
      }
    }
  }

  /// The names of all members, in order.
  package var names: [String] { members.map(\.name) }

  /// A member of any type; nil if it is absent or `null`.
  package func value(_ key: String) -> JSONValue? {
    for member in members where member.name == key {
      return if case .null = member.value { nil } else { member.value }
    }
    return nil
  }

  package func string(_ key: String) throws(LanguageError) -> String? {
    switch value(key) {
    case nil: nil
    case .string(let text)?: text
    default: throw error(key, "must be a string")
    }
  }

  package func requiredString(_ key: String) throws(LanguageError) -> String {
    guard let text = try string(key) else { throw error(key, "missing") }
    return text
  }

  package func requiredInteger(_ key: String) throws(LanguageError) -> Int {
    guard let number = try integer(key) else { throw error(key, "missing") }
    return number
  }

  package func bool(_ key: String) throws(LanguageError) -> Bool? {
    switch value(key) {
    case nil: nil
    case .bool(let flag)?: flag
    default: throw error(key, "must be true or false")
    }
  }

  package func integer(_ key: String, atLeast least: Int = 0) throws(LanguageError) -> Int? {
    guard let value = value(key) else { return nil }
    guard case .number(let digits) = value, let number = Int(digits), number >= least else {
      throw error(key, "must be a whole number, at least \(least)")
    }
    return number
  }

  /// A number of milliseconds.
  package func milliseconds(_ key: String) throws(LanguageError) -> Duration? {
    guard let value = value(key) else { return nil }
    guard case .number(let digits) = value, let number = Double(digits), (0...1e12).contains(number) else {
      throw error(key, "must be a number of milliseconds")
    }
    return .nanoseconds(Int64(number * 1e6))
  }

  /// A duration such as `"250ms"`.
  package func duration(_ key: String) throws(LanguageError) -> Duration? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value, let duration = Duration(written: text) else {
      throw error(key, "must be a duration such as \"250ms\"")
    }
    return duration
  }

  package func array(_ key: String) throws(LanguageError) -> [JSONValue]? {
    try value(key).map { (value) throws(LanguageError) in try array(key, value) }
  }

  package func strings(_ key: String) throws(LanguageError) -> [String] {
    try strings(key, array(key) ?? [])
  }

  /// The strings of a member that is not `null`.
  package func strings(of member: JSONValue.Member) throws(LanguageError) -> [String] {
    try strings(member.name, array(member.name, member.value))
  }

  private func array(_ key: String, _ value: JSONValue) throws(LanguageError) -> [JSONValue] {
    guard case .array(let elements) = value else { throw error(key, "must be a list") }
    return elements
  }

  private func strings(_ key: String, _ elements: [JSONValue]) throws(LanguageError) -> [String] {
    var strings: [String] = []
    for element in elements {
      guard case .string(let text) = element else { throw error(key, "must be a list of strings") }
      strings.append(text)
    }
    return strings
  }

  /// Metadata as a list of `["name","value"]`.
  package func headers(_ key: String) throws(LanguageError) -> Headers {
    var headers = Headers()
    for (index, element) in (try array(key) ?? []).enumerated() {
      guard case .array(let pair) = element, pair.count == 2, case .string(let name) = pair[0],
        case .string(let value) = pair[1], HeaderSyntax.isName(name), HeaderSyntax.isValue(value)
      else { throw error("\(key)[\(index)]", "must be a header as [\"name\",\"value\"]") }
      headers.add(name, value)
    }
    return headers
  }

  /// Metadata as an object: each name with its value, or a list of values.
  package func fields(_ key: String) throws(LanguageError) -> [(name: String, values: [String])] {
    var fields: [(name: String, values: [String])] = []
    for member in try object(key, keys: nil)?.members ?? [] {
      let values = if case .array(let elements) = member.value { elements } else { [member.value] }
      var texts: [String] = []
      for value in values {
        guard case .string(let text) = value else {
          throw error("\(key).\(member.name)", "must be a string or a list of strings")
        }
        texts.append(text)
      }
      fields.append((member.name, texts))
    }
    return fields
  }

  package func object(_ key: String, keys: [String]?) throws(LanguageError) -> ObjectReader? {
    guard let value = value(key) else { return nil }
    return try ObjectReader(value, place(key), keys: keys)
  }

  /// A status code by its name or number.
  package func code(_ key: String) throws(LanguageError) -> StatusCode? {
    guard let value = value(key) else { return nil }
    let text: String
    switch value {
    case .string(let name): text = name
    case .number(let digits): text = digits
    default: throw error(key, "must be a status code")
    }
    guard let code = StatusCode(written: text) else {
      throw error(
        key,
        "\(text.debugDescription) is not a status code: a number from 0 to 16, or a name such as not_found")
    }
    return code
  }

  /// The path of a member.
  package func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// The error for a member.
  package func error(_ key: String, _ reason: String) -> LanguageError {
    LanguageError("\(place(key)): \(reason)")
  }
}
