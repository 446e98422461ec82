import Interception
import RPCProtocols

/// What an answer is made of, in order.
enum AnswerStep: Sendable {
  /// Wait for so long.
  case wait(Duration)
  /// Wait until so many request messages have come, or the half-close.
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
