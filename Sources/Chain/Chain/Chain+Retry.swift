import RPCurlBase
import RPCurlProtocols

/// Why the chain does not retry a call.
package enum RetryObstacle: CustomStringConvertible {
  /// The interceptor declared no `replayLimitBytes`.
  case noReplayLimit
  /// The request was longer than the replay limit.
  case requestTooLarge
  /// The interceptor has forwarded a part of the response, or the call has ended.
  case responseStarted
  /// The deadline is before the next attempt.
  case deadline

  /// The reason, for logs.
  package var description: String {
    switch self {
    case .noReplayLimit: "the interceptor declared no replay limit"
    case .requestTooLarge: "the request was too large to be kept"
    case .responseStarted: "the response is under way"
    case .deadline: "the deadline is before the next attempt"
    }
  }
}

// Retries: the last interceptor of a chain discards the response of an attempt and asks for another (see `Attempts`).
extension Chain {
  /// Whether the last interceptor holds the end of an attempt and may still retry the call. Until it decides, the
  /// values of the request are kept for the next attempt.
  var mayStillRetry: Bool {
    guard case .ended(.attempts) = progress.downstream, let last = slots.last else { return false }
    return progress.endFrontier == last.position && last.response.passage != .closed
  }

  /// Why a verdict to retry after a delay would forward the value; nil if it would retry the call: nothing of the response
  /// has gone further, and the request is still recorded.
  func obstacle(toRetry tokenID: TokenID, after delay: Duration) -> RetryObstacle? {
    guard let attempts = progress.downstream.attempts, slot(of: tokenID) === slots.last else {
      return .noReplayLimit
    }
    guard progress.responseFrontier >= .interceptor(slots.count - 1), !progress.hasEnded, isLive(tokenID)
    else {
      return .responseStarted
    }
    guard attempts.canRetry else { return .requestTooLarge }
    guard let deadline = progress.deadline, environment.clock.now + delay >= deadline else { return nil }
    return .deadline
  }

  /// Whether the call is retried after a delay, as the verdict with a token requests; logs the reason if not.
  func admitsRetry(_ tokenID: TokenID, after delay: Duration) -> Bool {
    guard let obstacle = obstacle(toRetry: tokenID, after: delay) else { return true }
    log(.info, slot(of: tokenID), "the call cannot be retried: \(obstacle)")
    return false
  }

  /// Discards what the current attempt has given, and starts another after a delay.
  ///
  /// - Parameter change: How the request differs, from the next attempt on.
  func retry(_ tokenID: TokenID, after delay: Duration, _ change: RequestChange) {
    guard isLive(tokenID), !progress.hasEnded, let attempts = progress.downstream.attempts else { return }
    if !change.isEmpty { family.recordChange(by: slot(of: tokenID)) }
    var change = change
    if case .start(let new) = change {
      guard let start = withMethod(new, of: tokenID) else { return }
      change = .start(withCodec(start, of: tokenID))
      setDeadline(start.deadline)
    }
    // Interceptors further out may have injected messages, which follow the start of the next attempt.
    let position = tokenID.node.position
    inbound.flush { $0.position == position }
    // What the attempt has given and the chain has not taken yet.
    agenda.removeResponse()
    for slot in slots {
      slot.reopenResponse()
    }
    progress.endFrontier = slots.count
    progress.responseFrontier = .interceptor(slots.count)
    progress.downstream = .open(.attempts(attempts))
    // The attempts were not notified of changes after the end of the last one.
    attempts.responseWanted(!flow.response.isPaused)
    attempts.retry(after: delay, change)
    if let last = outbound.nodes.last { markDirty(last, outbound) }
  }
}
