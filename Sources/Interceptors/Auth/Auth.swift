import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// Adds credentials to one call's request. If the server rejects a token, a new one is fetched, once.
final class Auth: StagedInterceptor {
  /// The maximum size of a request that is kept for a second attempt, in bytes.
  private static let replayBytes = 1 << 20

  let stages: Stages
  let messages = MessageAccesses(.none)
  let requirements: InterceptorRequirements
  private let plan: AuthFactory.Plan
  private let context: CallContext
  private let gate: ResponseGate

  /// The part of the call that waits for a token: the request's start, or the end of the rejected attempt.
  private var heldStart: (start: RequestStart, origin: Origin)?
  private var startToken: RequestToken<RequestStart>?
  private var heldEnd: ResponseEnd?
  private var endToken: ResponseToken<ResponseEnd>?
  private var ticket: TokenStore.Ticket?

  /// The fetched token of the current attempt.
  private var used: AccessToken?
  private var hasRenewed = false

  init(_ plan: AuthFactory.Plan, _ facts: CallFacts, _ context: CallContext) {
    self.plan = plan
    self.context = context
    gate = ResponseGate(ResponseGate.Commitment(facts), context)
    if case .store = plan.source {
      stages = gate.stages.union(.requestStart)
      requirements = InterceptorRequirements(replayLimitBytes: Self.replayBytes)
    } else {
      stages = .requestStart
      requirements = InterceptorRequirements()
    }
  }

  // MARK: - The request

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
    guard let origin = Origin(url: start.target), plan.scope.contains(origin) else {
      context.log(.info, "no credentials for \(Origin(url: start.target)?.description ?? start.target)")
      return token.proceed(start)
    }
    guard !origin.isExposed || plan.allowsPlaintext else {
      return token.fail(
        error(Credentials.refusal("to \(origin)")))
    }
    switch plan.source {
    case .value(let value):
      token.proceed(authorized(start, value.revealed, for: origin))
    case .file(let path):
      token.proceed(authorized(start, try read(path), for: origin))
    case .store(let store):
      heldStart = (start, origin)
      startToken = consume token
      ticket = obtain(from: store) { $0.startResumed($1) }
    }
  }

  private func startResumed(_ answer: TokenStore.Answer) {
    ticket = nil
    guard let (start, origin) = heldStart, let token = startToken.take() else { return }
    heldStart = nil
    switch answer {
    case .success(let found):
      used = found
      token.proceed(authorized(start, plan.prefix + found.value.revealed, for: origin))
    case .failure(let failure):
      token.fail(error("no token: \(failure.reason)"))
    }
  }

  private func authorized(_ start: RequestStart, _ value: String, for origin: Origin) -> RequestStart {
    var start = start
    start.headers.set(plan.headerName, value)
    // Credentials that the request already has stay bound to their server.
    var credentials = start.credentials ?? Credentials(for: origin, in: [])
    credentials.headerNames.insert(plan.headerName.lowercased())
    // The connection may not follow the URL, so this is checked again where it is made.
    credentials.allowsPlaintext = credentials.allowsPlaintext && plan.allowsPlaintext
    start.credentials = credentials
    return start
  }

  private func read(_ path: String) throws(RPCError) -> String {
    do throws(SystemError) {
      let text = try AccessToken.text(try plan.services.contents(ofFile: path))
      return plan.prefix + (try AccessToken(text, expiry: nil, now: 0)).value.revealed
    } catch {
      throw self.error("\(path): \(error.reason)")
    }
  }

  private func error(_ words: String) -> RPCError {
    RPCError(.unauthenticated, words, origin: .interceptor(context.name))
  }

  // MARK: - The response

  /// Whether a new token may be tried.
  private var mayRenew: Bool { used != nil && !hasRenewed }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    if mayRenew { gate.responseStart(start, token) } else { token.proceed(start) }
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    gate.responseMessage(message, token)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    guard end.code == .unauthenticated, mayRenew, token.canRetry, !end.followsMessage,
      case .store(let store) = plan.source
    else {
      gate.open()
      return token.proceed(end)
    }
    hasRenewed = true
    // Fetching the token may take longer than the gate waits.
    gate.stopTimer()
    heldEnd = end
    endToken = consume token
    ticket = obtain(from: store, replacing: used) { $0.endResumed($1) }
  }

  /// Requests a token, with which `resume` is called on the loop's thread.
  private func obtain(
    from store: TokenStore, replacing stale: AccessToken? = nil,
    _ resume: @escaping (Auth, TokenStore.Answer) -> Void
  ) -> TokenStore.Ticket {
    let handle = context.handle
    let resume = LoopBound { [weak self] (answer: TokenStore.Answer) in
      if let self { resume(self, answer) }
    }
    return store.obtain(replacing: stale, for: context) { answer in
      handle.post { resume.value(answer) }
    }
  }

  private func endResumed(_ answer: TokenStore.Answer) {
    ticket = nil
    guard let end = heldEnd, let token = endToken.take() else { return }
    heldEnd = nil
    switch answer {
    case .success(let found) where token.canRetry:
      used = found
      context.log(.info, "the server rejected the token; trying a new one")
      gate.reset()
      token.retry(headers: Headers([(plan.headerName, plan.prefix + found.value.revealed)]))
    case .success:
      gate.open()
      token.proceed(end)
    case .failure(let failure):
      context.log(
        .warning, "the server rejected the token and no new one could be obtained: \(failure.reason)")
      gate.open()
      token.proceed(end)
    }
  }

  func finish(_ outcome: Outcome) {
    if let ticket, case .store(let store) = plan.source { store.leave(ticket) }
  }
}
