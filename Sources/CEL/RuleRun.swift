import RPCurlLanguage

/// Why a rule cannot be compiled or evaluated.
package struct RuleProblem: Error, Equatable {
  /// The reason, in a few words.
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}

/// The resources of one validation.
package struct RuleRun {
  /// The steps that regular expressions and expressions may still take: rules come from servers.
  package var budget: Int
  /// The time, in nanoseconds since 1970.
  package let now: Int64

  package init(budget: Int = 20_000_000, now: Int64) {
    self.budget = budget
    self.now = now
  }

  /// Subtracts steps from the budget.
  ///
  /// - Throws: `RuleProblem` if none are left.
  mutating func spend(_ steps: Int) throws(RuleProblem) {
    budget -= steps
    guard budget > 0 else { throw RuleProblem("the expression takes too long") }
  }
}

extension TextPattern {
  /// Whether it matches anywhere in `text`.
  ///
  /// - Throws: `RuleProblem` if that takes too long.
  package func matches(_ text: String, _ run: inout RuleRun) throws(RuleProblem) -> Bool {
    guard let isFound = isFound(in: text, budget: &run.budget) else {
      throw RuleProblem("the regular expression takes too long")
    }
    return isFound
  }
}
