import RPCProtocols

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

/// A transport that consists of attempts at the call.
protocol AttemptsTransport: ChainTransport {
  /// The interceptor that delays the attempt, and the stage at which it does.
  var holder: (name: String, stage: Stage)? { get }
}

/// Numbers the attempts at a call, for all of its interceptors that retry or hedge.
final class AttemptNumbers {
  /// The highest number so far.
  private var last = 1

  /// The number of another attempt.
  func next() -> Int {
    last += 1
    return last
  }
}

extension Chain {
  /// Makes the chain of an attempt at the call.
  ///
  /// - Parameters:
  ///   - isFirst: Whether no attempt of this chain precedes it. It then has the number of this chain, which may itself
  ///     be an attempt.
  ///   - registrations: The interceptors below the one that makes the attempt.
  func makeAttempt(isFirst: Bool, _ registrations: ArraySlice<InterceptorRegistration>) -> Chain {
    var facts = facts
    if !isFirst { facts.attempt = attemptNumbers.next() }
    var environment = environment
    // The subrequests of a subrequest pass through none of the interceptors of this chain either.
    if !environment.excluded.isEmpty { environment.excluded.formUnion(self.registrations.map(\.id)) }
    let chain = Chain(facts: facts, registrations: registrations, codec: codec, environment: environment)
    chain.attemptNumbers = attemptNumbers
    return chain
  }
}

/// The transport of a chain whose last interceptor may retry: attempts, one after the other, each a chain with a
/// transport of its own, and a record of the request.
///
/// ```
/// caller → A → retry → [ B → C → transport ]   the first attempt
///                    → [ B → C → transport ]   the second, with new instances of B and C
/// ```
final class Attempts: AttemptsTransport {
  /// What the attempts do now.
  private enum State {
    /// Before the request's start, and after a cancellation before the first attempt.
    case idle
    /// The record is being sent in a new attempt; values that arrive meanwhile are appended to the record.
    case replaying(Attempt)
    case running(Attempt)
    /// The next attempt starts when the timer fires; the clock's number of the timer.
    case waiting(timer: Int)
    /// The call was cancelled.
    case cancelled(Attempt?)
  }

  private weak var upper: Chain?
  private let makeTransport: (Chain) -> any ChainTransport
  private var state = State.idle
  private var record: RequestRecord
  private var usage = AttemptUsage()
  /// How many attempts were reported to the caller.
  private var reportedCount = 0
  /// The wait before the current attempt; nil for the first.
  private var wait: Duration?
  /// Whether the caller takes more of the response.
  private var isResponseWanted = true
  /// Whether the upper chain has asked for the metrics.
  private var isMeasureRequested = false
  private let registrations: ArraySlice<InterceptorRegistration>

  init(
    of upper: Chain, _ plan: AttemptPlan, transport makeTransport: @escaping (Chain) -> any ChainTransport
  ) {
    self.upper = upper
    self.makeTransport = makeTransport
    registrations = plan.registrations
    record = RequestRecord(limitBytes: plan.replayLimitBytes)
  }

  /// The attempt that takes the request and gives the response; nil while the next is awaited.
  private var current: Attempt? {
    switch state {
    case .idle, .waiting: nil
    case .replaying(let attempt), .running(let attempt): attempt
    case .cancelled(let attempt): attempt
    }
  }

  var holder: (name: String, stage: Stage)? { current?.chain.holder }

  /// Whether the request can be sent again.
  var canRetry: Bool {
    switch state {
    case .replaying, .running: record.isComplete
    case .idle, .waiting, .cancelled: false
    }
  }

  /// Gives up the current attempt, and starts another when `delay` has passed.
  ///
  /// - Parameters:
  ///   - delay: How long to wait before it.
  ///   - change: How the request differs, from now on.
  ///   - name: The interceptor that retries.
  func retry(after delay: Duration, _ change: RequestChange, by name: String) {
    guard canRetry, let upper, let old = current else { return }
    record.apply(change)
    state = .idle
    // Metrics that arrive later are added then.
    if let metrics = old.metrics { usage.add(metrics) }
    old.chain.cancel(RPCError(.canceled, "\(name) retries the call", origin: .interceptor(name)))
    wait = max(delay, .zero)
    let timer = upper.environment.clock.schedule(after: max(delay, .zero)) { [weak self] in self?.begin() }
    state = .waiting(timer: timer)
    updateInput()
  }

  private func begin() {
    guard let upper, let start = record.start else { return }
    usage.startedCount += 1
    let chain = upper.makeAttempt(isFirst: usage.startedCount == 1, registrations)
    let now = upper.environment.clock.now
    let attempt = Attempt(chain, self, offset: now - (upper.progress.begin ?? now))
    state = .replaying(attempt)
    chain.start(start, caller: attempt, transport: makeTransport)
    // The record may grow meanwhile, and the attempt may be given up.
    var index = 0
    while index < record.messages.count, current === attempt {
      chain.send(.bytes(record.messages[index]))
      index += 1
    }
    guard case .replaying(let begun) = state, begun === attempt else { return }
    state = .running(attempt)
    if record.isClosed { chain.closeRequest() }
    record.enforceLimit()
    if !isResponseWanted { chain.callerWants(response: false) }
    updateInput()
  }

  // MARK: - From the upper chain

  func start(_ start: RequestStart) {
    record.start = start
    begin()
  }

  func send(_ bytes: [UInt8]) {
    if case .running(let attempt) = state { attempt.chain.send(.bytes(bytes)) }
    guard record.append(bytes) else { return }
    // No attempt has had what was sent while the next is awaited, so it is kept in any case.
    if case .running = state { record.enforceLimit() }
    updateInput()
  }

  func closeRequest() {
    record.isClosed = true
    if case .running(let attempt) = state { attempt.chain.closeRequest() }
  }

  func cancel(_ error: RPCError) {
    let attempt = current
    if case .waiting(let timer) = state { upper?.environment.clock.cancel(timer) }
    state = .cancelled(attempt)
    record.discard()
    attempt?.chain.cancel(error)
    if isMeasureRequested { reportMetrics() }
  }

  func responseWanted(_ isWanted: Bool) {
    isResponseWanted = isWanted
    current?.chain.callerWants(response: isWanted)
  }

  func measure() {
    isMeasureRequested = true
    record.discardMessages()
    if current?.isFinished ?? true { reportMetrics() }
  }

  private func reportMetrics() {
    upper?.receive(.metrics(usage.total(with: current?.metrics)))
  }

  /// The address of the server of the current attempt.
  var peer: String? { current?.chain.peer }

  var hasMessage: Bool { current?.chain.hasMessage == true }

  // MARK: - From the attempts

  /// Reports the end of an attempt, or of an attempt within it. They are counted together.
  private func report(_ error: RPCError?, wait inner: Duration? = nil, peer: String?) {
    reportedCount += 1
    upper?.caller?.attemptEnded(
      AttemptReport(number: reportedCount, error: error, wait: inner ?? wait, peer: peer))
  }

  /// Between attempts the request is accepted up to the replay limit.
  private func updateInput() {
    let isWanted = current.map(\.wantsInput) ?? !record.isFull
    upper?.transportWants(input: isWanted)
  }

  /// One attempt: the caller of its chain.
  private final class Attempt: ChainCaller {
    let chain: Chain
    private weak var attempts: Attempts?
    /// From the start of the call to the start of the attempt.
    private let offset: Duration
    private(set) var metrics: CallMetrics?
    private(set) var isFinished = false
    private(set) var wantsInput = true
    /// Whether an interceptor of the attempt may retry, so that its own attempts are reported.
    private var hasInnerAttempts = false
    private var deadline = AttemptDeadline()

    init(_ chain: Chain, _ attempts: Attempts, offset: Duration) {
      self.chain = chain
      self.offset = offset
      self.attempts = attempts
    }

    /// The upper chain; nil after this attempt was given up.
    private var upper: Chain? { attempts?.current === self ? attempts?.upper : nil }

    func receive(_ event: CallEvent<Payload>) {
      switch event {
      case .metrics(let own):
        let metrics = own.counted(from: offset)
        self.metrics = metrics
        if let attempts, attempts.current !== self { attempts.usage.add(metrics) }
      case .responseEnd(let end):
        deadline.set(nil, of: chain)
        if !hasInnerAttempts, let attempts, attempts.current === self {
          attempts.report(end.error, peer: chain.peer)
        }
        upper?.receive(.responseEnd(chain.ended(end)))
      default: upper?.receive(event)
      }
    }
    func receive(message: RawSpan) { upper?.receive(message: message) }
    func deadlineChanged(to instant: MonotonicClock.Instant?) { deadline.set(instant, of: chain) }
    func finished(_ outcome: Outcome) {
      isFinished = true
      guard let attempts, attempts.current === self, attempts.isMeasureRequested else { return }
      attempts.reportMetrics()
    }
    func attemptEnded(_ report: AttemptReport) {
      hasInnerAttempts = true
      attempts?.report(report.error, wait: report.wait, peer: report.peer)
    }
    func inputWanted(_ isWanted: Bool) {
      wantsInput = isWanted
      if attempts?.current === self { attempts?.updateInput() }
    }
  }
}
