import RPCurlBase
import RPCurlProtocols

/// How attempts are made, below an interceptor that may retry or that hedges.
struct AttemptPlan {
  /// The interceptor.
  let name: String
  /// The interceptors further in. Each attempt has new instances of them.
  let registrations: ArraySlice<InterceptorRegistration>
  /// How many bytes of the request are kept to be sent again.
  let replayLimitBytes: Int
  /// How several attempts run at once; nil for an interceptor that retries.
  let hedging: Hedging?
}

/// The transport of a chain whose last interceptor may retry or hedge: attempts, each a chain with a transport of its own,
/// and a record of the request.
///
/// ```
/// caller → A → retry ─┬→ [ B → C → transport ]   the first attempt
///                     └→ [ B → C → transport ]   the second, with new instances of B and C
/// ```
///
/// Retries follow each other: each attempt gives the response of the call, until the interceptor discards it. Hedged
/// attempts run at once, and the first with a good response gives that of the call; the others are cancelled. Before the
/// request is complete at most one is in flight, so that only one can slow down the caller.
final class Attempts: ChainTransport {
  private enum State {
    /// Before the request's start.
    case idle
    /// No attempt has the response of the call; the clock's number of the timer that starts the next one.
    case racing(timer: Int?)
    /// The same, and no further attempt starts.
    case lastRace
    /// This attempt has the response of the call.
    case decided(Attempt)
    /// The call was cancelled.
    case cancelled(Attempt?)
  }

  private(set) weak var upper: Chain?
  private let makeTransport: (Chain) -> any ChainTransport
  private let plan: AttemptPlan
  private var state = State.idle
  private var record: RequestRecord
  /// In the order in which they started, without those that a retry has given up.
  private var attempts: [Attempt] = []
  /// Those that have not finished, also after a retry has given them up.
  private var unfinished: [Attempt] = []
  private var usage = AttemptUsage()
  /// Whether the caller takes more of the response.
  private var isResponseWanted = true
  /// Whether the upper chain has asked for the metrics.
  private var isMeasureRequested = false

  init(
    of upper: Chain, _ plan: AttemptPlan, transport makeTransport: @escaping (Chain) -> any ChainTransport
  ) {
    self.upper = upper
    self.plan = plan
    self.makeTransport = makeTransport
    record = RequestRecord(limitBytes: plan.replayLimitBytes)
  }

  /// The attempt that has the response of the call.
  private var chosen: Attempt? {
    switch state {
    case .idle, .racing, .lastRace: nil
    case .decided(let attempt): attempt
    case .cancelled(let attempt): attempt
    }
  }

  private var inFlight: [Attempt] { attempts.filter(\.isInFlight) }

  /// The interceptor that delays the attempts, and the stage at which it does.
  var holder: (name: String, stage: Stage)? {
    (chosen.map { [$0] } ?? inFlight).lazy.compactMap(\.chain.holder).first
  }

  /// The chain of the attempt whose response is that of the call; nil if there is none.
  var takenChain: Chain? { chosen?.chain }

  /// How many attempts were started.
  var startedCount: Int { usage.startedCount }

  /// The address of the server of the current attempt.
  var peer: String? { (chosen ?? inFlight.last ?? attempts.last)?.chain.peer }

  var hasMessage: Bool { attempts.contains { $0.chain.hasMessage } }

  // MARK: - From the upper chain

  func start(_ start: RequestStart) {
    record.start = start
    state = .racing(timer: nil)
    begin(wait: nil)
  }

  func send(_ bytes: [UInt8]) { send(MessageValue(bytes: bytes)) }

  /// Sends a message, which has its serialized form.
  func send(_ message: MessageValue) {
    for attempt in inFlight where !attempt.isReplaying { attempt.chain.send(message) }
    guard record.append(message) else { return }
    // No attempt has had what was sent while the next is awaited, so it is kept in any case.
    if !inFlight.isEmpty, !attempts.contains(where: \.isReplaying) { record.enforceLimit() }
    updateInput()
  }

  func closeRequest() {
    record.isClosed = true
    for attempt in inFlight where !attempt.isReplaying { attempt.chain.closeRequest() }
    scheduleHedge()
  }

  func cancel(_ error: RPCError) {
    stopTimer()
    state = .cancelled(chosen)
    for attempt in isMeasureRequested ? unfinished : inFlight { attempt.cancel(error) }
    record.discard()
  }

  func responseWanted(_ isWanted: Bool) {
    isResponseWanted = isWanted
    chosen?.chain.callerWants(response: isWanted)
  }

  func measure() {
    isMeasureRequested = true
    record.discardMessages()
    if unfinished.isEmpty { reportMetrics() }
  }

  private func reportMetrics() {
    var usage = usage
    for attempt in attempts where attempt !== chosen {
      if let metrics = attempt.metrics { usage.add(metrics) }
    }
    upper?.receive(.metrics(usage.total(with: chosen?.metrics)))
  }

  // MARK: - Retrying

  /// Whether the response of the current attempt can be discarded, and the request sent again.
  var canRetry: Bool {
    if case .decided = state { record.isComplete } else { false }
  }

  /// Gives up the current attempt, and starts another when `delay` has passed.
  ///
  /// - Parameters:
  ///   - delay: How long to wait before it.
  ///   - change: How the request differs, from now on.
  func retry(after delay: Duration, _ change: RequestChange) {
    guard canRetry, let upper, let old = chosen else { return }
    record.apply(change)
    attempts.removeAll { $0 === old }
    old.phase = .lost
    state = .racing(timer: nil)
    // Metrics that arrive later are added then.
    if let metrics = old.metrics { usage.add(metrics) }
    old.cancel(RPCError(.canceled, "\(plan.name) retries the call", origin: .interceptor(plan.name)))
    let wait = max(delay, .zero)
    state = .racing(
      timer: upper.environment.clock.schedule(after: wait) { [weak self] in self?.begin(wait: wait) })
    updateInput()
  }

  /// Adds the metrics of an attempt that was given up, if they arrive afterwards.
  func add(_ metrics: CallMetrics, of attempt: Attempt) {
    if !attempts.contains(where: { $0 === attempt }) { usage.add(metrics) }
  }

  // MARK: - Starting attempts

  private func scheduleHedge() {
    if let hedging = plan.hedging, case .racing(timer: nil) = state {
      schedule(after: hedging.delay, hedging)
    }
  }

  private func schedule(after delay: Duration, _ hedging: Hedging) {
    stopTimer()
    guard case .racing = state, usage.startedCount < hedging.attempts, let upper else { return }
    state = .racing(
      timer: upper.environment.clock.schedule(after: delay) { [weak self] in
        self?.beginNext(delay, hedging)
      })
  }

  private func stopTimer() {
    guard case .racing(let timer?) = state else { return }
    upper?.environment.clock.cancel(timer)
    state = .racing(timer: nil)
  }

  private func stopStarting(_ hedging: Hedging, _ reason: String) {
    if usage.startedCount < hedging.attempts { log(.info, "no further attempt: \(reason)") }
    stopTimer()
    state = .lastRace
  }

  private func beginNext(_ delay: Duration, _ hedging: Hedging) {
    guard case .racing = state, let start = record.start else { return }
    state = .racing(timer: nil)
    let reason =
      record.isComplete
      ? hedging.policy.reasonAgainstAttempt(at: start) : "the request is larger than the buffer"
    if let reason {
      stopStarting(hedging, reason)
      return settleFailures()
    }
    let number = usage.startedCount + 1
    log(.debug, "attempt \(number) of \(hedging.attempts) starts")
    record.replaceHeaders(hedging.policy.headers(ofAttempt: number))
    begin(wait: delay)
  }

  /// Starts an attempt, and sends it the record of the request.
  ///
  /// - Parameter wait: The time before it; nil for the first.
  private func begin(wait: Duration?) {
    guard let upper, let start = record.start else { return }
    usage.startedCount += 1
    let now = upper.environment.clock.now
    let attempt = Attempt(
      upper.makeAttempt(isFirst: usage.startedCount == 1, plan.registrations), self,
      number: usage.startedCount, wait: wait, offset: now - (upper.progress.begin ?? now))
    attempts.append(attempt)
    unfinished.append(attempt)
    // The response of a retry is that of the call, until the interceptor discards it.
    if plan.hedging == nil {
      attempt.phase = .chosen
      state = .decided(attempt)
    }
    attempt.chain.start(start, caller: attempt, transport: makeTransport)
    // The record may grow meanwhile, and the attempt may end.
    var index = 0
    while index < record.messages.count, attempt.isInFlight {
      attempt.chain.send(record.messages[index])
      index += 1
    }
    attempt.isReplaying = false
    if attempt.isInFlight {
      record.enforceLimit()
      if record.isClosed { attempt.chain.closeRequest() }
      if chosen === attempt, !isResponseWanted { attempt.chain.callerWants(response: false) }
    }
    if record.isClosed { scheduleHedge() }
    updateInput()
  }

  /// While an attempt is awaited, the request is accepted up to the replay limit.
  func updateInput() {
    let inFlight = inFlight
    upper?.transportWants(input: inFlight.isEmpty ? !record.isFull : inFlight.contains(where: \.wantsInput))
  }

  // MARK: - Deciding

  /// Whether a part of an attempt's response that is not its end goes on to the upper chain.
  func admits(_ start: ResponseStart?, of attempt: Attempt) -> Bool {
    switch attempt.phase {
    case .failed, .lost: return false
    case .chosen: return true
    case .racing:
      if let start, plan.hedging?.isDecidedByHeaders == false || start.showsEnd {
        attempt.phase = .racing(start)
        return false
      }
      choose(attempt)
      return true
    }
  }

  func receive(_ end: ResponseEnd, of attempt: Attempt) {
    switch (attempt.phase, plan.hedging) {
    case (.failed, _), (.lost, _): break
    case (.racing(let start), let hedging?):
      switch verdict(on: end, start?.headers, hedging) {
      case .decided:
        choose(attempt)
        upper?.receive(.responseEnd(end))
      case .failed(let next):
        attempt.phase = .failed(start, end)
        let words = end.error.map { $0.message.isEmpty ? "" : " (\($0.message))" } ?? ""
        log(.info, "attempt \(attempt.number) of \(hedging.attempts) failed: \(end.code.name)\(words)")
        if let next {
          schedule(after: next, hedging)
        } else {
          stopStarting(hedging, "the server refused it")
        }
        settleFailures()
      }
    case (.chosen, let hedging), (.racing, let hedging):
      // Counted by the policy; the response of the call has begun.
      if let hedging, case .decided = state { _ = verdict(on: end, nil, hedging) }
      upper?.receive(.responseEnd(end))
    }
  }

  private func verdict(on end: ResponseEnd, _ headers: Headers?, _ hedging: Hedging) -> HedgingVerdict {
    record.start.map { hedging.policy.verdict(on: end, headers: headers, of: $0) } ?? .decided
  }

  /// Makes the response of an attempt the response of the call, and cancels the others.
  private func choose(_ attempt: Attempt) {
    stopTimer()
    state = .decided(attempt)
    let phase = attempt.phase
    attempt.phase = .chosen
    let reason = RPCError(
      .canceled, "attempt \(attempt.number) responded first", origin: .interceptor(plan.name))
    for other in inFlight where other !== attempt { other.cancel(reason) }
    updateInput()
    if !isResponseWanted { attempt.chain.callerWants(response: false) }
    if let start = phase.heldStart { upper?.receive(.responseStart(start)) }
    if case .failed(_, let end) = phase { upper?.receive(.responseEnd(end)) }
  }

  /// Ends the call with the latest failure when no attempt is in flight, and no other starts.
  private func settleFailures() {
    switch state {
    case .racing(timer: nil), .lastRace: break
    case .racing, .idle, .decided, .cancelled: return updateInput()
    }
    if inFlight.isEmpty, let last = attempts.last { choose(last) }
  }

  private func log(_ level: LogLevel, _ text: String) {
    upper?.environment.log(LogRecord(level: level, source: plan.name, text: text))
  }

  /// An attempt has finished.
  func finished(_ attempt: Attempt) {
    unfinished.removeAll { $0 === attempt }
    if isMeasureRequested, unfinished.isEmpty { reportMetrics() }
  }
}

extension Chain {
  /// Gives the report of an attempt that this chain's last interceptor has made, or of one within it that another has
  /// made (`isNested`), to the interceptors further out than the one that made it, and to the caller.
  func attemptEnded(_ report: AttemptReport, isNested: Bool = false) {
    observe(.attemptEnd(report), slots.dropLast(isNested ? 0 : 1))
    caller?.attemptEnded(report)
  }

  /// Gives an observation to the interceptors that want it, last to first.
  private func observe(_ observation: Observation, _ slots: ArraySlice<InterceptorSlot>) {
    for slot in slots.reversed() where slot.observed.contains(observation.stage) {
      if let interceptor = slot.interceptor { observation.call(interceptor) }
    }
  }

  /// Makes the chain of an attempt at the call.
  ///
  /// - Parameters:
  ///   - isFirst: Whether no attempt of this chain precedes it. It then has the number of this chain, which may itself
  ///     be an attempt.
  ///   - registrations: The interceptors below the one that makes the attempt.
  func makeAttempt(isFirst: Bool, _ registrations: ArraySlice<InterceptorRegistration>) -> Chain {
    var facts = furthestFacts
    if !isFirst { facts.attempt = family.nextAttempt() }
    var environment = environment
    // The subrequests of a subrequest pass through none of the interceptors of this chain either.
    if !environment.excluded.isEmpty { environment.excluded.formUnion(admitted.map(\.id)) }
    let chain = Chain(
      facts: facts, registrations: registrations, codec: codec, environment: environment, family: family)
    chain.copyAttributes(from: self)
    return chain
  }
}
