import Interception
import RPCProtocols

/// One step of a local response.
enum AnswerStep: Sendable {
  /// Wait for a duration.
  case wait(Duration)
  /// Wait for this number of request messages, or the half-close.
  case awaitRequests(Int)
  /// Wait for the half-close.
  case awaitHalfClose
  /// Leading metadata.
  case start(Headers)
  /// A message.
  case message(Payload)
  /// Status and trailing metadata.
  case end(RPCError?, Headers)
}
