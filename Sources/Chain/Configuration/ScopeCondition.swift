import RPCurlLanguage
import RPCurlProtocols

/// A condition on the values of a header or an attribute, in the language of conditions: `NAME == VALUE`, `NAME =~ REGEX`,
/// `NAME` (it has a value), `NAME absent`.
public struct ScopeCondition: Sendable, Hashable, CustomStringConvertible {
  /// The name.
  public let name: String
  /// The condition as text.
  public let description: String
  private let condition: NamedCondition

  private init(_ condition: NamedCondition, name: String) {
    self.condition = condition
    self.name = name
    description = condition.description
  }

  /// Parses a condition on a header; returns nil if it is invalid.
  ///
  /// - Parameter text: The condition, as in the setting `when-header`.
  public static func header(_ text: some StringProtocol) -> ScopeCondition? {
    try? ScopeCondition(header: text)
  }

  /// Parses a condition on an attribute of the call; returns nil if it is invalid.
  ///
  /// - Parameter text: The condition, as in the setting `when-attribute`.
  public static func attribute(_ text: some StringProtocol) -> ScopeCondition? {
    try? ScopeCondition(attribute: text)
  }

  init(header text: some StringProtocol) throws(LanguageError) {
    let condition = try Self.condition(text) { HeaderSyntax.isName($0) }
    self.init(condition, name: condition.name.lowercased())
  }

  init(attribute text: some StringProtocol) throws(LanguageError) {
    let condition = try Self.condition(text) { CallAttributes.isKey(String($0)) }
    self.init(condition, name: condition.name)
  }

  private static func condition(
    _ text: some StringProtocol, isName: (Substring) -> Bool
  ) throws(LanguageError) -> NamedCondition {
    let condition = try NamedCondition(parsing: text, isName: isName)
    guard condition.isLiteral else {
      throw LanguageError("${…} has no value here", hint: "$${ is a literal ${")
    }
    return condition
  }

  /// Whether it holds for the values of its name.
  package func holds(for values: [String]) -> Bool { condition.holds(for: values) }

  /// The condition as text.
  ///
  /// - Parameter shown: Returns the value that is compared with, redacted if necessary.
  package func text(_ shown: (String) -> String) -> String { condition.text(shown) }

  /// Whether two conditions have the same text.
  public static func == (one: ScopeCondition, other: ScopeCondition) -> Bool {
    one.description == other.description
  }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
