import RPCurlProtocols

/// Receives the values of one call on their way between the caller and the wire, and may change them. `[loop's thread]`
///
/// ```
/// caller → A → B → C → wire      request stages: first to last
/// caller ← A ← B ← C ← wire      response stages, metrics and finish: last to first
/// ```
///
/// The chain calls an interceptor at the stages that `stages` names, on the loop's thread. Each method receives a value
/// and a token, which must be used exactly once: in the method, or later and on any thread. One that changes headers:
///
/// ```swift
/// final class Stamp: StagedInterceptor {
///   let stages = Stages.requestStart
///
///   func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
///     var start = start
///     start.headers.set("x-stamp", "1")
///     token.proceed(start)
///   }
/// }
/// ```
///
/// One that holds values, with a `HeldToken`:
///
/// ```swift
/// final class Slow: StagedInterceptor {
///   let stages = Stages.responseMessage
///   let messages = MessageAccesses(.none)
///   private let context: CallContext
///
///   init(_ context: CallContext) { self.context = context }
///
///   func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
///     let held = HeldToken(token)
///     context.after(.seconds(1)) { held.use { $0.proceed(message) } }
///   }
/// }
/// ```
///
/// A factory makes one instance for each call:
///
/// ```swift
/// let slow = InterceptorRegistration(name: "slow", factory: ClosureFactory { _, context in Slow(context) })
/// ```
///
/// While an interceptor holds a value, it still receives later values of the same direction. They leave it in the order
/// in which they arrived.
///
/// Each interceptor has one place. Start, messages and end of a direction pass it there, in this order, and a message has
/// the form that the interceptor declares in `messages`, however its neighbours receive it. An interceptor can hold
/// `requestStart` until it has the messages and the half-close, to sign a body in a header: they go no further meanwhile,
/// and interceptors further in are made when the start leaves.
///
/// A signature covers what the interceptor receives. It must be further in than all interceptors that change messages.
///
/// The default of each method passes the value on unchanged. A method that throws fails the call, even if it used the
/// token before.
public protocol StagedInterceptor: StageObserver {
  /// The stages at which the interceptor is called. Read once for each call, before the first of them.
  var stages: Stages { get }
  /// The form in which the interceptor receives messages, and whether it changes them. Read once for each call, before the
  /// first stage. By default typed messages that it may change.
  var messages: MessageAccesses { get }
  /// What the interceptor requires of the chain. Read once for each call, before the first stage.
  var requirements: InterceptorRequirements { get }

  /// The request starts. Outbound, first to last, once.
  ///
  /// - Parameters:
  ///   - start: Method, target, headers and deadline.
  ///   - token: Its verdict.
  /// - Throws: The error of the call.
  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws
  /// A message is to be sent, not yet compressed. Outbound, first to last, after `requestStart`.
  ///
  /// - Parameters:
  ///   - message: The message, in the form that the interceptor declares.
  ///   - token: Its verdict.
  /// - Throws: The error of the call.
  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws
  /// The caller sends no more messages. Outbound, first to last, once.
  ///
  /// - Parameter token: Its verdict.
  /// - Throws: The error of the call.
  func requestEnd(_ token: consuming RequestToken<Void>) throws
  /// The response starts. Inbound, last to first, at most once; an error may come without it.
  ///
  /// - Parameters:
  ///   - start: The HTTP status and the leading metadata.
  ///   - token: Its verdict.
  /// - Throws: The error of the call.
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws
  /// A message has arrived, decompressed. Inbound, last to first, after `responseStart`.
  ///
  /// - Parameters:
  ///   - message: The message, in the form that the interceptor declares.
  ///   - token: Its verdict.
  /// - Throws: The error of the call.
  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws
  /// The call ends, with success or an error. Inbound, last to first, exactly once for an interceptor that the
  /// request's start has reached and that did not end the call itself.
  ///
  /// If the call was canceled, or failed further out, the interceptor only observes the end: the token is void.
  ///
  /// - Parameters:
  ///   - end: The status and the trailing metadata.
  ///   - token: Its verdict.
  /// - Throws: The error of the call.
  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws
  /// The metrics of the call. Last to first, once, after the caller has received the end.
  ///
  /// - Parameters:
  ///   - metrics: The measurements.
  ///   - token: Its verdict.
  /// - Throws: The error of the call.
  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) throws
  /// The call is over: release what you hold. Last to first, exactly once for every interceptor that was made, whether
  /// or not the request reached it. All tokens are void by now.
  ///
  /// - Parameter outcome: The end of the call and its metrics.
  func finish(_ outcome: Outcome)
}

extension StagedInterceptor {
  /// Typed messages that may be changed.
  public var messages: MessageAccesses { MessageAccesses() }
  /// Nothing beyond the stages.
  public var requirements: InterceptorRequirements { InterceptorRequirements() }
  /// Passes the start on.
  public func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    token.proceed(start)
  }
  /// Passes the message on.
  public func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
    token.proceed(message)
  }
  /// Passes the half-close on.
  public func requestEnd(_ token: consuming RequestToken<Void>) {
    token.proceed()
  }
  /// Passes the start on.
  public func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    token.proceed(start)
  }
  /// Passes the message on.
  public func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    token.proceed(message)
  }
  /// Passes the end on.
  public func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    token.proceed(end)
  }
  /// Passes the metrics on.
  public func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
    token.proceed(metrics)
  }
  /// Releases nothing.
  public func finish(_ outcome: Outcome) {}
}
