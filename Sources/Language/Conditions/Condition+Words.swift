extension Condition {
  /// The words that a condition can start with, instead of a path.
  package static let words = ConditionParser.words
  /// The operators and words that can follow a path.
  package static let operators =
    ["==", "!=", "<", "<=", ">", ">=", "=~", "!~"] + ValueCondition.words + ValueCondition.wordsOfValues
}
