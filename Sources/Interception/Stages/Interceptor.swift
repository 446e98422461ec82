import Protobuf
import RPCProtocols

/// Something that sees the values of one call on their way between the caller and the wire, and may change
/// them.
///
/// ```
/// caller → A → B → C → wire      request stages: first to last
/// caller ← A ← B ← C ← wire      response stages, metrics and finish: last to first
/// ```
///
/// A factory makes one instance for each call. Every method is called on the loop's thread, and only for the
/// stages that `stages` names. Each gets the value and a token, which must be used exactly once: at once, or
/// later, from any thread. While a token is kept, later values of the same direction still come to the same
/// interceptor, and go on from there in the order in which they came.
///
/// Typed messages come before serialization and after parsing, bytes between: on the way out every interceptor
/// sees the typed message first, and when all have, the bytes go through all; on the way in the other way
/// round. Each interceptor gets its own stages in the order in which they are declared here, even if others hold values.
///
/// An interceptor can hold `requestStart` until it has the bytes, and so sign a body in a header. Where interceptors
/// further in want typed messages, it gets the bytes when all of the request waits after the start; if one of them then
/// changes the messages, the call fails. If an interceptor further in holds `responseStart` while messages come, those
/// further out get the bytes of this response after it has had the typed messages.
///
/// Each method's default passes the value on unchanged. A method that throws fails the call, even if it used
/// the token before.
public protocol Interceptor: AnyObject {
  /// The stages to be called at. Asked once for each call, before the first of them.
  var stages: Stages { get }
  /// What it asks of the chain beyond that. Asked once for each call, before the first stage.
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
  /// A serialized message has come and is decompressed. Inbound, last to first.
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) throws
  /// A typed message has come. Inbound, last to first, after `responseBytes` of every interceptor.
  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) throws
  /// The call ends, with success or an error. Inbound, last to first, exactly once for an interceptor that the
  /// request's start has reached and that did not end the call itself.
  ///
  /// When the call was canceled, or failed further out, this is an observation: the token is void already.
  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws
  /// What the call took. Last to first, once, after the caller has been given the end.
  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) throws
  /// The call is over on every path: release what you hold. Last to first, exactly once for every interceptor
  /// that was made, whether or not the request reached it. All tokens are void by now.
  func finish(_ outcome: Outcome)
}

extension Interceptor {
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
