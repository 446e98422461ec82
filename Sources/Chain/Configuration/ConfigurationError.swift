import RPCurlLanguage

/// Why an interceptor cannot be made from its configuration.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The interceptor's name.
  package var interceptor: String
  /// The key of the invalid setting; nil if the error is not about one setting.
  package var key: String?
  /// What is wrong.
  package var reason: String
  /// What to do about it.
  package var hint: String?

  /// Makes an error.
  package init(interceptor: String, key: String? = nil, reason: String, hint: String? = nil) {
    self.interceptor = interceptor
    self.key = key
    self.reason = reason
    self.hint = hint
  }

  /// Makes the error of a setting.
  package init(interceptor: String, key: String, _ error: LanguageError) {
    self.init(interceptor: interceptor, key: key, reason: error.reason, hint: error.hint)
  }

  /// One line: interceptor, key, reason.
  package var description: String {
    "\(interceptor): \(key.map { "\($0): " } ?? "")\(reason)"
  }
}
