/// Why a path, value, condition or pattern is invalid, or has no value.
package struct LanguageError: Error, Equatable, Sendable {
  /// The reason.
  package let reason: String
  /// What to do; nil if there is nothing to say.
  package let hint: String?

  /// Makes an error.
  package init(_ reason: String, hint: String? = nil) {
    self.reason = reason
    self.hint = hint
  }
}
