import RPCurlProtocols

/// The result of one attempt at a call of which an interceptor makes several: it retries, or it hedges.
public struct AttemptReport: Sendable, Equatable {
  /// The number of the attempt among those of its interceptor, from 1. For an attempt within another, the numbers from
  /// the outer to the inner one.
  public internal(set) var numbers: [Int]
  /// How the attempt ended; nil is the status `ok`.
  public var error: RPCError?
  /// The time before the start of this attempt, as requested: since the end of the one before or, if it was still
  /// running, since its start; nil for the first.
  public internal(set) var wait: Duration?
  /// The address and port of the server that it was sent to; nil if it was not sent, or the connection has no address.
  public var peer: String?
  /// How many attempts an interceptor further in has made within this one; 0 for a request that was sent itself.
  public var nestedCount: Int

  /// Makes a report.
  package init(
    numbers: [Int], error: RPCError?, wait: Duration? = nil, peer: String? = nil, nestedCount: Int = 0
  ) {
    self.numbers = numbers
    self.error = error
    self.wait = wait
    self.peer = peer
    self.nestedCount = nestedCount
  }

  /// The numbers as text, such as `2` or `1.2`.
  public var number: String { numbers.map { "\($0)" }.joined(separator: ".") }
}
