/// A regular expression that a user wrote, in RE2's syntax.
///
/// It is compiled when it is read, so that an invalid one is refused as configuration. It is matched against text that a
/// server sends, so matching takes linear time.
struct TextPattern {
  let source: String
  private let program: PatternProgram

  /// - Throws: A `ConditionError` that says what is wrong with the expression.
  init(_ source: String) throws(ConditionError) {
    self.source = source
    let node: PatternNode
    do throws(ConditionError) { node = try PatternParser.parse(source) } catch {
      throw ConditionError("\(source.debugDescription) is not a regular expression: \(error.reason)")
    }
    guard let program = PatternProgram(node) else {
      throw ConditionError("\(source.debugDescription) is too large a regular expression")
    }
    self.program = program
  }

  /// Whether it matches anywhere in `text`.
  func isFound(in text: String) -> Bool { program.isFound(in: text) }
}

/// Why a condition that a user wrote is invalid, or does not fit the type that it is checked against.
struct ConditionError: Error, Equatable {
  /// The reason, in a few words.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
