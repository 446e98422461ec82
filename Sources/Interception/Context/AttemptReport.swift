import RPCProtocols

/// The result of one attempt at a call of which an interceptor makes several: it retries, or it hedges.
package struct AttemptReport: Sendable, Equatable {
  /// The number of the attempt, from 1. Attempts within one of several that ran at once have its number.
  package var number: Int
  /// How the attempt ended; nil is the status `ok`.
  package var error: RPCError?
  /// The time before the start of this attempt, as requested: since the end of the one before or, if it was still
  /// running, since its start; nil for the first.
  package var wait: Duration?
  /// The address and port of the server that it was sent to; nil if it was not sent, or the connection has no address.
  package var peer: String?

  /// Makes a report.
  package init(number: Int, error: RPCError?, wait: Duration? = nil, peer: String? = nil) {
    self.number = number
    self.error = error
    self.wait = wait
    self.peer = peer
  }
}
