import Interception
import Language
import RPCProtocols

/// A condition on metadata: `NAME` (present), `!NAME` (absent), `NAME:VALUE` (has this value), or
/// `NAME=~REGEX` (has a matching value).
struct MetadataCondition: CustomStringConvertible {
  private enum Test {
    case plain(NamedValueCondition)
    case matches(TextPattern)
  }

  /// The text that was parsed.
  let description: String
  private let name: String
  private let test: Test

  init(_ text: String) throws(LanguageError) {
    description = text
    let name = text.prefix { $0 != ":" && $0 != "=" && $0 != " " }
    let rest = text.dropFirst(name.count).trimmed
    if rest.hasPrefix("=~"), !text.hasPrefix("!"), HeaderSyntax.isName(name) {
      self.name = name.lowercased()
      test = .matches(try TextPattern(String(rest.dropFirst(2).trimmed)))
    } else if let condition = NamedValueCondition.header(name + rest),
      !condition.isNegated || condition.value == nil
    {
      self.name = condition.name
      test = .plain(condition)
    } else {
      throw LanguageError("must be NAME, !NAME, NAME:VALUE or NAME=~REGEX")
    }
  }

  /// Whether it holds for `headers`.
  func holds(for headers: Headers) -> Bool {
    switch test {
    case .plain(let condition): condition.holds(for: headers.values(name))
    case .matches(let pattern): headers.values(name).contains { pattern.isFound(in: $0) }
    }
  }

  /// The values of the name, for people.
  func found(in headers: Headers) -> String {
    let values = headers.values(name)
    return values.isEmpty ? "no \(name)" : values.map(\.debugDescription).joined(separator: ", ")
  }
}
