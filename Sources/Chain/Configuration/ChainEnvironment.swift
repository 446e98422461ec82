import RPCurlBase
import RPCurlProtocols

/// The clock of the loop. Chains use no other, so that a test can provide one.
package protocol ChainClock: AnyObject {
  /// The time now.
  var now: MonotonicClock.Instant { get }
  /// A count of nanoseconds that is cheap to read, and may be some milliseconds late. Read at each stage.
  var coarseNanoseconds: Int64 { get }
  /// How long the loop's thread has waited for a processor since a time of `coarseNanoseconds` over 100 ms ago, in nanoseconds.
  /// May include what it waited since the stage before, and in the first 50 ms since the start of the thread.
  func preemption(since begin: Int64) -> Int64
  /// Calls `body` once on the loop's thread when `delay` has passed, and never from within this method.
  ///
  /// - Returns: The timer's number, never 0, to cancel it with.
  func schedule(after delay: Duration, _ body: @escaping () -> Void) -> Int
  /// Cancels a timer; does nothing if it has fired.
  func cancel(_ timer: Int)
}

/// What a client provides to the chains that it makes.
package struct ChainEnvironment {
  /// The loop's clock.
  package var clock: any ChainClock
  /// Schedules work on the loop's thread. Called on any thread.
  package var post: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Receives the log records of interceptors. Called on any thread.
  package var log: LogSink
  /// Receives the findings of interceptors. Called on any thread.
  package var onFinding: FindingSink = { _ in }
  /// The credentials of the call, which log records and findings do not contain.
  package var secrets = CallSecrets()
  /// Makes the subrequests of interceptors; nil if there is no network for them.
  package var subrequests: (any SubrequestTransport)?
  /// How many bytes may wait in a chain, in each direction, before it asks the caller or the transport to pause.
  package var windowBytes: Int
  /// The registrations that the calls do not pass through: for a subrequest, those of the interceptors that made it.
  /// Its own subrequests do not pass through them either.
  package var excluded: Set<RegistrationID> = []

  /// Makes an environment.
  package init(
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
