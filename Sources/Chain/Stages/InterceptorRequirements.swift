/// What an interceptor requires of the chain. Read once for each call, with the stages.
public struct InterceptorRequirements: Sendable, Equatable {
  /// Whether the interceptor receives values one at a time: while it holds one, later values of that direction wait in
  /// the chain.
  public var isSerial: Bool
  /// How many bytes the interceptor may have to hold at once before it forwards the first; 0 is the default window of
  /// the chain. At a full window the chain pauses the caller or the transport.
  public var windowBytes: Int
  /// Whether the interceptor's verdicts wait for later values of the same direction, or its end: it collects them. A full
  /// window then ends the call with `resource_exhausted`, since the later values would never arrive. Not with `isSerial`.
  public var collects: Bool
  /// How many bytes of the request are kept to be sent again at a retry; 0 for an interceptor that never retries.
  ///
  /// An interceptor that may retry divides the chain: interceptors further out see one call, with one request and one
  /// response; those further in have new instances for each attempt. A request that exceeds the limit is not kept, and
  /// cannot be retried.
  public var replayLimitBytes: Int
  /// Whether the interceptor may hold values for long on purpose, such as until other calls have ended. For others,
  /// the log warns after five seconds.
  public var holdsForLong: Bool
  /// How the chain makes several attempts at once, with `replayLimitBytes`; nil makes one at a time.
  package var hedging: Hedging?
  /// Whether another component (the plugin watchdog) reports callbacks that block the loop.
  package var isWatched = false

  /// Makes requirements.
  public init(
    isSerial: Bool = false, collects: Bool = false, windowBytes: Int = 0, replayLimitBytes: Int = 0,
    holdsForLong: Bool = false
  ) {
    self.isSerial = isSerial
    self.collects = collects
    self.windowBytes = windowBytes
    self.replayLimitBytes = replayLimitBytes
    self.holdsForLong = holdsForLong
  }
}
