/// A condition on the values of a name, without the word before it: `x-tenant == blue`, `x-tenant` (it has a value),
/// `x-tenant absent`.
package struct NamedCondition: Sendable, CustomStringConvertible {
  /// The name as it is written.
  package let name: String
  private let condition: ValueCondition

  /// Parses a condition.
  ///
  /// - Parameters:
  ///   - text: The condition.
  ///   - isName: Whether a text is a name.
  /// - Throws: ``LanguageError`` if the text is not a condition.
  package init(parsing text: some StringProtocol, isName: (Substring) -> Bool) throws(LanguageError) {
    var parser = ConditionParser(text)
    (name, condition) = try parser.named(before: "", isName: isName)
  }

  private init(_ name: String, _ condition: ValueCondition) {
    self.name = name
    self.condition = condition
  }

  /// Whether its operand has no expressions, so that it can be evaluated.
  package var isLiteral: Bool { condition.operands.allSatisfy(\.isLiteral) }

  /// The condition with the values of the expressions in its operand.
  ///
  /// - Throws: ``LanguageError`` if there is no such value.
  package func filled(_ values: any TemplateValues) throws(LanguageError) -> NamedCondition {
    NamedCondition(name, try condition.filled(values) { path throws(LanguageError) in "\(path)" })
  }

  /// Whether it holds for the values of its name.
  package func holds(for values: [String]) -> Bool { (try? condition.holds(for: values)) ?? false }

  /// The condition as text.
  ///
  /// - Parameter shown: Returns the value that is compared with, redacted if necessary.
  package func text(_ shown: (String) -> String) -> String {
    let (comparison, operand): (String, String?) =
      switch condition.test {
      case .compare(let comparison, let operand): (comparison.rawValue, try? operand.words())
      case .contains(let operand): ("contains", try? operand.words())
      case .matches(let operand, let isWanted): (isWanted ? "=~" : "!~", operand.description)
      default: ("", nil)
      }
    guard let operand, shown(operand) != operand else { return description }
    return "\(name) \(comparison) \(shown(operand))"
  }

  /// The text of the condition; parsing it gives the same condition.
  package var description: String { "\(name) \(condition)" }
}

extension Substring {
  /// Removes and returns the name of a header, or of another value, and the white space after it.
  ///
  /// - Parameter word: What precedes the name, for hints.
  mutating func takeName(
    _ isName: (Substring) -> Bool, before word: String
  ) throws(LanguageError) -> Substring {
    let name = firstWord.prefix { !"=!<>".contains($0) }
    let rest = self[name.endIndex...]
    guard isName(name) else { throw Self.notAName(name, rest, word) }
    self = rest.stripped
    return name
  }

  /// The error that shows how the earlier forms `NAME:VALUE` and `!NAME` are written.
  private static func notAName(_ name: Substring, _ rest: Substring, _ word: String) -> LanguageError {
    let isNegated = name.isEmpty && rest.hasPrefix("!")
    let old = isNegated ? rest.dropFirst() : name + rest
    let parts = old.split(separator: ":", maxSplits: 1)
    let hint =
      switch parts.count {
      case 2: "write \(word)\(parts[0]) \(isNegated ? "!=" : "==") VALUE"
      case 1 where isNegated: "write \(word)\(parts[0]) absent"
      default: "such as \(word)x-tenant == blue, or \(word)x-tenant exists"
      }
    return LanguageError(
      parts.count == 2 && !isNegated
        ? "\(parts[0]) is followed by :" : name.isEmpty ? "missing name" : "\(name) is not a name",
      hint: hint)
  }
}
