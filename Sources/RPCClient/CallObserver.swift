import Interception
import Protobuf
import RPCProtocols

/// Observes a call's progress, on the loop's thread: the values that leave the chain on either side.
public protocol CallObserver: AnyObject {
  /// The call starts. `request` is the HTTP request; `nil` if an interceptor ends the call before it is made.
  func callStarted(_ start: RequestStart, request: HTTPRequest?)
  /// A message was sent.
  func callSent(_ size: MessageSize)
  /// The start of the response was received.
  func callReceived(_ start: ResponseStart)
  /// A message was received from the wire, if `CallRequest.reportsSizes`; it has not passed the chain yet.
  func callReceived(_ size: MessageSize)
  /// A message was received, serialized in the call's codec; valid during this call only. A thrown error ends
  /// the call.
  func callReceived(_ message: RawSpan) throws(RPCError)
  /// A message was received that an interceptor decoded or replaced. A thrown error ends the call.
  func callReceived(_ message: Message) throws(RPCError)
  /// Whether the caller may send more messages now. Messages sent anyway are queued in memory.
  func callWantsInput(_ isWanted: Bool)
  /// The call has ended. Called once.
  func callEnded(_ end: ResponseEnd)
  /// The call was measured. Called once, last.
  func callMeasured(_ metrics: CallMetrics)
}

/// Default implementations.
extension CallObserver {
  /// Does nothing.
  public func callStarted(_ start: RequestStart, request: HTTPRequest?) {}
  /// Does nothing.
  public func callSent(_ size: MessageSize) {}
  /// Does nothing.
  public func callReceived(_ start: ResponseStart) {}
  /// Does nothing.
  public func callReceived(_ size: MessageSize) {}
  /// Ignores backpressure; sufficient for callers that send few messages.
  public func callWantsInput(_ isWanted: Bool) {}
  /// Does nothing.
  public func callMeasured(_ metrics: CallMetrics) {}
}
