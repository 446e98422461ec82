import RPCProtocols

/// What attempts are made of, below an interceptor that may retry.
struct AttemptPlan {
  /// The interceptors further in, of which each attempt has new instances.
  let registrations: ArraySlice<InterceptorRegistration>
  /// How many bytes of the request are kept to be sent again.
  let replayLimitBytes: Int
}

/// The transport below an interceptor that may retry: the attempts, each a chain of its own with a transport of its own, one
/// after the other, and the record of what was sent.
///
/// ```
/// caller → A → retry → [ B → C → transport ]   the first attempt
///                    → [ B → C → transport ]   the second, with new instances of B and C
/// ```
final class Attempts: ChainTransport {
  private weak var upper: Chain?
  private let plan: AttemptPlan
  private let makeTransport: (Chain) -> any ChainTransport

  // What was sent, as it left the upper chain.
  private var start: RequestStart?
  private var messages: [[UInt8]] = []
  private var recordedBytes = 0
  private var isRequestClosed = false
  /// Whether the record is still whole.
  private var isWhole = true

  private var current: Attempt?
  private var count = 0
  /// What the first attempt that connected took for it.
  private var connected: CallMetrics?
  /// The clock's number of the timer that starts the next attempt; 0 if there is no timer.
  private var timer = 0
  /// Whether the record is being sent in a new attempt, where what comes meanwhile follows it.
  private var isBeginning = false
  private var isResponseWanted = true
  private var isMeasureWanted = false
  /// The bytes of the attempts that are over.
  private var spent = (sent: 0, received: 0)
  /// How many attempts those made that are over and measured; one that has interceptors that retry may make several.
  private var measuredAttempts = (over: 0, made: 0)

  init(of upper: Chain, _ plan: AttemptPlan, transport makeTransport: @escaping (Chain) -> any ChainTransport)
  {
    self.upper = upper
    self.plan = plan
    self.makeTransport = makeTransport
  }

  /// Who keeps the attempt waiting.
  var holder: (name: String, stage: Stage)? { current?.chain.holder }

  /// Whether the request can be sent once more.
  var canRetry: Bool { isWhole && timer == 0 && start != nil }

  /// Gives the attempt up that is under way, and makes another when `delay` has passed.
  ///
  /// - Parameters:
  ///   - delay: How long to wait before it.
  ///   - headers: What is set in the request's headers from now on.
  ///   - name: Who wants it.
  func retry(after delay: Duration, headers: Headers, by name: String) {
    guard canRetry, let upper else { return }
    for field in headers.fields { start?.headers.remove(field.name) }
    for field in headers.fields { start?.headers.add(field.name, field.value) }
    let old = current
    current = nil
    // Those that come from now on are counted when they do.
    if let metrics = old?.metrics { add(metrics) }
    old?.chain.cancel(RPCError(.canceled, "\(name) retries the call", origin: .interceptor(name)))
    timer = upper.environment.clock.schedule(after: max(delay, .zero)) { [weak self] in
      guard let self else { return }
      timer = 0
      begin()
    }
    inputMayHaveChanged()
  }

  private func begin() {
    guard let upper, let start else { return }
    count += 1
    var facts = upper.facts
    facts.attempt = count
    var environment = upper.environment
    // Where this is a call of an interceptor's own, what is called further in does not pass through the upper chain.
    if !environment.excluded.isEmpty { environment.excluded.formUnion(upper.registrations.map(\.id)) }
    let chain = Chain(
      facts: facts, registrations: plan.registrations, codec: upper.codec, environment: environment)
    let now = upper.environment.clock.now
    let attempt = Attempt(chain, self, offset: now - (upper.progress.begin ?? now))
    current = attempt
    isBeginning = true
    chain.start(start, caller: attempt, transport: makeTransport)
    // Further ones may come from the upper chain meanwhile, and the attempt may be over.
    var index = 0
    while index < messages.count, current === attempt {
      chain.send(.bytes(messages[index]))
      index += 1
    }
    isBeginning = false
    guard current === attempt else { return }
    if isRequestClosed { chain.closeRequest() }
    forgetWhatIsTooLong()
    if !isResponseWanted { chain.callerWants(response: false) }
    inputMayHaveChanged()
  }

  // MARK: From the upper chain

  func start(_ start: RequestStart) {
    self.start = start
    begin()
  }

  func send(_ bytes: [UInt8]) {
    if !isBeginning { current?.chain.send(.bytes(bytes)) }
    guard isWhole else { return }
    messages.append(bytes)
    recordedBytes += bytes.count
    forgetWhatIsTooLong()
    inputMayHaveChanged()
  }

  /// Gives up the record when it is too long; what no attempt has had yet is kept in any case.
  private func forgetWhatIsTooLong() {
    guard isWhole, recordedBytes > plan.replayLimitBytes, current != nil, !isBeginning else { return }
    isWhole = false
    messages = []
  }

  func closeRequest() {
    isRequestClosed = true
    if !isBeginning { current?.chain.closeRequest() }
  }

  func cancel(_ error: RPCError) {
    if timer != 0 { upper?.environment.clock.cancel(timer) }
    timer = 0
    start = nil
    messages = []
    current?.chain.cancel(error)
    if isMeasureWanted { report() }
  }

  func responseWanted(_ isWanted: Bool) {
    isResponseWanted = isWanted
    current?.chain.callerWants(response: isWanted)
  }

  func measure() {
    isMeasureWanted = true
    messages = []
    if current?.isFinished ?? true { report() }
  }

  /// Counts what an attempt took that was given up.
  private func add(_ metrics: CallMetrics) {
    if connected == nil, metrics.connect != nil { connected = metrics }
    measuredAttempts = (measuredAttempts.over + 1, Self.sum(measuredAttempts.made, metrics.attempts))
    spent.sent = Self.sum(spent.sent, metrics.sentBytes)
    spent.received = Self.sum(spent.received, metrics.receivedBytes)
  }

  /// Interceptors may have put any number there.
  private static func sum(_ one: Int, _ other: Int) -> Int {
    let (sum, overflow) = one.addingReportingOverflow(other)
    return overflow ? .max : sum
  }

  private func report() {
    var metrics = current?.metrics ?? CallMetrics()
    if let connected {
      metrics.resolve = connected.resolve
      metrics.connect = connected.connect
      metrics.tls = connected.tls
    }
    metrics.sentBytes = Self.sum(metrics.sentBytes, spent.sent)
    metrics.receivedBytes = Self.sum(metrics.receivedBytes, spent.received)
    // Each that is not measured counts as one.
    let unmeasured = count - measuredAttempts.over - (current?.metrics == nil ? 0 : 1)
    let measured = Self.sum(measuredAttempts.made, current?.metrics?.attempts ?? 0)
    metrics.attempts = max(Self.sum(measured, unmeasured), 1)
    upper?.measured(metrics)
  }

  // MARK: From the attempts

  /// Between attempts nothing takes what comes, beyond what is kept for the next.
  private func inputMayHaveChanged() {
    let isWanted = current.map(\.wantsInput) ?? (recordedBytes < plan.replayLimitBytes)
    upper?.transportWants(input: isWanted)
  }

  /// One attempt, as the caller of its chain.
  private final class Attempt: ChainCaller {
    let chain: Chain
    private weak var attempts: Attempts?
    /// From the start of the call to that of the attempt.
    private let offset: Duration
    private(set) var metrics: CallMetrics?
    private(set) var isFinished = false
    private(set) var wantsInput = true

    init(_ chain: Chain, _ attempts: Attempts, offset: Duration) {
      self.chain = chain
      self.offset = offset
      self.attempts = attempts
    }

    /// The upper chain, unless this attempt was given up.
    private var upper: Chain? { attempts?.current === self ? attempts?.upper : nil }

    func responseStarted(_ start: ResponseStart) { upper?.received(start) }
    func responseReceived(_ message: Payload) { upper?.received(message) }
    func responseReceived(_ message: RawSpan) { upper?.received(message) }
    func responseEnded(_ end: ResponseEnd) { upper?.received(end) }
    func measured(_ metrics: CallMetrics) {
      let metrics = metrics.counted(from: offset)
      self.metrics = metrics
      if let attempts, attempts.current !== self { attempts.add(metrics) }
    }
    func finished(_ outcome: Outcome) {
      isFinished = true
      guard let attempts, attempts.current === self, attempts.isMeasureWanted else { return }
      attempts.report()
    }
    func inputWanted(_ isWanted: Bool) {
      wantsInput = isWanted
      if attempts?.current === self { attempts?.inputMayHaveChanged() }
    }
  }
}

extension CallMetrics {
  /// The same, with the times until something was done counted from a moment that was `offset` before.
  fileprivate func counted(from offset: Duration) -> CallMetrics {
    var metrics = self
    metrics.resolve = resolve.map { $0 + offset }
    metrics.connect = connect.map { $0 + offset }
    metrics.tls = tls.map { $0 + offset }
    metrics.firstByte = firstByte.map { $0 + offset }
    return metrics
  }
}
