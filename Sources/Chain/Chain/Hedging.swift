import RPCurlProtocols

/// How an interceptor hedges a call: the attempts that may run at once, and the policy that decides about them.
package struct Hedging: Sendable, Equatable {
  /// The maximum number of attempts.
  package let attempts: Int
  /// The time without a response after which the next attempt starts; 0 starts all of them at once.
  package let delay: Duration
  /// Whether headers that show no error decide for an attempt; otherwise its first message does.
  package let isDecidedByHeaders: Bool
  package let policy: any HedgingPolicy

  /// Makes the parameters of a call.
  package init(attempts: Int, delay: Duration, isDecidedByHeaders: Bool, policy: any HedgingPolicy) {
    self.attempts = attempts
    self.delay = delay
    self.isDecidedByHeaders = isDecidedByHeaders
    self.policy = policy
  }

  package static func == (one: Hedging, other: Hedging) -> Bool {
    one.attempts == other.attempts && one.delay == other.delay
      && one.isDecidedByHeaders == other.isDecidedByHeaders && one.policy === other.policy
  }
}

/// Decides about the attempts at hedged calls. `[loop's thread]`
package protocol HedgingPolicy: AnyObject, Sendable {
  /// What follows from the end of an attempt. Called once for each attempt, except for those that the chain has
  /// cancelled.
  ///
  /// - Parameters:
  ///   - headers: The headers of the response, if they have not decided for the attempt.
  ///   - request: The request that was sent.
  func verdict(on end: ResponseEnd, headers: Headers?, of request: RequestStart) -> HedgingVerdict
  /// Why no further attempt at a request may start now; nil if one may.
  func reasonAgainstAttempt(at request: RequestStart) -> String?
  /// The headers that the request of an attempt has, in place of those of the same names.
  ///
  /// - Parameter number: The number of the attempt, from 2 on.
  func headers(ofAttempt number: Int) -> Headers
}

/// What follows from the end of an attempt.
package enum HedgingVerdict: Equatable {
  /// Its response is the response of the call.
  case decided
  /// Another attempt may succeed: the next starts after this time, or none does; attempts in flight continue.
  case failed(next: Duration?)
}
