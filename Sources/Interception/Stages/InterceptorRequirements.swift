/// What an interceptor asks of the chain beyond its stages. Asked once for each call, with the stages.
public struct InterceptorRequirements: Sendable, Equatable {
  /// Whether values come to it one at a time: while it holds one, later ones of that direction wait in the
  /// chain rather than being given to it.
  ///
  /// Counted for each pass: a message may come as bytes while the next is held as a typed message.
  public var isSerial: Bool
  /// How many bytes it may have to hold at once before it lets the first of them go; 0 is no more than the chain
  /// takes anyhow. Without it, one that collects a whole stream would wait for ever: at a full window the chain
  /// pauses the input or the network.
  public var windowBytes: Int
  /// How many bytes of the request are kept to be sent again at a retry; 0 when it never retries.
  ///
  /// An interceptor that may retry divides the chain: those further out see one call, with one request and
  /// one response, those further in have new instances in each attempt. A request that grows larger than this is no
  /// longer kept, and cannot be retried.
  public var replayLimitBytes: Int
  /// Whether somebody else tells when it blocks the loop, so that the chain need not.
  package var isWatched = false

  /// Makes requirements.
  public init(isSerial: Bool = false, windowBytes: Int = 0, replayLimitBytes: Int = 0) {
    self.isSerial = isSerial
    self.windowBytes = windowBytes
    self.replayLimitBytes = replayLimitBytes
  }
}
