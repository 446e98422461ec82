import RPCurlProtobuf

/// A rule of a field, an element or a message.
struct Rule: Sendable {
  /// Returns the message if a value breaks the rule; nil if it does not.
  typealias Test = @Sendable (FieldContents, inout RuleRun) throws(RuleProblem) -> String?

  /// The identifier, such as `string.min_len`.
  let id: String
  let test: Test

  /// Makes a rule.
  init(_ id: String, test: @escaping Test) {
    self.id = id
    self.test = test
  }

  /// Makes a rule with a constant message.
  ///
  /// - Parameters:
  ///   - id: The identifier.
  ///   - message: The message of a violation.
  ///   - holds: Whether a value obeys the rule.
  init(_ id: String, _ message: String, holds: @escaping @Sendable (Value) -> Bool) {
    self.id = id
    test = { contents, _ in
      guard case .value(let value) = contents else { return nil }
      return holds(value) ? nil : message
    }
  }
}

/// Why a rule cannot be compiled or evaluated.
struct RuleProblem: Error, Equatable {
  /// The reason, in a few words.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// The resources of one validation.
struct RuleRun {
  /// The steps that regular expressions and expressions may still take: rules come from servers.
  var budget = 20_000_000
  /// The time, in nanoseconds since 1970.
  let now: Int64

  /// Subtracts steps from the budget.
  ///
  /// - Throws: `RuleProblem` if none are left.
  mutating func spend(_ steps: Int) throws(RuleProblem) {
    budget -= steps
    guard budget > 0 else { throw RuleProblem("the expression takes too long") }
  }
}
