/// Why an interceptor cannot be made from its configuration.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The interceptor's name.
  public var interceptor: String
  /// The key of the invalid setting; nil if the error is not about one setting.
  public var key: String?
  /// What is wrong.
  public var reason: String
  /// What to do about it.
  public var hint: String?

  /// Makes an error.
  public init(interceptor: String, key: String? = nil, reason: String, hint: String? = nil) {
    self.interceptor = interceptor
    self.key = key
    self.reason = reason
    self.hint = hint
  }

  /// One line: interceptor, key, reason.
  public var description: String {
    "\(interceptor): \(key.map { "\($0): " } ?? "")\(reason)"
  }
}
