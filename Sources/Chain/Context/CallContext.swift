import RPCurlBase
import RPCurlProtocols

/// What an interceptor may request of its call, besides the use of its tokens. `[loop's thread]`
///
/// The context belongs to the loop's thread, like the interceptor: it is not `Sendable`. Other threads use its `handle`.
/// What one thread requests, here and with tokens, takes effect in that order. After the call has finished, requests
/// have no effect.
public struct CallContext {
  /// The part of the context that any thread may use.
  public let handle: CallHandle
  private let clock: any ChainClock

  init(name: String, identity: InterceptorHandle, sink: TokenSink, _ environment: ChainEnvironment) {
    handle = CallHandle(name: name, identity: identity, sink: sink, environment)
    clock = environment.clock
  }

  /// The interceptor's name in logs and errors.
  public var name: String { handle.name }

  /// The time of the loop's clock, which deadlines and timers use.
  public var now: MonotonicClock.Instant { clock.now }

  /// The call's deadline, which an interceptor may have changed; nil if it has none.
  public var deadline: MonotonicClock.Instant? { handle.deadline }

  /// The credentials of the call.
  package var secrets: CallSecrets { handle.secrets }

  /// Identifies the call with all of its attempts; nil after its end.
  package var family: AnyObject? { handle.sink.chain?.family }

  /// The attributes of the call: values that its caller and interceptors share.
  public var attributes: CallAttributes { handle.sink.chain?.attributes ?? CallAttributes() }

  /// Sets an attribute of the call, or removes it if the value is nil. It is visible to interceptors that receive a value
  /// afterwards.
  ///
  /// - Parameters:
  ///   - key: The name of the attribute.
  ///   - value: The value; nil removes the attribute.
  /// - Throws: An error if the key is invalid, the value is too long, or there are too many attributes.
  public func setAttribute(_ key: String, _ value: String?) throws(InvalidValue) {
    try handle.sink.chain?.attributes.set(key, value)
  }

  /// Sets a typed attribute of the call, or removes it if the value is nil.
  ///
  /// - Parameters:
  ///   - key: The attribute.
  ///   - value: The value; nil removes the attribute.
  /// - Throws: As `setAttribute(_:_:)` for text.
  public func setAttribute<Value>(_ key: AttributeKey<Value>, _ value: Value?) throws(InvalidValue) {
    try handle.sink.chain?.attributes.set(key, value)
  }

  /// The interceptors further in that the request would pass through as it is now, in order. The share of calls that each
  /// is for is decided for the call.
  package var furtherIn: [FurtherInterceptor] {
    guard let chain = handle.sink.chain, let slot = chain.slot(in: handle.identity) else { return [] }
    return chain.family.admitted(after: slot.number, chain.furthestFacts.method, attributes)
  }

  /// Lets the chain record which interceptors respond or change values, for `changers`.
  package func recordChanges() { handle.sink.chain?.family.recordsChanges = true }

  /// The interceptors further in that have responded to the call, or have changed, injected or dropped a value of it, in
  /// any attempt, since `recordChanges` was called.
  package var changers: [FurtherInterceptor] {
    guard let chain = handle.sink.chain, let slot = chain.slot(in: handle.identity) else { return [] }
    return chain.family.changers(after: slot.number)
  }

  /// Ends the call at once, as `CallHandle.cancel(_:)` does.
  ///
  /// - Parameter reason: The message of the error `canceled`.
  public func cancel(_ reason: String) { handle.cancel(reason) }

  /// Fails the call as a token does, as `CallHandle.fail(_:)` does.
  ///
  /// - Parameter error: The error of the call.
  public func fail(_ error: RPCError) { handle.fail(error) }

  /// Writes to the log, with this interceptor's name.
  ///
  /// - Parameters:
  ///   - level: The severity.
  ///   - text: The text, one line.
  public func log(_ level: LogLevel, _ text: String) { handle.log(level, text) }

  /// Reports a finding of this interceptor about the call.
  ///
  /// - Parameters:
  ///   - kind: What the finding is.
  ///   - text: The text, one line.
  public func report(_ kind: Finding.Kind, _ text: String) { handle.report(kind, text) }

  /// Sends a further message of the request, as `CallHandle.inject(request:)` does.
  ///
  /// - Parameter message: The message, in either form.
  public func inject(request message: Payload) { handle.inject(request: message) }

  /// Sends the caller a further message, as `CallHandle.inject(response:)` does.
  ///
  /// - Parameter message: The message, in either form.
  public func inject(response message: Payload) { handle.inject(response: message) }

  /// Whether an injected message would pass on now. It would not after the interceptor has forwarded the end of that
  /// direction, and after the end of the call.
  package func canInject(request isRequest: Bool) -> Bool {
    handle.sink.chain?.canInject(by: handle.identity, isRequest: isRequest) ?? false
  }

  /// Half-closes the request before the caller does, after what the interceptor has forwarded and injected. What it
  /// receives of the request afterwards it must remove.
  package func endRequest() { onLoop { chain, identity in chain.endRequest(by: identity) } }

  /// Ends the call with a response, after what the interceptor has forwarded and injected of one. Its headers are used if
  /// the response has not started.
  package func respond(_ response: LocalResponse) { handle.sink.respond(response, by: handle.identity) }

  /// Starts the response in place of a server, as `CallHandle.start(response:)` does.
  ///
  /// - Parameter start: The start of the response.
  public func start(response start: ResponseStart) { handle.start(response: start) }

  /// Runs `body` when the chain and the transport take more of the request, unless the call finishes first. For an
  /// interceptor that makes many messages: backpressure.
  ///
  /// - Parameter body: Called once, on the loop's thread.
  public func whenRequestWanted(_ body: @escaping () -> Void) {
    onLoop { chain, _ in chain.flow.request.waiters.append(body) }
  }

  /// Runs `body` when the chain and the caller take more of the response, unless the call finishes first. For an
  /// interceptor that makes many messages: backpressure.
  ///
  /// - Parameter body: Called once, on the loop's thread.
  public func whenResponseWanted(_ body: @escaping () -> Void) {
    onLoop { chain, _ in chain.flow.response.waiters.append(body) }
  }

  /// Runs `body` after what the interceptor has requested so far, unless the call finishes first.
  ///
  /// - Parameter body: Called once, on the loop's thread.
  public func post(_ body: @escaping () -> Void) { onLoop { _, _ in body() } }

  /// Runs `body` when `delay` has passed, unless the call finishes first.
  ///
  /// - Parameters:
  ///   - delay: The time to wait.
  ///   - body: Called once, on the loop's thread.
  /// - Returns: The timer, to cancel it.
  @discardableResult
  public func after(_ delay: Duration, _ body: @escaping () -> Void) -> CallTimer {
    let timer = CallTimer(number: handle.identity.takeTimerNumber())
    onLoop { chain, identity in chain.setTimer(timer, of: identity, after: delay, body) }
    return timer
  }

  /// Cancels a timer; does nothing if it has fired.
  ///
  /// - Parameter timer: The result of `after`.
  public func cancel(_ timer: CallTimer) {
    onLoop { chain, identity in chain.cancelTimer(timer, of: identity) }
  }

  /// Makes a subrequest: a unary call that does not pass through this interceptor.
  ///
  /// - Parameters:
  ///   - call: What to call.
  ///   - completion: Called once on the loop's thread, unless this call finishes first. If the subrequest is lingering, it
  ///     is called in any case.
  public func call(_ call: Subrequest, _ completion: @escaping (SubrequestResponse) -> Void) {
    onLoop { chain, identity in chain.make(call, of: identity, completion) }
  }

  /// Opens a subrequest of any kind, whose message is ignored.
  ///
  /// - Parameters:
  ///   - call: What to call.
  ///   - kind: Which sides are streams.
  ///   - receive: Called on the loop's thread, unless this call finishes first, never from within this method.
  /// - Returns: The stream; nil if this call has ended.
  public func open(
    _ call: Subrequest, _ kind: CallKind, _ receive: @escaping (SubrequestEvent) -> Void
  ) -> (any SubrequestStream)? {
    handle.sink.chain?.open(call, kind, of: handle.identity, receive)
  }

  /// Makes a plain HTTP request.
  ///
  /// - Parameters:
  ///   - fetch: The request.
  ///   - completion: Called once on the loop's thread, unless this call finishes first.
  public func fetch(_ fetch: HTTPFetch, _ completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void)
  {
    onLoop { chain, identity in chain.make(fetch, of: identity, completion) }
  }

  private func onLoop(_ body: @escaping (Chain, InterceptorHandle) -> Void) {
    let (body, identity) = (LoopBound(body), handle.identity)
    handle.sink.post(.run { chain in body.value(chain, identity) })
  }
}

/// Identifies a timer of an interceptor.
public struct CallTimer: Hashable, Sendable {
  let number: Int
}
