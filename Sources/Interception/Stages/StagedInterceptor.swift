import Protobuf
import RPCProtocols

/// Receives the values of one call on their way between the caller and the wire, and may change them.
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
///   let stages = Stages.responseBytes
///   private let context: CallContext
///
///   init(_ context: CallContext) { self.context = context }
///
///   func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
///     let held = HeldToken(token)
///     context.after(.seconds(1)) { held.use { $0.proceed(bytes) } }
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
/// Typed messages exist before serialization and after parsing, bytes between. A request message passes every
/// interceptor as a typed message first, then all of them as bytes; a response message passes in the opposite order.
/// Each interceptor receives its own stages in the order in which they are declared here, even if others hold values.
///
/// An interceptor can hold `requestStart` until it has the bytes, to sign a body in a header. If interceptors further
/// in want typed messages, it receives the bytes when all of the request waits after the start; if one of them then
/// changes the messages, the call fails. If an interceptor further in holds `responseStart` while messages arrive,
/// those further out receive the bytes of this response after it has received the typed messages.
///
/// The default of each method passes the value on unchanged. A method that throws fails the call, even if it used the
/// token before.
public protocol StagedInterceptor: AnyObject {
  /// The stages at which the interceptor is called. Read once for each call, before the first of them.
  var stages: Stages { get }
  /// What the interceptor requires of the chain. Read once for each call, before the first stage.
  var requirements: InterceptorRequirements { get }

  /// The request starts. Outbound, first to last, once.
  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws
  /// A typed message is to be sent. Outbound, first to last.
  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) throws
  /// A serialized message is to be sent, not yet compressed. Outbound, first to last, after `requestMessage`
  /// of every interceptor.
  func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) throws
  /// The caller sends no more messages. Outbound, first to last, once.
  func requestEnd(_ token: consuming RequestToken<Void>) throws
  /// The response starts. Inbound, last to first, at most once; an error may come without it.
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws
  /// A serialized message has arrived, decompressed. Inbound, last to first.
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) throws
  /// A typed message has arrived. Inbound, last to first, after `responseBytes` of every interceptor.
  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) throws
  /// The call ends, with success or an error. Inbound, last to first, exactly once for an interceptor that the
  /// request's start has reached and that did not end the call itself.
  ///
  /// If the call was canceled, or failed further out, the interceptor only observes the end: the token is void.
  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws
  /// The metrics of the call. Last to first, once, after the caller has received the end.
  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) throws
  /// The call is over: release what you hold. Last to first, exactly once for every interceptor that was made, whether
  /// or not the request reached it. All tokens are void by now.
  func finish(_ outcome: Outcome)
}

extension StagedInterceptor {
  /// Nothing beyond the stages.
  public var requirements: InterceptorRequirements { InterceptorRequirements() }
  /// Passes the start on.
  public func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    token.proceed(start)
  }
  /// Passes the message on.
  public func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) {
    token.proceed(message)
  }
  /// Passes the bytes on.
  public func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) {
    token.proceed(bytes)
  }
  /// Passes the half-close on.
  public func requestEnd(_ token: consuming RequestToken<Void>) {
    token.proceed()
  }
  /// Passes the start on.
  public func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    token.proceed(start)
  }
  /// Passes the bytes on.
  public func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    token.proceed(bytes)
  }
  /// Passes the message on.
  public func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) {
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
