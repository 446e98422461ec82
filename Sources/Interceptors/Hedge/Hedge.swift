import RPCurlChain
import RPCurlProtocols

/// Hedges one call: several attempts run at once, and the first good response is the response of the call.
///
/// The chain makes the attempts, as the requirements state; the policy decides about them.
final class Hedge: StagedInterceptor {
  let stages: Stages = []
  let requirements: InterceptorRequirements

  init(_ hedging: Hedging, bufferBytes: Int) {
    // A limit of 0 would disable hedging also for requests without a message.
    var requirements = InterceptorRequirements(replayLimitBytes: max(bufferBytes, 1))
    requirements.hedging = hedging
    self.requirements = requirements
  }
}

/// Decides about the attempts at the calls of a registration, by gRPC's hedging policy (gRFC A6).
final class HedgePolicy: HedgingPolicy {
  private let nonFatal: Set<StatusCode>
  private let throttle: RetryThrottle?

  init(nonFatal: Set<StatusCode>, throttle: RetryThrottle?) {
    self.nonFatal = nonFatal
    self.throttle = throttle
  }

  func verdict(on end: ResponseEnd, headers: Headers?, of request: RequestStart) -> HedgingVerdict {
    let server = Origin.name(of: request)
    guard let error = end.error else {
      throttle?.countSuccess(of: server)
      return .decided
    }
    let pushback = RetryPushback(of: end, heldHeaders: headers)
    if nonFatal.contains(error.code) || pushback == .refused { throttle?.countFailure(of: server) }
    guard error.isRepeatable, !end.followsMessage, nonFatal.contains(error.code) else { return .decided }
    return switch pushback {
    case .refused: .failed(next: nil)
    case .after(let delay): .failed(next: delay)
    case nil: .failed(next: .zero)
    }
  }

  func reasonAgainstAttempt(at request: RequestStart) -> String? {
    let server = Origin.name(of: request)
    return throttle?.allowsRetry(of: server) == false ? "\(server) fails too often (throttled)" : nil
  }

  func headers(ofAttempt number: Int) -> Headers { Headers([(Retry.countHeader, "\(number - 1)")]) }
}
