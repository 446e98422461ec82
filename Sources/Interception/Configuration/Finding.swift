/// Something that an interceptor has found out about a call, for programs as much as for people.
public struct Finding: Sendable, Equatable {
  /// What it means for the outcome.
  public enum Kind: Sendable, Equatable {
    /// Nothing; it is worth knowing.
    case note
    /// The call is not as it should be, although its status may be ok.
    case failure
    /// The status that the call ended with is the one that was to be expected, so that it is no failure.
    case expectedStatus
  }

  /// The interceptor's name.
  public var interceptor: String
  /// What it means for the outcome.
  public var kind: Kind
  /// What was found, one line.
  public var text: String

  /// Makes a finding.
  public init(interceptor: String, kind: Kind, text: String) {
    self.interceptor = interceptor
    self.kind = kind
    self.text = text
  }
}

/// Where findings go. Called on any thread.
public typealias FindingSink = @Sendable (Finding) -> Void
