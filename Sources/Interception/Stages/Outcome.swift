import RPCProtocols

/// How a call ended, as the caller saw it.
public struct Outcome: Sendable, Equatable {
  /// Status and trailers.
  public var end: ResponseEnd
  /// What the call took.
  public var metrics: CallMetrics

  /// Makes an outcome.
  public init(end: ResponseEnd, metrics: CallMetrics = CallMetrics()) {
    self.end = end
    self.metrics = metrics
  }
}
