/// A regular expression in RE2's syntax.
///
/// It is compiled on creation, so that an invalid one is rejected as configuration. Matching takes linear
/// time, because the text comes from servers.
struct TextPattern {
  let source: String
  private let program: PatternProgram

  /// - Throws: A `ConditionError` that explains the error in the expression.
  init(_ source: String) throws(ConditionError) {
    self.source = source
    let node: PatternNode
    do throws(ConditionError) { node = try PatternParser.parse(source) } catch {
      throw ConditionError("\(source.debugDescription) is not a valid regular expression: \(error.reason)")
    }
    guard let program = PatternProgram(node) else {
      throw ConditionError("\(source.debugDescription) is too large for a regular expression")
    }
    self.program = program
  }

  /// Whether it matches anywhere in `text`.
  func isFound(in text: String) -> Bool { program.isFound(in: text) }
}

/// Why a condition is invalid, or does not apply to a type.
struct ConditionError: Error, Equatable {
  /// The reason, in a few words.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
