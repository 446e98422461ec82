import RPCProtocols

/// What an interceptor may ask of the call that it was made for, beside its tokens. `[any thread]`
///
/// What one thread says here and with tokens takes effect in the order in which it is said.
///
/// When the call has finished nothing that is asked here is heard any more.
public struct CallContext: Sendable {
  /// The interceptor's name, as logs and errors give it.
  public let name: String
  let handle: InterceptorHandle
  private let sink: TokenSink
  // Used on the loop's thread only, to which it belongs.
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

  /// The time by the loop's clock, which deadlines and timers go by. `[loop's thread]`
  public var now: ContinuousClock.Instant { clock.now }

  /// The call's deadline, which an interceptor may have changed; `nil` without one. `[loop's thread]`
  public var deadline: ContinuousClock.Instant? { sink.chain?.progress.deadline }

  /// Ends the call at once: every interceptor that saw it start, and the caller, receive `canceled` with this
  /// reason. Does nothing when the call has ended.
  public func cancel(_ reason: String) {
    sink.post(.cancel(RPCError(.canceled, reason, origin: .interceptor(name))))
  }

  /// Fails the call as a token would: those further out see the error, those further in that it was canceled.
  public func fail(_ error: RPCError) {
    onLoop { chain, handle in chain.fail(error, by: handle) }
  }

  /// Writes to the log in this interceptor's name.
  public func log(_ level: LogLevel, _ text: String) {
    logSink(LogRecord(level: level, source: name, text: text))
  }

  /// Tells what this interceptor has found out about the call.
  public func report(_ kind: Finding.Kind, _ text: String) {
    findingSink(Finding(interceptor: name, kind: kind, text: text))
  }

  /// Sends a further message, after everything that this interceptor has been given so far; in front of the half-close.
  /// Not once the half-close has gone on.
  public func inject(request message: Payload) {
    sink.inject(message, by: handle, isRequest: true)
  }

  /// Starts the response in place of a server, for one who answers the call and holds `requestStart` meanwhile:
  /// messages then go to the caller by `inject(response:)` as they are there, and `respond` on the token that is held
  /// ends the call, without giving its headers again.
  ///
  /// Once. The request goes on coming to the interceptor.
  public func start(response start: ResponseStart) {
    let handle = handle
    let isGivenStart = sink.isDelivering(.requestStart, handle)
    sink.post(.run { chain in chain.startResponse(start, by: handle, isGivenStart: isGivenStart) })
  }

  /// Gives the caller a further message, after everything that this interceptor has been given so far; in front of the
  /// end, or of the response that this interceptor ends the call with. Not once the end has gone on.
  public func inject(response message: Payload) {
    sink.inject(message, by: handle, isRequest: false)
  }

  /// Has `body` run when the chain and the transport take more of the request: for an interceptor that makes many messages,
  /// which would run ahead of the server otherwise. Not when the call finishes before. `[loop's thread]`
  public func whenRequestWanted(_ body: @escaping () -> Void) {
    onLoop { chain, _ in chain.roomWaiters.request.append(body) }
  }

  /// Has `body` run when the chain and the caller take more of the response: for an interceptor that makes many
  /// messages, which would run ahead of the caller otherwise. Not when the call finishes before. `[loop's thread]`
  public func whenResponseWanted(_ body: @escaping () -> Void) {
    onLoop { chain, _ in chain.roomWaiters.response.append(body) }
  }

  /// Has `body` run on the loop's thread, soon, unless the call finishes before.
  public func post(_ body: @escaping @Sendable () -> Void) {
    sink.post(.run { _ in body() })
  }

  /// Has `body` run on the loop's thread when `delay` has passed, unless the call finishes before.
  /// `[loop's thread]`
  @discardableResult
  public func after(_ delay: Duration, _ body: @escaping () -> Void) -> CallTimer {
    let timer = CallTimer(number: handle.takeTimerNumber())
    onLoop { chain, handle in chain.setTimer(timer, of: handle, after: delay, body) }
    return timer
  }

  /// Forgets a timer; one that has fired is no error.
  public func cancel(_ timer: CallTimer) {
    onLoop { chain, handle in chain.cancelTimer(timer, of: handle) }
  }

  /// Makes a call of the interceptor's own, which does not pass through this interceptor. `[loop's thread]`
  ///
  /// - Parameters:
  ///   - call: What to call.
  ///   - completion: Called once on the loop's thread, unless this call finishes before.
  public func call(_ call: Subrequest, _ completion: @escaping (SubrequestResponse) -> Void) {
    onLoop { chain, handle in chain.make(call, of: handle, completion) }
  }

  /// Makes a plain HTTP request of the interceptor's own. `[loop's thread]`
  ///
  /// - Parameters:
  ///   - fetch: What to ask for.
  ///   - completion: Called once on the loop's thread, unless this call finishes before.
  public func fetch(_ fetch: HTTPFetch, _ completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void)
  {
    onLoop { chain, handle in chain.make(fetch, of: handle, completion) }
  }

  /// The closures that come here are the interceptor's own, which lives on the loop's thread, and are run there.
  private func onLoop(_ body: @escaping (Chain, InterceptorHandle) -> Void) {
    nonisolated(unsafe) let body = body
    let handle = handle
    sink.post(.run { chain in body(chain, handle) })
  }
}

/// Names a timer of an interceptor.
public struct CallTimer: Hashable, Sendable {
  let number: Int
}
