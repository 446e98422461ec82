/// A regular expression in RE2's syntax.
///
/// It is compiled on creation, so that an invalid one is rejected as configuration. Matching takes linear
/// time, because the text comes from servers.
package struct TextPattern {
  package let source: String
  private let program: PatternProgram

  /// Compiles an expression.
  ///
  /// - Parameters:
  ///   - source: The expression.
  ///   - hasASCIIClasses: Whether `\d`, `\w`, `\s` and `\b` mean characters of ASCII only, as in RE2.
  /// - Throws: A `ConditionError` that explains the error in the expression.
  package init(_ source: String, hasASCIIClasses: Bool = false) throws(ConditionError) {
    self.source = source
    let node: PatternNode
    do throws(ConditionError) {
      node = try PatternParser.parse(source, hasASCIIClasses: hasASCIIClasses)
    } catch {
      throw ConditionError("\(source.debugDescription) is not a valid regular expression: \(error.reason)")
    }
    guard let program = PatternProgram(node) else {
      throw ConditionError("\(source.debugDescription) is too large for a regular expression")
    }
    self.program = program
  }

  /// Whether it matches anywhere in `text`.
  package func isFound(in text: String) -> Bool { program.isFound(in: text) }

  /// Whether it matches anywhere in `text`; nil if that takes more than `budget` steps, which are subtracted.
  func isFound(in text: String, budget: inout Int) -> Bool? { program.isFound(in: text, budget: &budget) }
}

/// Why a condition is invalid, or does not apply to a type.
package struct ConditionError: Error, Equatable {
  /// The reason, in a few words.
  package let reason: String

  init(_ reason: String) { self.reason = reason }
}
