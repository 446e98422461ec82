import RPCProtocols

/// A condition on metadata: `NAME` (present), `!NAME` (absent), `NAME:VALUE` (has this value), or
/// `NAME=~REGEX` (has a matching value).
struct MetadataCondition: CustomStringConvertible {
  private enum Test {
    case isThere
    case isMissing
    case equals(String)
    case matches(TextPattern)
  }

  /// The text that was parsed.
  let description: String
  private let name: String
  private let test: Test

  init(_ text: String) throws(ConditionError) {
    description = text
    let isNegated = text.hasPrefix("!")
    let name = text.dropFirst(isNegated ? 1 : 0).prefix { $0 != ":" && $0 != "=" && $0 != " " }
    guard HeaderSyntax.isName(String(name)) else {
      throw ConditionError("must be NAME, !NAME, NAME:VALUE or NAME=~REGEX")
    }
    self.name = name.lowercased()
    let rest = text.dropFirst(name.count + (isNegated ? 1 : 0)).trimmed
    if rest.isEmpty {
      test = isNegated ? .isMissing : .isThere
    } else if !isNegated, rest.hasPrefix(":") {
      test = .equals(String(rest.dropFirst().trimmed))
    } else if !isNegated, rest.hasPrefix("=~") {
      test = .matches(try TextPattern(String(rest.dropFirst(2).trimmed)))
    } else {
      throw ConditionError("must be NAME, !NAME, NAME:VALUE or NAME=~REGEX")
    }
  }

  /// Whether it holds for `headers`.
  func holds(for headers: Headers) -> Bool {
    let values = headers.values(name)
    return switch test {
    case .isThere: !values.isEmpty
    case .isMissing: values.isEmpty
    case .equals(let wanted): values.contains(wanted)
    case .matches(let pattern): values.contains { pattern.isFound(in: $0) }
    }
  }

  /// The values of the name, for people.
  func found(in headers: Headers) -> String {
    let values = headers.values(name)
    return values.isEmpty ? "no \(name)" : values.map(\.debugDescription).joined(separator: ", ")
  }
}
