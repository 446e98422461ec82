import RPCProtocols

// Retries: the last interceptor of a chain discards the response of an attempt and asks for another (see `Attempts`).
extension Chain {
  /// Whether the last interceptor holds the end of an attempt and may still retry the call. Until it decides, the
  /// values of the request are kept for the next attempt.
  var mayStillRetry: Bool {
    guard case .ended(.attempts) = progress.downstream, let last = slots.last else { return false }
    return progress.endFrontier == last.position && last.responseNode.passage != .closed
  }

  /// Whether the interceptor that received a token may retry the call: nothing of the response has gone further, and
  /// the request is still recorded.
  func canRetry(_ tokenID: TokenID) -> Bool { isLive(tokenID) && reasonAgainstRetry(tokenID) == nil }

  /// Whether the call is retried after a delay, as the verdict with a token requests; logs the reason if not.
  func admitsRetry(_ tokenID: TokenID, after delay: Duration) -> Bool {
    guard let reason = reasonAgainstRetry(tokenID) ?? reasonAgainstWaiting(delay) else { return true }
    environment.log(
      LogRecord(
        level: .info, source: slot(of: tokenID).name, text: "the call cannot be retried: \(reason)"))
    return false
  }

  private func reasonAgainstWaiting(_ delay: Duration) -> String? {
    guard let deadline = progress.deadline, environment.clock.now + delay >= deadline else { return nil }
    return "the deadline is before the next attempt"
  }

  private func reasonAgainstRetry(_ tokenID: TokenID) -> String? {
    guard let attempts = progress.downstream.attempts, slot(of: tokenID) === slots.last else {
      return "the interceptor declared no replay limit"
    }
    if progress.responseFrontier < .interceptor(slots.count - 1) || progress.hasEnded {
      return "the response is under way"
    }
    return attempts.canRetry ? nil : "the request was too large to be kept"
  }

  /// Discards what the current attempt has given, and starts another after a delay.
  ///
  /// - Parameter headers: Replace those of the same names in the request, from the next attempt on.
  func retry(_ tokenID: TokenID, after delay: Duration, _ headers: Headers) {
    guard isLive(tokenID), !progress.hasEnded, let attempts = progress.downstream.attempts else { return }
    flush(inbound)
    // What the attempt has given and the chain has not taken yet.
    inputs.removeAll { !$0.isRequest }
    for slot in slots {
      slot.reopenResponse()
    }
    inbound.layOutResponse(slots)
    progress.endFrontier = slots.count
    progress.responseFrontier = .interceptor(slots.count)
    progress.downstream = .open(.attempts(attempts))
    // The attempts were not notified of changes after the end of the last one.
    attempts.responseWanted(!progress.responseFlow.isPaused)
    attempts.retry(after: delay, headers: headers, by: slot(of: tokenID).name)
    for node in outbound.nodes where node.position == slots.count - 1 {
      markDirty(node, outbound)
    }
  }
}
