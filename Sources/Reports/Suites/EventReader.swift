import RPCurlLanguage
import RPCurlProtobuf

/// Reads the members of a JSON object of an event; errors contain the path of the member.
struct EventReader {
  private let object: JSONValue
  private let path: String

  init(_ value: JSONValue, _ path: String) throws(LanguageError) {
    guard case .object = value else {
      throw LanguageError(path.isEmpty ? "must be an object" : "\(path): must be an object")
    }
    object = value
    self.path = path
  }

  func text(_ key: String) throws(LanguageError) -> String { try required(key, textIfPresent(key)) }

  func textIfPresent(_ key: String) throws(LanguageError) -> String? {
    switch object[key] {
    case nil: nil
    case .string(let text)?: text
    default: throw error(key, "must be a string")
    }
  }

  func texts(_ key: String) throws(LanguageError) -> [String] {
    var texts: [String] = []
    for (index, element) in try elements(key).enumerated() {
      guard case .string(let text) = element else { throw error("\(key)[\(index)]", "must be a string") }
      texts.append(text)
    }
    return texts
  }

  /// A number of things, or the number of a line.
  func count(_ key: String) throws(LanguageError) -> Int { try required(key, countIfPresent(key)) }

  /// - Parameter limit: The maximum.
  func countIfPresent(_ key: String, limit: Int = countLimit) throws(LanguageError) -> Int? {
    guard let value = object[key] else { return nil }
    return try count(value, key, limit: limit)
  }

  /// Sums of numbers up to this are in the range of the type.
  private static let countLimit = 1 << 32

  private func count(_ value: JSONValue, _ key: String, limit: Int) throws(LanguageError) -> Int {
    guard case .number(let digits) = value, let number = Int(digits), (0...limit).contains(number) else {
      throw error(key, "must be a whole number")
    }
    return number
  }

  /// Whether a member is true; false if it is absent.
  func flag(_ key: String) throws(LanguageError) -> Bool {
    switch object[key] {
    case nil: false
    case .bool(let flag)?: flag
    default: throw error(key, "must be true or false")
    }
  }

  /// The member `attempts`; 1 if it is absent.
  func attempts() throws(LanguageError) -> Int {
    let number = try countIfPresent("attempts") ?? 1
    guard number > 0 else { throw error("attempts", "must be at least 1") }
    return number
  }

  /// The member `seconds`, rounded to microseconds; zero if it is absent.
  func seconds() throws(LanguageError) -> Duration {
    guard let value = object["seconds"] else { return .zero }
    guard case .number(let digits) = value, let number = Double(digits), (0...1e9).contains(number) else {
      throw error("seconds", "must be a number of seconds")
    }
    return .microseconds(Int64((number * 1e6).rounded()))
  }

  /// The members, each an object.
  func objects() throws(LanguageError) -> [(name: String, object: EventReader)] {
    var objects: [(name: String, object: EventReader)] = []
    for member in members { objects.append((member.name, try EventReader(member.value, place(member.name)))) }
    return objects
  }

  /// The members, each a number of things, whose sums may be out of the range of the type.
  func counts() throws(LanguageError) -> [(name: String, count: Int)] {
    var counts: [(name: String, count: Int)] = []
    for member in members {
      counts.append((member.name, try count(member.value, member.name, limit: .max)))
    }
    return counts
  }

  private var members: [JSONValue.Member] {
    if case .object(let members) = object { members } else { [] }
  }

  func objectIfPresent(_ key: String) throws(LanguageError) -> EventReader? {
    guard let value = object[key] else { return nil }
    return try EventReader(value, place(key))
  }

  func objects(_ key: String) throws(LanguageError) -> [EventReader] {
    var objects: [EventReader] = []
    for (index, element) in try elements(key).enumerated() {
      objects.append(try EventReader(element, "\(place(key))[\(index)]"))
    }
    return objects
  }

  func error(_ key: String, _ reason: String) -> LanguageError {
    LanguageError("\(place(key)): \(reason)")
  }

  private func required<Value>(_ key: String, _ value: Value?) throws(LanguageError) -> Value {
    guard let value else { throw error(key, "is missing") }
    return value
  }

  private func elements(_ key: String) throws(LanguageError) -> [JSONValue] {
    switch object[key] {
    case nil: []
    case .array(let elements)?: elements
    default: throw error(key, "must be a list")
    }
  }

  private func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
