/// What an interceptor reports about a call, for programs as well as for people.
public struct Finding: Sendable, Equatable {
  /// What it means for the outcome.
  public enum Kind: Sendable, Equatable {
    /// Information that does not affect the outcome.
    case note
    /// A check failed, although the call's status may be ok.
    case failure
    /// The call ended with the expected status, which is not a failure.
    case expectedStatus
  }

  /// The interceptor's name.
  public var interceptor: String
  /// What it means for the outcome.
  public var kind: Kind
  /// What was found, one line.
  public var text: String

  /// Makes a finding.
  package init(interceptor: String, kind: Kind, text: String) {
    self.interceptor = interceptor
    self.kind = kind
    self.text = text
  }
}

/// Receives findings. Called on any thread.
public typealias FindingSink = @Sendable (Finding) -> Void
