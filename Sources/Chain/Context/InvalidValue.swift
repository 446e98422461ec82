/// Why a value was refused: of a setting, an attribute, a shared value, or the method of a call.
public struct InvalidValue: Error, CustomStringConvertible {
  /// The reason, in one line.
  public let reason: String
  /// What to do about it.
  package let hint: String?
  /// The reason.
  public var description: String { reason }

  init(_ reason: String, hint: String? = nil) {
    self.reason = reason
    self.hint = hint
  }
}
