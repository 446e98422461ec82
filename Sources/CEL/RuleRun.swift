import RPCurlLanguage

/// The resources of one validation.
package struct RuleRun {
  /// The steps that regular expressions and expressions may still take: rules come from servers.
  package var budget: Int
  /// The time, in nanoseconds since 1970.
  package let now: Int64

  package init(budget: Int = TextPattern.standardBudget, now: Int64) {
    self.budget = budget
    self.now = now
  }

  /// Subtracts steps from the budget.
  ///
  /// - Throws: `LanguageError` if none are left.
  mutating func spend(_ steps: Int) throws(LanguageError) {
    budget -= steps
    guard budget > 0 else { throw LanguageError("the expression takes too long") }
  }
}

extension TextPattern {
  /// Whether it matches anywhere in `text`.
  ///
  /// - Throws: `LanguageError` if that takes too long.
  package func matches(_ text: String, _ run: inout RuleRun) throws(LanguageError) -> Bool {
    guard let isFound = isFound(in: text, budget: &run.budget) else {
      throw TextPattern.tooLong
    }
    return isFound
  }
}
