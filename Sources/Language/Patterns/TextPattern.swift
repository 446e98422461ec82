/// A regular expression in RE2's syntax.
///
/// It is compiled on creation, so that an invalid one is rejected as configuration. Matching takes linear
/// time, because the text comes from servers.
package struct TextPattern: Sendable {
  /// The maximum number of steps of a compiled expression.
  package static let stepLimit = PatternProgram.limit
  /// The number of steps that may be entered: less than a second.
  package static let standardBudget = 20_000_000
  /// The error of an expression that needs more.
  package static let tooLong = LanguageError("the regular expression takes too long")

  /// The expression as written.
  package let source: String
  /// Whether it has a group that captures.
  let hasGroup: Bool
  private let program: PatternProgram

  /// Compiles an expression.
  ///
  /// - Parameter source: The expression.
  /// - Throws: A `LanguageError` that explains the error in the expression.
  package init(_ source: String) throws(LanguageError) {
    self.source = source
    let node: PatternNode
    do throws(LanguageError) {
      node = try PatternParser.parse(source)
    } catch {
      throw LanguageError(
        "\(source.debugDescription) is not a valid regular expression: \(error.reason)",
        hint: error.hint ?? "a backslash before a sign makes it a literal")
    }
    guard let program = PatternProgram(node) else {
      throw LanguageError(
        "\(source.debugDescription) is too large for a regular expression",
        hint: "repeat less, or match a part of the text")
    }
    self.program = program
    hasGroup = node.hasGroup
  }

  /// The expression that matches a text literally.
  static func quoted(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { source, scalar in
      if "\\.+*?()|[]{}^$".unicodeScalars.contains(scalar) { source += "\\" }
      source.unicodeScalars.append(scalar)
    }
  }

  /// Whether it matches anywhere in `text`.
  package func isFound(in text: String) -> Bool { program.isFound(in: text) }

  /// Whether it matches anywhere in `text`; nil if that takes more than `budget` steps, which are subtracted.
  package func isFound(in text: String, budget: inout Int) -> Bool? {
    program.isFound(in: text, budget: &budget)
  }

  /// Where the expression matches first in a text.
  struct Match: Equatable {
    let text: String
    /// The text of the first group; nil if it is not a part of the match, as in `a|(b)`.
    let group: String?
  }

  /// The first match in `text`, and of those that begin there the one that Perl prefers; nil if nothing matches.
  ///
  /// - Parameter budget: The number of steps that may be entered.
  /// - Throws: `LanguageError` if it needs more.
  func firstMatch(
    in text: String, budget: Int = TextPattern.standardBudget
  ) throws(LanguageError) -> Match? {
    var budget = budget
    let match = try program.firstMatch(in: text, budget: &budget)
    return match.map {
      Match(text: text.scalars($0.start..<$0.end), group: $0.group.map(text.scalars))
    }
  }
}

extension String {
  /// A part of the text, by numbers of characters.
  fileprivate func scalars(_ range: Range<Int>) -> String {
    let part = unicodeScalars.dropFirst(range.lowerBound).prefix(range.count)
    return String(String.UnicodeScalarView(part))
  }
}

extension TextPattern: Equatable {
  package static func == (one: TextPattern, other: TextPattern) -> Bool { one.source == other.source }
}
