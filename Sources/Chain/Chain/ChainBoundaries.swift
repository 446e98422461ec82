import RPCurlBase
import RPCurlProtocols

/// What lies above the chain: the caller. The chain calls it on the loop's thread.
///
/// It receives the response: the start at most once; messages, typed if an interceptor changed them in this form and
/// serialized otherwise; the end exactly once for a call that was started; the metrics once.
///
/// The chain retains it until `finished`. It may call the chain from any of these methods; the calls take effect after
/// the method returns.
package protocol ChainCaller: ResponseReceiver {
  /// Receives a message that has passed the interceptors.
  func receive(_ message: MessageValue)
  /// An interceptor has changed the call's deadline: from now on this one applies.
  func deadlineChanged(to deadline: MonotonicClock.Instant?)
  /// The call is over and every interceptor has finished. Once, last.
  func finished(_ outcome: Outcome)
  /// `Chain.wantsMoreInput` has changed: pause the input, or continue to read it.
  func inputWanted(_ isWanted: Bool)
  /// An attempt at the call has ended, before an interceptor decides whether another follows. Only for calls with an
  /// interceptor that may retry or that hedges.
  func attemptEnded(_ report: AttemptReport)
}

extension ChainCaller {
  /// Default: receives it as an event.
  package func receive(_ message: MessageValue) { receive(.responseMessage(message.payload)) }
  /// Default: ignores deadline changes.
  package func deadlineChanged(to deadline: MonotonicClock.Instant?) {}
  /// Default: ignores attempts.
  package func attemptEnded(_ report: AttemptReport) {}
}

/// What lies below the chain: the protocol and the network. The chain calls it on the loop's thread.
///
/// The chain retains it until the call has finished. It may call the chain from any of these methods; it gives the
/// response to `Chain.receive`.
///
/// Its methods are not one that takes a `CallEvent`: it receives three of the seven, with messages serialized, and the
/// compiler checks that it handles no other.
package protocol ChainTransport: AnyObject {
  /// Starts the request. Once, and first; never called for a call that ended before.
  func start(_ start: RequestStart)
  /// Sends one serialized message, not yet compressed.
  func send(_ bytes: [UInt8])
  /// Half-closes. Once, after every message.
  func closeRequest()
  /// The call has ended without the server: stop at once. Once, after `start`; the chain ignores what it receives
  /// afterwards.
  func cancel(_ error: RPCError)
  /// `Chain.wantsMoreResponse` has changed: pause receiving, or continue.
  func responseWanted(_ isWanted: Bool)
  /// The address of the server that the request was sent to, with its port; nil if it is not known.
  var peer: String? { get }
  /// Whether a message of the response has arrived, also one that was not delivered.
  var hasMessage: Bool { get }
  /// The call has ended: give its metrics to `Chain.receive`, now or soon. Once, last.
  func measure()
}

extension ChainTransport {
  /// Default: not known.
  package var peer: String? { nil }
  /// Default: none has.
  package var hasMessage: Bool { false }
}
