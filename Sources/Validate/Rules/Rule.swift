import RPCurlCEL
import RPCurlLanguage
import RPCurlProtobuf

/// A rule of a field, an element or a message.
struct Rule: Sendable {
  /// Returns the message if a value breaks the rule; nil if it does not.
  typealias Test = @Sendable (FieldContents, inout RuleRun) throws(LanguageError) -> String?

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
