import RPCurlChain
import RPCurlProtocols

/// What a local response is made of: steps, run in order.
enum ResponseScript {
  /// One step of the script.
  enum Step: Sendable {
    /// Wait for so long.
    case wait(Duration)
    /// An event of the call. One of the request is awaited: one more message, or the half-close, after which nothing is
    /// awaited. One of the response is given. The content of messages that are awaited does not matter: nil.
    case event(CallEvent<Payload?>)
  }
}
