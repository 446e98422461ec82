import RPCurlProtocols

/// How a call ended for the caller.
public struct Outcome: Sendable, Equatable {
  /// Status and trailers.
  public var end: ResponseEnd
  /// The metrics of the call.
  public var metrics: CallMetrics

  /// Makes an outcome.
  package init(end: ResponseEnd, metrics: CallMetrics = CallMetrics()) {
    self.end = end
    self.metrics = metrics
  }
}
