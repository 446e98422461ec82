import RPCProtocols

/// A condition on values that have names: `NAME` (present), `NAME:VALUE` (one of its values is equal), or `!` before
/// either.
public struct NamedValueCondition: Sendable, Hashable, CustomStringConvertible {
  /// The name.
  public private(set) var name: String
  /// The value to compare with; nil if only presence counts.
  public private(set) var value: String?
  /// Whether the condition holds if the name has no value, or other values only.
  package let isNegated: Bool

  private init(_ text: some StringProtocol) {
    isNegated = text.hasPrefix("!")
    let parts = text.dropFirst(isNegated ? 1 : 0).split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    name = String(parts[0])
    value = parts.count > 1 ? String(parts[1]) : nil
  }

  /// Parses a condition on a header, whose name is then in lower case; returns nil if it is invalid.
  public static func header(_ text: some StringProtocol) -> NamedValueCondition? {
    var condition = NamedValueCondition(text)
    guard HeaderSyntax.isName(condition.name) else { return nil }
    condition.name = condition.name.lowercased()
    condition.value = condition.value.map(HeaderSyntax.trimmed)
    return condition
  }

  /// Parses a condition on an attribute of the call; returns nil if it is invalid.
  public static func attribute(_ text: some StringProtocol) -> NamedValueCondition? {
    let condition = NamedValueCondition(text)
    return CallAttributes.isKey(condition.name) ? condition : nil
  }

  /// Whether it holds for the values of its name.
  package func holds(for values: [String]) -> Bool {
    (value.map(values.contains) ?? !values.isEmpty) != isNegated
  }

  /// The condition as text.
  public var description: String { "\(isNegated ? "!" : "")\(name)\(value.map { ":\($0)" } ?? "")" }
}
