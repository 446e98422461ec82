import RPCurlChain
import RPCurlProtocols

/// Fails one call if the breaker of its server is open, and reports its result to the breaker otherwise.
final class Breaker: StagedInterceptor {
  let stages: Stages
  private let breaker: CircuitBreaker
  private let codes: Set<StatusCode>
  private let context: CallContext
  private var server: String
  /// The permission of a call whose result is not reported yet.
  private var permit: CircuitBreaker.Permit?

  init(_ breaker: CircuitBreaker, _ codes: Set<StatusCode>, _ facts: CallFacts, _ context: CallContext) {
    self.breaker = breaker
    self.codes = codes
    self.context = context
    server = facts.target
    stages =
      facts.kind.serverStreams
      ? [.requestStart, .responseStart, .responseEnd] : [.requestStart, .responseEnd]
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    server = Origin.name(of: start)
    switch breaker.admit(server, at: context.now) {
    case .permitted(let permit):
      self.permit = permit
      if permit.isProbe { context.log(.info, "half-open: probing \(server)") }
      token.proceed(start)
    case .refused(let reason):
      let words = "the breaker is open for \(server): \(reason)"
      token.fail(RPCError(.unavailable, words, origin: .interceptor(context.name)))
    }
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    // A stream may be open for long, so as a probe it succeeds when the server has accepted it.
    let isError = start.showsEnd
    if permit?.isProbe == true, !isError { report(.success) }
    token.proceed(start)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    // Canceled further out, which is unrelated to the server. At its deadline a call ends for all interceptors.
    let isCanceled = token.isVoid && end.code != .deadlineExceeded
    report(isCanceled ? .unrelated : result(of: end))
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) {
    // Ended without an end that says anything about the server.
    report(.unrelated)
  }

  private func result(of end: ResponseEnd) -> CircuitBreaker.Result {
    guard let error = end.error else { return .success }
    switch error.origin {
    // An invalid request or an untrusted certificate says nothing about the server.
    case .request, .tls, .configuration: return .unrelated
    // Nor does an interceptor, unless it fails as the server would, such as fault.
    case .interceptor where !codes.contains(error.code): return .unrelated
    default:
      guard codes.contains(error.code) else { return .success }
      let words = error.message.isEmpty ? "" : ": \(error.message)"
      return .failure("\(error.code.name)\(words)")
    }
  }

  private func report(_ result: CircuitBreaker.Result) {
    guard let permit = permit.take() else { return }
    switch breaker.report(result, of: permit, server, at: context.now) {
    case .opened(let reason): context.log(.warning, "open for \(server): \(reason)")
    case .closed: context.log(.info, "closed: \(server) responds again")
    case nil: break
    }
  }
}
