import Interception
import Protobuf
import RPCProtocols

/// Hears of a call's progress, on the loop's thread: what has left the chain on either side.
public protocol CallObserver: AnyObject {
  /// The call starts. `request` is what goes out, or `nil` when an interceptor ends the call before that.
  func callStarted(_ start: RequestStart, request: HTTPRequest?)
  /// A message went out.
  func callSent(_ size: MessageSize)
  /// The response has begun.
  func callReceived(_ start: ResponseStart)
  /// A message came from the wire, if `CallRequest.tellsSizes`; it has not passed the chain yet.
  func callReceived(_ size: MessageSize)
  /// A message came, serialized in the call's codec; valid during this call only. An error ends the call.
  func callReceived(_ message: RawSpan) throws(RPCError)
  /// A message came that an interceptor changed. An error ends the call.
  func callReceived(_ message: Message) throws(RPCError)
  /// Whether the call takes more messages to send now. What is sent all the same waits in memory.
  func callWantsInput(_ isWanted: Bool)
  /// The call has ended. Called once.
  func callEnded(_ end: ResponseEnd)
  /// What the call took. Called once, last.
  func callMeasured(_ metrics: CallMetrics)
}

/// What most need not know.
extension CallObserver {
  /// Does nothing.
  public func callStarted(_ start: RequestStart, request: HTTPRequest?) {}
  /// Does nothing.
  public func callSent(_ size: MessageSize) {}
  /// Does nothing.
  public func callReceived(_ start: ResponseStart) {}
  /// Does nothing.
  public func callReceived(_ size: MessageSize) {}
  /// Does nothing, which is right for who sends few messages.
  public func callWantsInput(_ isWanted: Bool) {}
  /// Does nothing.
  public func callMeasured(_ metrics: CallMetrics) {}
}
