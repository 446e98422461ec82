import RPCurlBase
import RPCurlProtocols

/// The part of a call's context that any thread may use. `[any thread]`
///
/// What one thread requests, here and with tokens, takes effect in that order. After the call has finished, requests
/// have no effect.
public struct CallHandle: Sendable {
  /// The interceptor's name in logs and errors.
  public let name: String
  let identity: InterceptorHandle
  let sink: TokenSink
  private let logSink: LogSink
  private let findingSink: FindingSink
  /// The credentials of the call, which log records and findings do not contain.
  package let secrets: CallSecrets

  init(name: String, identity: InterceptorHandle, sink: TokenSink, _ environment: ChainEnvironment) {
    self.name = name
    self.identity = identity
    self.sink = sink
    logSink = environment.log
    findingSink = environment.onFinding
    secrets = environment.secrets
  }

  /// The call's deadline, as `CallContext.deadline`. `[loop's thread]`
  package var deadline: MonotonicClock.Instant? { sink.chain?.progress.deadline }

  /// Ends the call at once: every interceptor that the call has reached, and the caller, receive `canceled` with this
  /// reason. Does nothing if the call has ended.
  ///
  /// - Parameter reason: The message of the error `canceled`.
  public func cancel(_ reason: String) {
    sink.post(.cancel(RPCError(.canceled, reason, origin: .interceptor(name))))
  }

  /// Fails the call as a token does: interceptors further out receive the error, those further in that it was canceled.
  ///
  /// - Parameter error: The error of the call.
  public func fail(_ error: RPCError) { sink.respond(LocalResponse(failure: error), by: identity) }

  /// Writes to the log, with this interceptor's name.
  ///
  /// - Parameters:
  ///   - level: The severity.
  ///   - text: The text, one line.
  public func log(_ level: LogLevel, _ text: String) {
    logSink(LogRecord(level: level, source: name, text: secrets.mask.apply(text)))
  }

  /// Reports a finding of this interceptor about the call.
  ///
  /// - Parameters:
  ///   - kind: What the finding is.
  ///   - text: The text, one line.
  public func report(_ kind: Finding.Kind, _ text: String) {
    findingSink(Finding(interceptor: name, kind: kind, text: secrets.mask.apply(text)))
  }

  /// Sends a further message, after everything that this interceptor has received so far, and before the half-close.
  /// Ignored, with a warning, after this interceptor has forwarded the half-close.
  ///
  /// - Parameter message: The message, in either form.
  public func inject(request message: Payload) { sink.inject(message, by: identity, isRequest: true) }

  /// Sends the caller a further message, after everything that this interceptor has received so far, and before the
  /// end, or before the response with which this interceptor ends the call. Ignored, with a warning, after this
  /// interceptor has forwarded the end.
  ///
  /// - Parameter message: The message, in either form.
  public func inject(response message: Payload) { sink.inject(message, by: identity, isRequest: false) }

  /// Starts the response in place of a server, for an interceptor that holds `requestStart`: it then sends messages to
  /// the caller with `inject(response:)`, and ends the call with `respond` on the token of `requestStart`, whose
  /// headers are not sent again.
  ///
  /// An interceptor that holds `responseEnd` of a response without a start calls it to respond in place of this one: the
  /// start and the messages of `inject(response:)` come before the end.
  ///
  /// To be called once. The interceptor still receives the request.
  ///
  /// - Parameter start: The start of the response.
  public func start(response start: ResponseStart) {
    let identity = identity
    let isGivenStart = sink.isDelivering(.requestStart, identity)
    sink.post(.run { chain in chain.startResponse(start, by: identity, isGivenStart: isGivenStart) })
  }

  /// Runs `body` on the loop's thread, unless the call finishes first.
  ///
  /// - Parameter body: Called once, on the loop's thread.
  public func post(_ body: @escaping @Sendable () -> Void) { sink.post(.run { _ in body() }) }
}
