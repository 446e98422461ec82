import RPCurlProtobuf

/// Why what a user writes is invalid, or has no value: a path, a value, a condition, a pattern, a setting, or a file of these.
package struct LanguageError: Error, Equatable, Sendable {
  /// The reason.
  package let reason: String
  /// What to do; nil if there is nothing to say.
  package let hint: String?
  /// The name that the schema lacks, if that is the reason: a server may have it.
  package let missingName: UnresolvedName?

  /// Makes an error.
  package init(_ reason: String, hint: String? = nil, missingName: UnresolvedName? = nil) {
    self.reason = reason
    self.hint = hint
    self.missingName = missingName
  }

  /// The reason and the hint in one line.
  package var text: String { reason + (hint.map { "; \($0)" } ?? "") }

  /// The error with the place before its reason.
  package func at(_ place: String) -> LanguageError {
    LanguageError("\(place): \(reason)", hint: hint, missingName: missingName)
  }

  /// The error with a hint, which names the page of the language if there is nothing else to say.
  var withHint: LanguageError {
    hint == nil ? LanguageError(reason, hint: "see \"rpcurl help language\"", missingName: missingName) : self
  }
}
