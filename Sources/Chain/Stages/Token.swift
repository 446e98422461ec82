import RPCurlProtobuf
import RPCurlProtocols

/// A direction in which an interceptor can fail the call.
public protocol CallDirection {}
/// A direction of request values.
public protocol RequestDirection: CallDirection {}
/// A direction of response values.
public protocol ResponseDirection: CallDirection {}

/// Marks tokens of values on their way to the wire.
public enum Outbound: RequestDirection {}
/// Marks tokens of values on their way to the caller.
public enum Inbound: ResponseDirection {}
/// Marks tokens of values that come after the call's end.
public enum Report {}

/// The token of a request value.
public typealias RequestToken<Value> = Token<Value, Outbound>
/// The token of a response value.
public typealias ResponseToken<Value> = Token<Value, Inbound>
/// The token of a value that is reported after the end, such as metrics.
public typealias ReportToken<Value> = Token<Value, Report>

/// The right and the duty to decide, exactly once, on one value of a call.
///
/// A token cannot be copied, and a verdict consumes it, so there is one verdict. It may be kept and used later, on any
/// thread; the value and those after it wait meanwhile. A token that is released unused fails the call with an error
/// that names the interceptor and the stage.
///
/// If the call ends meanwhile (canceled, past its deadline, failed by another interceptor) the token becomes void, and
/// a verdict with it has no effect.
public struct Token<Value, Direction>: ~Copyable, Sendable {
  var sink: TokenSink?
  let tokenID: TokenID

  init(_ sink: TokenSink?, _ tokenID: TokenID) {
    self.sink = sink
    self.tokenID = tokenID
  }

  /// Whether the call has ended meanwhile, so that a verdict has no effect. `[any thread]`
  public var isVoid: Bool {
    sink == nil || tokenID.isVoid
  }

  mutating func settle(_ verdict: Verdict) {
    guard let sink = sink.take() else { return }
    sink.settle(tokenID, verdict)
  }

  deinit {
    sink?.settle(tokenID, .abandoned)
  }
}

// MARK: - Verdicts on any value

extension Token where Direction: CallDirection {
  /// Fails the call. Interceptors further in receive nothing more, except `canceled` if they have received the start;
  /// those further out and the caller receive the error, in a response in place of this value and the rest: what this
  /// interceptor has forwarded stays before it. Nothing is sent if nothing was. `[any thread]`
  ///
  /// - Parameters:
  ///   - error: The status of the call.
  ///   - trailers: The trailing metadata of the end.
  public consuming func fail(_ error: RPCError, trailers: Headers = Headers()) {
    settle(.fail(error, trailers: trailers))
  }
}

extension Token where Direction: RequestDirection {
  /// Responds to the call: nothing goes further in, and the response passes the interceptors further out as a server's
  /// does. `[any thread]`
  ///
  /// - Parameter response: The response for the caller.
  public consuming func respond(_ response: LocalResponse) { settle(.respond(response)) }
}

extension Token where Direction: ResponseDirection {
  /// Whether `retry` would retry the call now, rather than forward the value. `[loop's thread]`
  public var canRetry: Bool { obstacle(toRetryAfter: .zero) == nil }

  /// Why `retry` after this delay would forward the value now; nil if it would retry the call. `[loop's thread]`
  package func obstacle(toRetryAfter delay: Duration) -> RetryObstacle? {
    sink?.chain.map { $0.obstacle(toRetry: tokenID, after: delay) } ?? .responseStarted
  }

  /// Retries the call: new instances of the interceptors further in are made, and what this interceptor has forwarded
  /// of the request is sent again. The response of this attempt is discarded.
  ///
  /// Allowed for an interceptor that has declared `replayLimitBytes`, until it has forwarded something of the response:
  /// it holds `responseStart`. (A server's error without headers starts with `responseEnd`.) Otherwise the value goes
  /// on unchanged, and the log states the reason. `[any thread]`
  ///
  /// - Parameters:
  ///   - delay: How long to wait before the next attempt.
  ///   - headers: Replace those of the same names in the request, from the next attempt on.
  public consuming func retry(after delay: Duration = .zero, headers: Headers = Headers()) {
    settle(.retry(after: delay, .headers(headers)))
  }

  /// Retries the call at once, as `retry(after:headers:)` does, with another start of the request: method, target,
  /// headers and deadline. `[any thread]`
  package consuming func retry(start: RequestStart) { settle(.retry(after: .zero, .start(start))) }
}

// MARK: - Further messages

extension Token where Value == MessageValue {
  /// Injects a message of the same direction before this one. If this one is dropped afterwards, the injected message
  /// replaces it, which a unary direction allows. `[any thread]`
  ///
  /// - Parameter message: The message, in either form.
  public func inject(_ message: Payload) { sink?.put(message, before: tokenID) }
}

extension Token where Value == Void, Direction == Outbound {
  /// Injects a message before the half-close. `[any thread]`
  ///
  /// - Parameter message: The message, in either form.
  public func inject(_ message: Payload) { sink?.put(message, before: tokenID) }
}

extension Token where Value == ResponseEnd, Direction == Inbound {
  /// Injects a message before the end. `[any thread]`
  ///
  /// - Parameter message: The message, in either form.
  public func inject(_ message: Payload) { sink?.put(message, before: tokenID) }
}

// MARK: - Passing a value on

extension Token where Value == RequestStart, Direction == Outbound {
  /// Passes the start on, changed or not. `[any thread]`
  ///
  /// - Parameter start: The start, changed or not.
  public consuming func proceed(_ start: RequestStart) { settle(.proceed(.requestStart(start))) }
}

extension Token where Value == Void, Direction == Outbound {
  /// Passes the half-close on. `[any thread]`
  public consuming func proceed() { settle(.proceed(.requestEnd)) }
}

extension Token where Value == ResponseStart, Direction == Inbound {
  /// Passes the start on, changed or not. `[any thread]`
  ///
  /// - Parameter start: The start, changed or not.
  public consuming func proceed(_ start: ResponseStart) { settle(.proceed(.responseStart(start))) }
}

extension Token where Value == ResponseEnd, Direction == Inbound {
  /// Passes the end on, changed or not: an error may become a success and the reverse. `[any thread]`
  ///
  /// - Parameter end: The end, changed or not.
  public consuming func proceed(_ end: ResponseEnd) { settle(.proceed(.responseEnd(end))) }
}

extension Token where Value == CallMetrics, Direction == Report {
  /// Passes the metrics on, changed or not. `[any thread]`
  ///
  /// - Parameter metrics: The metrics, changed or not.
  public consuming func proceed(_ metrics: CallMetrics) { settle(.proceed(.metrics(metrics))) }
}

extension Token where Value == MessageValue {
  /// Passes the message on, changed or not. An unchanged message keeps its bytes. `[any thread]`
  ///
  /// - Parameter message: The message, changed or not.
  public consuming func proceed(_ message: MessageValue) {
    guard let sink = sink.take() else { return }
    sink.proceed(tokenID, message)
  }

  /// Drops the message. Dropping the only message of a unary direction fails the call. `[any thread]`
  public consuming func drop() { settle(.drop) }
}
