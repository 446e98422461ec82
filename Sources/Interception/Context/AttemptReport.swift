import RPCProtocols

/// The result of one attempt at a call that an interceptor may retry.
public struct AttemptReport: Sendable, Equatable {
  /// The number of the attempt, from 1.
  public var number: Int
  /// How the attempt ended; nil is the status `ok`.
  public var error: RPCError?
  /// The time between the end of the attempt before and the start of this one, as requested; nil for the first.
  public var wait: Duration?
  /// The address and port of the server that it was sent to; nil if it was not sent, or the connection has no address.
  public var peer: String?

  /// Makes a report.
  package init(number: Int, error: RPCError?, wait: Duration? = nil, peer: String? = nil) {
    self.number = number
    self.error = error
    self.wait = wait
    self.peer = peer
  }
}
