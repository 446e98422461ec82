import RPCProtocols

/// What lies above the chain: the caller. The chain calls it on the loop's thread.
///
/// The chain keeps it until `finished`. It may call the chain back from any of these methods; what it says is
/// worked off after the method returns.
public protocol ChainCaller: AnyObject {
  /// An interceptor has changed the call's deadline: from now on this is the one to keep.
  func deadlineChanged(to deadline: ContinuousClock.Instant?)
  /// The response starts. At most once.
  func responseStarted(_ start: ResponseStart)
  /// A message has come: typed when an interceptor changed it so, its bytes otherwise.
  func responseReceived(_ message: Payload)
  /// A serialized message has come that no interceptor had; valid during this call only.
  func responseReceived(_ message: RawSpan)
  /// The call has ended: success or the one error. Exactly once for a call that was started.
  func responseEnded(_ end: ResponseEnd)
  /// What the call took, as it left the chain. Once.
  func measured(_ metrics: CallMetrics)
  /// Everything is done and every interceptor has finished. Once, last.
  func finished(_ outcome: Outcome)
  /// `Chain.wantsMoreInput` has changed: pause the input, or go on reading it.
  func inputWanted(_ isWanted: Bool)
}

extension ChainCaller {
  /// For who keeps no deadline.
  public func deadlineChanged(to deadline: ContinuousClock.Instant?) {}
}

/// What lies below the chain: the protocol and the network. The chain calls it on the loop's thread.
///
/// The chain keeps it until the call has finished. It may call the chain back from any of these methods.
public protocol ChainTransport: AnyObject {
  /// Starts the request. Once, and first; never called for a call that ended before.
  func start(_ start: RequestStart)
  /// Sends one serialized message, not yet compressed.
  func send(_ bytes: [UInt8])
  /// Half-closes. Once, after every message.
  func closeRequest()
  /// The call has ended without the server: entry at once. Once, after `start`; what is received after it is
  /// ignored.
  func cancel(_ error: RPCError)
  /// `Chain.wantsMoreResponse` has changed: pause receiving, or go on.
  func responseWanted(_ isWanted: Bool)
  /// The call has ended: give the chain what it took, with `Chain.measured`, now or soon. Once, last.
  func measure()
}
