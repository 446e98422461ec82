/// Why a value was refused: of an attribute, a shared value, or the method of a call.
public struct InvalidValue: Error, CustomStringConvertible {
  /// The reason, in one line.
  public let reason: String
  /// The reason.
  public var description: String { reason }

  init(_ reason: String) { self.reason = reason }
}
