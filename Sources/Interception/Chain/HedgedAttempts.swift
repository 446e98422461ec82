import RPCProtocols

/// The transport of a chain whose last interceptor hedges: several attempts at once, each a chain with a transport of
/// its own, of which the first with a good response gives the response of the call. The others are cancelled.
///
/// ```
/// caller → A → hedge ─┬→ [ B → C → transport ]   the first attempt
///                     └→ [ B → C → transport ]   the second, while the first has no response
/// ```
///
/// Before the request is complete at most one attempt is in flight, so that only one can slow down the caller.
final class HedgedAttempts: AttemptsTransport {
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

  private weak var upper: Chain?
  private let makeTransport: (Chain) -> any ChainTransport
  private let plan: AttemptPlan
  private let hedging: Hedging
  private var state = State.idle
  private var record: RequestRecord
  /// In the order in which they started.
  private var attempts: [Attempt] = []
  /// Whether the caller takes more of the response.
  private var isResponseWanted = true
  /// Whether the upper chain has asked for the metrics.
  private var isMeasureRequested = false

  init(
    of upper: Chain, _ plan: AttemptPlan, _ hedging: Hedging,
    transport makeTransport: @escaping (Chain) -> any ChainTransport
  ) {
    self.upper = upper
    self.plan = plan
    self.hedging = hedging
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

  var holder: (name: String, stage: Stage)? { inFlight.lazy.compactMap(\.chain.holder).first }

  var peer: String? { (chosen ?? inFlight.last ?? attempts.last)?.chain.peer }

  var hasMessage: Bool { attempts.contains { $0.chain.hasMessage } }

  // MARK: - From the upper chain

  func start(_ start: RequestStart) {
    record.start = start
    state = .racing(timer: nil)
    begin(wait: nil)
  }

  func send(_ bytes: [UInt8]) {
    for attempt in inFlight where !attempt.isReplaying { attempt.chain.send(.bytes(bytes)) }
    guard record.append(bytes) else { return }
    // No attempt has had what was sent while the next is awaited, so it is kept in any case.
    if !inFlight.isEmpty, !attempts.contains(where: \.isReplaying) { record.enforceLimit() }
    updateInput()
  }

  func closeRequest() {
    record.isClosed = true
    for attempt in inFlight where !attempt.isReplaying { attempt.chain.closeRequest() }
    if case .racing(timer: nil) = state { schedule(after: hedging.delay) }
  }

  func cancel(_ error: RPCError) {
    stopTimer()
    state = .cancelled(chosen)
    for attempt in inFlight { attempt.cancel(error) }
    record.discard()
    if isMeasureRequested { reportMetrics() }
  }

  func responseWanted(_ isWanted: Bool) {
    isResponseWanted = isWanted
    chosen?.chain.callerWants(response: isWanted)
  }

  func measure() {
    isMeasureRequested = true
    record.discardMessages()
    if chosen?.isFinished ?? true { reportMetrics() }
  }

  private func reportMetrics() {
    var usage = AttemptUsage()
    usage.startedCount = attempts.count
    for attempt in attempts where attempt !== chosen {
      if let metrics = attempt.metrics { usage.add(metrics) }
    }
    upper?.receive(.metrics(usage.total(with: chosen?.metrics)))
  }

  // MARK: - Starting attempts

  private func schedule(after delay: Duration) {
    stopTimer()
    guard case .racing = state, attempts.count < hedging.attempts, let upper else { return }
    state = .racing(
      timer: upper.environment.clock.schedule(after: delay) { [weak self] in self?.beginNext(delay) })
  }

  private func stopTimer() {
    guard case .racing(let timer?) = state else { return }
    upper?.environment.clock.cancel(timer)
    state = .racing(timer: nil)
  }

  private func stopStarting(_ reason: String) {
    if attempts.count < hedging.attempts { log(.info, "no further attempt: \(reason)") }
    stopTimer()
    state = .lastRace
  }

  private func beginNext(_ delay: Duration) {
    guard case .racing = state, let start = record.start else { return }
    state = .racing(timer: nil)
    let reason =
      record.isComplete
      ? hedging.policy.reasonAgainstAttempt(at: start) : "the request is larger than the buffer"
    if let reason {
      stopStarting(reason)
      return settleFailures()
    }
    log(.debug, "attempt \(attempts.count + 1) of \(hedging.attempts) starts")
    begin(wait: delay)
  }

  private func begin(wait: Duration?) {
    guard let upper else { return }
    let number = attempts.count + 1
    if number > 1 { record.replaceHeaders(hedging.policy.headers(ofAttempt: number)) }
    guard let start = record.start else { return }
    let now = upper.environment.clock.now
    let attempt = Attempt(
      upper.makeAttempt(isFirst: number == 1, plan.registrations), self, number: number, wait: wait,
      offset: now - (upper.progress.begin ?? now))
    attempts.append(attempt)
    attempt.chain.start(start, caller: attempt, transport: makeTransport)
    // The record may grow meanwhile, and the attempt may end.
    var index = 0
    while index < record.messages.count, attempt.isInFlight {
      attempt.chain.send(.bytes(record.messages[index]))
      index += 1
    }
    attempt.isReplaying = false
    if attempt.isInFlight { record.enforceLimit() }
    if record.isClosed {
      if attempt.isInFlight { attempt.chain.closeRequest() }
      if case .racing(timer: nil) = state { schedule(after: hedging.delay) }
    }
    updateInput()
  }

  /// While an attempt is awaited, the request is accepted up to the replay limit.
  private func updateInput() {
    let inFlight = inFlight
    upper?.transportWants(input: inFlight.isEmpty ? !record.isFull : inFlight.contains(where: \.wantsInput))
  }

  // MARK: - Deciding

  private func receive(_ event: CallEvent<Payload>, by attempt: Attempt) {
    switch attempt.phase {
    case .failed, .lost: return
    case .chosen: break
    case .racing:
      if case .responseStart(let start) = event, !hedging.isDecidedByHeaders || start.showsError {
        attempt.phase = .racing(start)
        return
      }
      choose(attempt)
    }
    upper?.receive(event)
  }

  private func receive(message: RawSpan, by attempt: Attempt) {
    if case .racing = attempt.phase { choose(attempt) }
    if chosen === attempt { upper?.receive(message: message) }
  }

  private func receive(_ end: ResponseEnd, by attempt: Attempt) {
    if !attempt.hasInnerAttempts { report(end.error, of: attempt, peer: attempt.chain.peer) }
    switch attempt.phase {
    case .failed, .lost: break
    case .chosen:
      // Counted by the policy; the response of the call has begun.
      if case .decided = state { _ = verdict(on: end) }
      upper?.receive(.responseEnd(end))
    case .racing(let start):
      switch verdict(on: end, start?.headers) {
      case .decided:
        choose(attempt)
        upper?.receive(.responseEnd(end))
      case .failed(let next):
        attempt.phase = .failed(start, end)
        let words = end.error.map { $0.message.isEmpty ? "" : " (\($0.message))" } ?? ""
        log(.info, "attempt \(attempt.number) of \(hedging.attempts) failed: \(end.code.name)\(words)")
        if let next { schedule(after: next) } else { stopStarting("the server refused it") }
        settleFailures()
      }
    }
  }

  private func verdict(on end: ResponseEnd, _ headers: Headers? = nil) -> HedgingVerdict {
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

  // MARK: - Reports

  /// Reports the end of an attempt, or of an attempt within it, which has the same number.
  private func report(_ error: RPCError?, wait: Duration? = nil, of attempt: Attempt, peer: String?) {
    upper?.caller?.attemptEnded(
      AttemptReport(number: attempt.number, error: error, wait: wait ?? attempt.wait, peer: peer))
  }

  private func log(_ level: LogLevel, _ text: String) {
    upper?.environment.log(LogRecord(level: level, source: plan.name, text: text))
  }

  /// How far an attempt has come.
  private enum Phase {
    /// Nothing of its response has decided yet; the headers are held.
    case racing(ResponseStart?)
    /// It has ended, and another may succeed.
    case failed(ResponseStart?, ResponseEnd)
    /// It has the response of the call.
    case chosen
    /// It was cancelled.
    case lost

    var heldStart: ResponseStart? {
      switch self {
      case .racing(let start), .failed(let start, _): start
      case .chosen, .lost: nil
      }
    }
  }

  /// One attempt: the caller of its chain.
  private final class Attempt: ChainCaller {
    let chain: Chain
    let number: Int
    /// The time between the start of the attempt before, or the last failure, and the start of this one; nil for the
    /// first.
    let wait: Duration?
    private weak var hedged: HedgedAttempts?
    /// From the start of the call to the start of the attempt.
    private let offset: Duration
    var phase = Phase.racing(nil)
    /// Whether the record is being sent; values that arrive meanwhile are appended to the record.
    var isReplaying = true
    private(set) var metrics: CallMetrics?
    private(set) var isFinished = false
    private(set) var wantsInput = true
    /// Whether an interceptor of the attempt may retry, so that its own attempts are reported.
    private(set) var hasInnerAttempts = false
    private var deadline = AttemptDeadline()

    init(_ chain: Chain, _ hedged: HedgedAttempts, number: Int, wait: Duration?, offset: Duration) {
      self.chain = chain
      self.hedged = hedged
      self.number = number
      self.wait = wait
      self.offset = offset
    }

    /// Whether it takes the request.
    var isInFlight: Bool {
      switch phase {
      case .racing, .chosen: true
      case .failed, .lost: false
      }
    }

    func cancel(_ error: RPCError) {
      if case .racing = phase { phase = .lost }
      chain.cancel(error)
    }

    func receive(_ event: CallEvent<Payload>) {
      switch event {
      case .metrics(let own): metrics = own.counted(from: offset)
      case .responseEnd(let end):
        deadline.set(nil, of: chain)
        hedged?.receive(chain.ended(end), by: self)
      default: hedged?.receive(event, by: self)
      }
    }
    func receive(message: RawSpan) { hedged?.receive(message: message, by: self) }
    func deadlineChanged(to instant: MonotonicClock.Instant?) { deadline.set(instant, of: chain) }
    func finished(_ outcome: Outcome) {
      isFinished = true
      if let hedged, hedged.isMeasureRequested, hedged.chosen === self { hedged.reportMetrics() }
    }
    func attemptEnded(_ report: AttemptReport) {
      hasInnerAttempts = true
      hedged?.report(report.error, wait: report.wait, of: self, peer: report.peer)
    }
    func inputWanted(_ isWanted: Bool) {
      wantsInput = isWanted
      hedged?.updateInput()
    }
  }
}

extension ResponseStart {
  /// Whether the headers are those of an error.
  fileprivate var showsError: Bool { httpStatus != 200 || headers.first("grpc-status") != nil }
}
