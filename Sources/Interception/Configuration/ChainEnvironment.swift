import RPCProtocols

/// The time of the loop on which chains live. They have none of their own, so that a test can give them one.
public protocol ChainClock: AnyObject {
  /// The time now.
  var now: ContinuousClock.Instant { get }
  /// A count of nanoseconds that is cheap to read, and may be some milliseconds late. Read at every stage.
  var coarseNanoseconds: Int64 { get }
  /// Calls `body` once on the loop's thread when `delay` has passed, and never from within this method.
  ///
  /// - Returns: The timer's number, never 0, to cancel it with.
  func schedule(after delay: Duration, _ body: @escaping () -> Void) -> Int
  /// Forgets a timer; one that has fired is no error.
  func cancel(_ timer: Int)
}

/// What chains get from the client that makes them.
public struct ChainEnvironment {
  /// The loop's time.
  public var clock: any ChainClock
  /// Has work run on the loop's thread, soon. Called on any thread.
  public var post: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Where interceptors' log records go. Called on any thread.
  public var log: LogSink
  /// Where interceptors' findings go. Called on any thread.
  public var onFinding: FindingSink = { _ in }
  /// Makes the calls of interceptors' own; `nil` when there is no network for them.
  public var subrequests: (any SubrequestTransport)?
  /// How many bytes may wait in a chain, for each direction, before it asks the input or the network to pause.
  public var windowBytes: Int
  /// The registrations that calls made from within do not pass through either: those of the interceptors that
  /// are making this call on their own account.
  public var excluded: Set<RegistrationID> = []

  /// Makes an environment.
  public init(
    clock: any ChainClock, post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    log: @escaping LogSink = { _ in }, subrequests: (any SubrequestTransport)? = nil,
    windowBytes: Int = Chain.defaultWindowBytes
  ) {
    self.clock = clock
    self.post = post
    self.log = log
    self.subrequests = subrequests
    self.windowBytes = windowBytes
  }
}
