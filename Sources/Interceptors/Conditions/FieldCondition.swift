import Language
import Protobuf

/// A condition on a field of a message: `PATH OP VALUE`, such as `user.age >= 18`.
struct FieldCondition: CustomStringConvertible {
  /// The test of the field.
  enum Test {
    case compare(Comparison, String)
    case matches(TextPattern, isWanted: Bool)
    case contains(String)
    case length(CountBound)
    case exists(isWanted: Bool)
  }

  /// The text that was parsed.
  let description: String
  let path: FieldPath
  let test: Test

  /// Parses a condition.
  init(_ text: String) throws(LanguageError) {
    description = String(Substring(text).trimmed)
    let end = Substring(description).endOfFieldPath
    do throws(FieldPathError) {
      path = try FieldPath(String(description[..<end]))
    } catch {
      throw LanguageError("\(description.debugDescription) does not start with a field path: \(error)")
    }
    test = try Self.test(description[end...].trimmed)
  }

  private static func test(_ text: Substring) throws(LanguageError) -> Test {
    var rest = text
    if let comparison = Comparison.parse(from: &rest) {
      let operand = try self.operand(rest.trimmed)
      switch comparison {
      case .matches, .differs: return .matches(try TextPattern(operand), isWanted: comparison == .matches)
      default: return .compare(comparison, operand)
      }
    }
    let word = text[..<(text.utf8.firstIndex { $0 == 0x20 || $0 == 0x09 } ?? text.endIndex)]
    rest = text[word.endIndex...].trimmed
    switch word {
    case "exists" where rest.isEmpty: return .exists(isWanted: true)
    case "missing" where rest.isEmpty: return .exists(isWanted: false)
    case "contains" where !rest.isEmpty: return .contains(try operand(rest))
    case "length": return .length(try CountBound(rest))
    default:
      throw LanguageError(
        "must be of the form PATH OP VALUE, where OP is one of ==, !=, <, <=, >, >=, =~, !~, contains, length, "
          + "or PATH exists, PATH missing")
    }
  }

  /// The operand, literal or as a quoted JSON string.
  private static func operand(_ text: Substring) throws(LanguageError) -> String {
    guard text.utf8.first == UInt8(ascii: "\"") else { return String(text) }
    guard case .string(let content)? = try? JSONValue(parsing: Array(text.utf8)) else {
      throw LanguageError("\(text) starts with a quote, but is not a valid JSON string")
    }
    return content
  }

  /// Throws if messages of `type` cannot be checked with it.
  func check(against type: MessageType) throws(LanguageError) {
    do throws(FieldPathError) {
      _ = try path.leaf(in: type)
    } catch {
      throw LanguageError("\(description): \(error)")
    }
    guard let leaf = FieldLeaf(of: path, in: type) else { return }
    try leaf.check(test, of: self)
    guard leaf.isWhole, case .compare(_, let operand) = test else { return }
    var message = Message(type)
    do throws(FieldPathError) {
      try message.setJSON(Array(operand.utf8), at: path)
    } catch {
      guard case .json = error else { return }
      throw LanguageError("\(description): \(error)")
    }
  }

  /// Checks a message.
  ///
  /// - Returns: The value found if the condition fails; `nil` if it holds.
  func mismatch(in message: Message) throws(LanguageError) -> String? {
    do throws(FieldPathError) {
      return try holds(for: message) ? nil : found(in: message)
    } catch {
      throw LanguageError("\(description): \(error)")
    }
  }

  private func holds(for message: Message) throws(FieldPathError) -> Bool {
    switch test {
    case .exists(let isWanted): return try message.has(path) == isWanted
    case .length(let bound): return bound.allows(try message.length(path))
    case .compare, .matches, .contains:
      guard let leaf = FieldLeaf(of: path, in: message.type) else { return false }
      return try leaf.holds(test, at: path, in: message)
    }
  }

  /// The value found, for people.
  private func found(in message: Message) throws(FieldPathError) -> String {
    if case .length = test { return "\(try message.length(path))" }
    return String(decoding: try message.json(at: path), as: UTF8.self).shortened
  }
}

extension String {
  /// The text, cut to a readable length.
  var shortened: String {
    let limit = 300
    return count > limit ? "\(prefix(limit))… (\(utf8.count) bytes)" : self
  }
}
