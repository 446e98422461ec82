/// A regular expression that a user wrote, in Swift's (and mostly PCRE's) syntax.
///
/// It is compiled when it is read, so that a wrong one is refused as configuration.
struct TextPattern: @unchecked Sendable {  // used on the loop's thread only, once it is made
  let source: String
  private let regex: Regex<AnyRegexOutput>

  /// - Throws: A `ConditionError` with what the compiler has to say.
  init(_ source: String) throws(ConditionError) {
    self.source = source
    do {
      // By scalars: a pattern of bytes on the wire, not of what a reader takes for one character.
      regex = try Regex(source).matchingSemantics(.unicodeScalar)
    } catch {
      throw ConditionError("\(source.debugDescription) is not a regular expression: \(error)")
    }
  }

  /// Whether it is found anywhere in `text`.
  func isFound(in text: String) -> Bool { (try? regex.firstMatch(in: text)) != nil }
}

/// Why a condition cannot be made of what a user wrote, or does not fit what it is to be held against.
struct ConditionError: Error, Equatable {
  /// The reason, in a few words.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
