import Protobuf
import RPCProtocols

/// Marks tokens of values on their way to the wire.
public enum Outbound {}
/// Marks tokens of values on their way to the caller.
public enum Inbound {}
/// Marks tokens of values that come after the call's end.
public enum Report {}

/// The right and the duty to say what becomes of a request value.
public typealias RequestToken<Value> = Token<Value, Outbound>
/// The right and the duty to say what becomes of a response value.
public typealias ResponseToken<Value> = Token<Value, Inbound>
/// The right and the duty to pass on what is reported after the end, such as metrics.
public typealias ReportToken<Value> = Token<Value, Report>

/// The right and the duty to say, exactly once, what becomes of one value of a call.
///
/// A token cannot be copied, and saying something uses it up, so nothing can be said twice. It may be kept and
/// used later, from any thread; the value and those after it wait meanwhile. A token that is released unused
/// fails the call, naming the interceptor and the stage.
///
/// When the call ends otherwise meanwhile (canceled, past its deadline, failed by another interceptor) the token
/// becomes void, and a verdict with it has no effect.
public struct Token<Value, Direction>: ~Copyable, Sendable {
  private var sink: TokenSink?
  private let tokenID: TokenID

  init(_ sink: TokenSink, _ tokenID: TokenID) {
    self.sink = sink
    self.tokenID = tokenID
  }

  /// Whether the call has ended meanwhile, so that nothing said with this token will be heard. `[any thread]`
  public var isVoid: Bool {
    sink == nil || tokenID.isVoid
  }

  private mutating func settle(_ verdict: Verdict) {
    guard let sink = sink.take() else { return }
    sink.settle(tokenID, verdict)
  }

  deinit {
    sink?.settle(tokenID, .abandoned)
  }
}

// MARK: - What can be said of every value of a call

extension Token where Direction == Outbound {
  /// Fails the call. Interceptors further in are not called (those that saw the start receive `canceled`), those
  /// further out and the caller see the error; nothing is sent if nothing was. `[any thread]`
  public consuming func fail(_ error: RPCError) { settle(.fail(error)) }

  /// Answers the call from here: nothing goes further, and the response passes the interceptors further out as
  /// a server's would. `[any thread]`
  public consuming func respond(_ response: LocalResponse) { settle(.respond(response)) }
}

extension Token where Direction == Inbound {
  /// Fails the call: interceptors further out and the caller see the error in place of this value and the
  /// rest. What this interceptor has released before stays in front of it. `[any thread]`
  public consuming func fail(_ error: RPCError) { settle(.fail(error)) }

  /// Whether `retry` would try the call again now, rather than let the value go on. `[loop's thread]`
  public var canRetry: Bool { sink?.chain?.canRetry(tokenID) ?? false }

  /// Retries the call from here: new instances of the interceptors further in are made, and what this interceptor has
  /// sent on of the request is sent again, headers as they left it. The response of this attempt is discarded.
  ///
  /// Only for one whose `requirements` say how much of the request is to be kept, and only until it has let something of
  /// the response go on: it holds `responseStart`, which a server's error has too, when that is all that the server
  /// sends. Where it is not possible any more the value goes on instead, as it came. `[any thread]`
  ///
  /// - Parameters:
  ///   - delay: How long to wait before.
  ///   - headers: What is set in the headers of the request, from now on, in place of what has these names.
  public consuming func retry(after delay: Duration = .zero, headers: Headers = Headers()) {
    settle(.retry(after: delay, headers: headers))
  }
}

// MARK: - Further messages

extension Token where Value == Message {
  /// Lets a further message of the same direction go on in front of this one, which is still to be decided on.
  /// Dropped after that, the only message of a unary call is replaced. `[any thread]`
  public func inject(_ message: Payload) { sink?.put(message, before: tokenID) }
}

extension Token where Value == [UInt8] {
  /// Lets a further message of the same direction go on in front of this one, which is still to be decided on.
  /// Dropped after that, the only message of a unary call is replaced. `[any thread]`
  public func inject(_ message: Payload) { sink?.put(message, before: tokenID) }
}

extension Token where Value == Void, Direction == Outbound {
  /// Sends a further message before the half-close. `[any thread]`
  public func inject(_ message: Payload) { sink?.put(message, before: tokenID) }
}

extension Token where Value == ResponseEnd, Direction == Inbound {
  /// Gives the caller a further message before the end. `[any thread]`
  public func inject(_ message: Payload) { sink?.put(message, before: tokenID) }
}

// MARK: - Passing a value on

extension Token where Value == RequestStart, Direction == Outbound {
  /// Passes the start on, changed or not. `[any thread]`
  public consuming func proceed(_ start: RequestStart) { settle(.proceed(.requestStart(start))) }
}

extension Token where Value == Void, Direction == Outbound {
  /// Passes the half-close on. `[any thread]`
  public consuming func proceed() { settle(.proceed(.requestEnd)) }
}

extension Token where Value == ResponseStart, Direction == Inbound {
  /// Passes the start on, changed or not. `[any thread]`
  public consuming func proceed(_ start: ResponseStart) { settle(.proceed(.responseStart(start))) }
}

extension Token where Value == ResponseEnd, Direction == Inbound {
  /// Passes the end on, changed or not: an error may become a success and the reverse. `[any thread]`
  public consuming func proceed(_ end: ResponseEnd) { settle(.proceed(.responseEnd(end))) }
}

extension Token where Value == CallMetrics, Direction == Report {
  /// Passes the metrics on, changed or not. `[any thread]`
  public consuming func proceed(_ metrics: CallMetrics) { settle(.proceed(.metrics(metrics))) }
}

extension Token where Value == Message, Direction == Outbound {
  /// Passes the message on, changed or not. One that was not changed keeps its bytes. `[any thread]`
  public consuming func proceed(_ message: Message) {
    guard let sink = sink.take() else { return }
    sink.proceed(tokenID, message)
  }
}

extension Token where Value == Message, Direction == Inbound {
  /// Passes the message on, changed or not. One that was not changed keeps its bytes. `[any thread]`
  public consuming func proceed(_ message: Message) {
    guard let sink = sink.take() else { return }
    sink.proceed(tokenID, message)
  }
}

extension Token where Value == [UInt8], Direction == Outbound {
  /// Passes the serialized message on, changed or not. `[any thread]`
  public consuming func proceed(_ bytes: [UInt8]) {
    guard let sink = sink.take() else { return }
    sink.proceed(tokenID, bytes)
  }
}

extension Token where Value == [UInt8], Direction == Inbound {
  /// Passes the serialized message on, changed or not. `[any thread]`
  public consuming func proceed(_ bytes: [UInt8]) {
    guard let sink = sink.take() else { return }
    sink.proceed(tokenID, bytes)
  }
}

extension Token where Value == Message {
  /// Takes the message out, and leaves it to the one who does that whether another has to take its place.
  package consuming func take() { settle(.taken) }

  /// Takes the message out of the stream. Dropping the only message of a unary call fails it. `[any thread]`
  public consuming func drop() { settle(.drop) }
}

extension Token where Value == [UInt8] {
  /// Takes the message out of the stream. Dropping the only message of a unary call fails it. `[any thread]`
  public consuming func drop() { settle(.drop) }
}
