import RPCProtocols

/// What lies above the chain: the caller. The chain calls it on the loop's thread.
///
/// The chain retains it until `finished`. It may call the chain from any of these methods; the calls take effect after
/// the method returns.
package protocol ChainCaller: AnyObject {
  /// An interceptor has changed the call's deadline: from now on this one applies.
  func deadlineChanged(to deadline: MonotonicClock.Instant?)
  /// The response starts. At most once.
  func responseStarted(_ start: ResponseStart)
  /// A message has arrived: typed if an interceptor changed it in this form, its bytes otherwise.
  func responseReceived(_ message: Payload)
  /// A serialized message has arrived that no interceptor received; valid during this call only.
  func responseReceived(_ message: RawSpan)
  /// The call has ended: success or the one error. Exactly once for a call that was started.
  func responseEnded(_ end: ResponseEnd)
  /// The metrics of the call, as they left the chain. Once.
  func measured(_ metrics: CallMetrics)
  /// The call is over and every interceptor has finished. Once, last.
  func finished(_ outcome: Outcome)
  /// `Chain.wantsMoreInput` has changed: pause the input, or continue to read it.
  func inputWanted(_ isWanted: Bool)
}

extension ChainCaller {
  /// Default: ignores deadline changes.
  package func deadlineChanged(to deadline: MonotonicClock.Instant?) {}
}

/// What lies below the chain: the protocol and the network. The chain calls it on the loop's thread.
///
/// The chain retains it until the call has finished. It may call the chain from any of these methods.
package protocol ChainTransport: AnyObject {
  /// Starts the request. Once, and first; never called for a call that ended before.
  func start(_ start: RequestStart)
  /// Sends one serialized message, not yet compressed.
  func send(_ bytes: [UInt8])
  /// Half-closes. Once, after every message.
  func closeRequest()
  /// The call has ended without the server: stop at once. Once, after `start`; the chain ignores what it receives
  /// afterwards.
  func cancel(_ error: RPCError)
  /// `Chain.wantsMoreResponse` has changed: pause receiving, or continue.
  func responseWanted(_ isWanted: Bool)
  /// The call has ended: call `Chain.measured` with its metrics, now or soon. Once, last.
  func measure()
}
