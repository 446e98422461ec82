import RPCProtocols

/// A condition on headers: `NAME` (present), `NAME:VALUE` (one of its values is equal), or `!` before either.
public struct HeaderCondition: Sendable, Hashable, CustomStringConvertible {
  /// The name, in lower case.
  public let name: String
  /// The value to compare with; nil if only presence counts.
  public let value: String?
  /// Whether the condition holds if the header is not there, or has other values only.
  package let isNegated: Bool

  /// Parses a condition; returns nil if it is invalid.
  public init?(_ text: some StringProtocol) {
    let isNegated = text.hasPrefix("!")
    let text = text.dropFirst(isNegated ? 1 : 0)
    let name = text.prefix { $0 != ":" }
    guard HeaderSyntax.isName(name) else { return nil }
    self.isNegated = isNegated
    self.name = name.lowercased()
    value =
      name.endIndex == text.endIndex
      ? nil : String(HeaderSyntax.trimmed(text[text.index(after: name.endIndex)...]))
  }

  /// Whether it holds for headers.
  package func holds(for headers: Headers) -> Bool {
    let values = headers.values(name)
    return (value.map { values.contains($0) } ?? !values.isEmpty) != isNegated
  }

  /// The condition as text.
  public var description: String { "\(isNegated ? "!" : "")\(name)\(value.map { ":\($0)" } ?? "")" }
}
