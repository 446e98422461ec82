import RPCurlProtocols

/// What a descriptor is watched for.
package enum DescriptorEvents: Hashable, Sendable {
  case reading, writing
}

/// What a factory of interceptors may request outside of calls. It belongs to the loop's thread, except `post` and `log`.
///
/// Timers, calls and posted functions run only while the client's loop runs.
public struct FactoryNetwork {
  /// Makes a plain HTTP request, without the connection options of any call. The completion is called once on the
  /// loop's thread, never from within this function.
  public let fetch: (HTTPFetch, @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) -> Void
  /// Makes a unary call, which does not pass through the interceptors of the factory. Without a target of its own it goes
  /// to that of the client's latest request, whose protocol, codec and schema it has in any case. The completion is called
  /// once on the loop's thread, never from within this function.
  public let call: (Subrequest, @escaping (SubrequestResponse) -> Void) -> Void
  /// Runs a function soon on the loop's thread. `[any thread]`
  public let post: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Writes to the log. `[any thread]`
  public package(set) var log: LogSink
  /// The facts of a call like the client's latest request; nil if there is none.
  package let facts: () -> CallFacts?
  /// Calls a function on the loop's thread whenever a descriptor is ready or its peer is closed; nil ends that, which must
  /// be before the descriptor is closed. Does nothing in a network without a loop. `[loop's thread]`
  package let watch: (Int32, DescriptorEvents, (() -> Void)?) -> Void
  private let clock: (any ChainClock)?

  /// Makes a network.
  ///
  /// - Parameters:
  ///   - log: Receives log records; called on any thread.
  ///   - clock: The loop's clock; nil for a network without timers.
  ///   - post: Schedules work on the loop's thread; called on any thread.
  ///   - watch: Watches a descriptor; without a function it stops that.
  ///   - facts: Returns the facts of a call like the client's latest request.
  ///   - call: Makes a call.
  ///   - fetch: Makes an HTTP request.
  package init(
    log: @escaping LogSink, clock: (any ChainClock)? = nil,
    post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { _ in },
    watch: @escaping (Int32, DescriptorEvents, (() -> Void)?) -> Void = { _, _, _ in },
    facts: @escaping () -> CallFacts? = { nil },
    call: @escaping (Subrequest, @escaping (SubrequestResponse) -> Void) -> Void = { _, _ in },
    fetch: @escaping (HTTPFetch, @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) -> Void
  ) {
    self.log = log
    self.clock = clock
    self.post = post
    self.watch = watch
    self.facts = facts
    self.call = call
    self.fetch = fetch
  }

  /// Runs `body` when `delay` has passed.
  ///
  /// - Parameters:
  ///   - delay: The time to wait.
  ///   - body: Called once, on the loop's thread.
  /// - Returns: The timer, to cancel it.
  @discardableResult
  public func after(_ delay: Duration, _ body: @escaping () -> Void) -> CallTimer {
    CallTimer(number: clock?.schedule(after: delay, body) ?? 0)
  }

  /// Cancels a timer; does nothing if it has fired.
  ///
  /// - Parameter timer: The result of `after`.
  public func cancel(_ timer: CallTimer) { clock?.cancel(timer.number) }
}
