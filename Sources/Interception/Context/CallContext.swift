import RPCProtocols

/// What an interceptor may request of its call, besides the use of its tokens. `[any thread]`
///
/// What one thread requests, here and with tokens, takes effect in that order. After the call has finished, requests
/// have no effect.
public struct CallContext: Sendable {
  /// The interceptor's name in logs and errors.
  public let name: String
  let handle: InterceptorHandle
  private let sink: TokenSink
  // Used on the loop's thread only.
  private nonisolated(unsafe) let clock: any ChainClock
  private let logSink: LogSink
  private let findingSink: FindingSink

  init(name: String, handle: InterceptorHandle, sink: TokenSink, _ environment: ChainEnvironment) {
    self.name = name
    self.handle = handle
    self.sink = sink
    clock = environment.clock
    logSink = environment.log
    findingSink = environment.onFinding
  }

  /// The time of the loop's clock, which deadlines and timers use. `[loop's thread]`
  public var now: MonotonicClock.Instant { clock.now }

  /// The call's deadline, which an interceptor may have changed; nil if it has none. `[loop's thread]`
  public var deadline: MonotonicClock.Instant? { sink.chain?.progress.deadline }

  /// Ends the call at once: every interceptor that the call has reached, and the caller, receive `canceled` with this
  /// reason. Does nothing if the call has ended.
  public func cancel(_ reason: String) {
    sink.post(.cancel(RPCError(.canceled, reason, origin: .interceptor(name))))
  }

  /// Fails the call as a token does: interceptors further out receive the error, those further in that it was canceled.
  public func fail(_ error: RPCError) {
    onLoop { chain, handle in chain.fail(error, by: handle) }
  }

  /// Writes to the log, with this interceptor's name.
  public func log(_ level: LogLevel, _ text: String) {
    logSink(LogRecord(level: level, source: name, text: text))
  }

  /// Reports a finding of this interceptor about the call.
  public func report(_ kind: Finding.Kind, _ text: String) {
    findingSink(Finding(interceptor: name, kind: kind, text: text))
  }

  /// Sends a further message, after everything that this interceptor has received so far, and before the half-close.
  /// Ignored, with a warning, after this interceptor has forwarded the half-close.
  public func inject(request message: Payload) {
    sink.inject(message, by: handle, isRequest: true)
  }

  /// Starts the response in place of a server, for an interceptor that holds `requestStart`: it then sends messages to
  /// the caller with `inject(response:)`, and ends the call with `respond` on the token of `requestStart`, whose
  /// headers are not sent again.
  ///
  /// To be called once. The interceptor still receives the request.
  public func start(response start: ResponseStart) {
    let handle = handle
    let isGivenStart = sink.isDelivering(.requestStart, handle)
    sink.post(.run { chain in chain.startResponse(start, by: handle, isGivenStart: isGivenStart) })
  }

  /// Sends the caller a further message, after everything that this interceptor has received so far, and before the
  /// end, or before the response with which this interceptor ends the call. Ignored, with a warning, after this
  /// interceptor has forwarded the end.
  public func inject(response message: Payload) {
    sink.inject(message, by: handle, isRequest: false)
  }

  /// Runs `body` when the chain and the transport take more of the request, unless the call finishes first. For an
  /// interceptor that makes many messages: backpressure. `[loop's thread]`
  public func whenRequestWanted(_ body: @escaping () -> Void) {
    onLoop { chain, _ in chain.roomWaiters.request.append(body) }
  }

  /// Runs `body` when the chain and the caller take more of the response, unless the call finishes first. For an
  /// interceptor that makes many messages: backpressure. `[loop's thread]`
  public func whenResponseWanted(_ body: @escaping () -> Void) {
    onLoop { chain, _ in chain.roomWaiters.response.append(body) }
  }

  /// Schedules `body` on the loop's thread, unless the call finishes first.
  public func post(_ body: @escaping @Sendable () -> Void) {
    sink.post(.run { _ in body() })
  }

  /// Runs `body` on the loop's thread when `delay` has passed, unless the call finishes first. `[loop's thread]`
  ///
  /// - Returns: The timer, to cancel it.
  @discardableResult
  public func after(_ delay: Duration, _ body: @escaping () -> Void) -> CallTimer {
    let timer = CallTimer(number: handle.takeTimerNumber())
    onLoop { chain, handle in chain.setTimer(timer, of: handle, after: delay, body) }
    return timer
  }

  /// Cancels a timer; does nothing if it has fired.
  public func cancel(_ timer: CallTimer) {
    onLoop { chain, handle in chain.cancelTimer(timer, of: handle) }
  }

  /// Makes a subrequest: a unary call that does not pass through this interceptor. `[loop's thread]`
  ///
  /// - Parameters:
  ///   - call: What to call.
  ///   - completion: Called once on the loop's thread, unless this call finishes first. If the subrequest is lingering, it
  ///     is called in any case.
  public func call(_ call: Subrequest, _ completion: @escaping (SubrequestResponse) -> Void) {
    onLoop { chain, handle in chain.make(call, of: handle, completion) }
  }

  /// Opens a subrequest of any kind, whose message is ignored. `[loop's thread]`
  ///
  /// - Parameters:
  ///   - call: What to call.
  ///   - kind: Which sides are streams.
  ///   - receive: Called on the loop's thread, unless this call finishes first, never from within this method.
  /// - Returns: The stream; nil if this call has ended.
  public func open(
    _ call: Subrequest, _ kind: CallKind, _ receive: @escaping (SubrequestEvent) -> Void
  ) -> (any SubrequestStream)? {
    sink.chain?.open(call, kind, of: handle, receive)
  }

  /// Makes a plain HTTP request. `[loop's thread]`
  ///
  /// - Parameters:
  ///   - fetch: The request.
  ///   - completion: Called once on the loop's thread, unless this call finishes first.
  public func fetch(_ fetch: HTTPFetch, _ completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void)
  {
    onLoop { chain, handle in chain.make(fetch, of: handle, completion) }
  }

  /// The closures passed here are the interceptor's, which belongs to the loop's thread, and run there.
  private func onLoop(_ body: @escaping (Chain, InterceptorHandle) -> Void) {
    nonisolated(unsafe) let body = body
    let handle = handle
    sink.post(.run { chain in body(chain, handle) })
  }
}

/// Identifies a timer of an interceptor.
public struct CallTimer: Hashable, Sendable {
  let number: Int
}
