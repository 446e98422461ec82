import Interception
import RPCProtocols

/// What a local response is made of: steps, run in order.
enum ResponseScript {
  /// One step of the script.
  enum Step: Sendable {
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
}
