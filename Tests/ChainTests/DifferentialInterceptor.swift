import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

/// An interceptor of the real chain that does what the description says, and records what it receives.
final class ScriptedInterceptor: StagedInterceptor {
  let call: CallDescription
  let interceptor: CallDescription.InterceptorDescription
  let stages: Stages
  let messages: MessageAccesses
  let requirements: InterceptorRequirements
  let context: CallContext
  unowned let run: DifferentialRun
  /// Which attempt it belongs to.
  private(set) var path = ""
  private(set) var requestLines: [String] = []
  private(set) var responseLines: [String] = []
  /// What it has received of attempts and metrics, and how it finished.
  private(set) var reports: [ReceivedReport] = []
  private(set) var metrics = MetricsRecord()
  private(set) var finishes: [Outcome] = []
  private(set) var moment: Moment?
  var injections: [CrossInjection] = []
  /// The numbers of the values that have no verdict yet, by direction.
  private var undecided: (request: Set<Int>, response: Set<Int>) = ([], [])
  private var counts = [Int](repeating: 0, count: 8)
  private(set) var hasStartedResponse = false
  var hasEnd = false
  /// Whether it has ended the call, or the call has ended further out.
  var isOver = false
  /// Whether it has decided on the end, by direction; nil while the verdict is on its way.
  var isEndDecided: (request: Bool?, response: Bool?) = (false, false)
  /// How many values it had received when the messages of its last callback were injected, by direction.
  var ownCount = (request: 0, response: 0)
  /// Whether its own half-close has taken effect; nil while that is under way.
  var isRequestEnded: Bool? = false
  /// Whether its own injections are under way, in whose midst a second thread may give commands.
  var isInjectingOwn = false
  /// Whether a verdict is being given from outside of the chain.
  var isOutside = false
  /// How many values of the request it had received when it half-closed the request itself.
  var requestEndCount: Int?
  var held: [Held] = []
  // For interceptors that retry.
  private var heldStart: (ResponseStart, HeldToken<ResponseStart, Inbound>)?
  private var hasMessage = false
  private var attempts = 1

  /// A verdict that comes later.
  struct Held {
    let isRequest: Bool
    let number: Int
    /// How many values of the direction must have come; nil if the verdict comes from outside.
    let due: Int?
    let perform: () -> Void
  }

  private struct Broken: Error {}

  /// What may be done with one token.
  struct Verdicts {
    let proceed: (CallDescription.Action.Change) -> Void
    let fail: (RPCError) -> Void
    var respond: ((LocalResponse) -> Void)?
    /// Removes a value that follows the interceptor's own half-close.
    var remove: (() -> Void)?
    let release: () -> Void
    var inject: ((Payload) -> Void)?
    let isVoid: () -> Bool
  }

  init(
    _ call: CallDescription, _ interceptor: CallDescription.InterceptorDescription, _ context: CallContext,
    _ run: DifferentialRun
  ) {
    self.call = call
    self.interceptor = interceptor
    self.context = context
    self.run = run
    stages = interceptor.stages
    messages = interceptor.messages
    var requirements = InterceptorRequirements(isSerial: interceptor.isSerial)
    if let limits = call.limits, limits.holder == interceptor.index {
      requirements.collects = limits.collects
    }
    switch interceptor.role {
    case .plain: break
    case .retry: requirements.replayLimitBytes = 1 << 20
    case .hedge(let attempts, let delay, let byHeaders):
      requirements.replayLimitBytes = 1 << 20
      requirements.hedging = Hedging(
        attempts: attempts, delay: .milliseconds(delay), isDecidedByHeaders: byHeaders,
        policy: AttemptPolicy(interceptor.index))
    }
    self.requirements = requirements
  }

  /// How many verdicts come from outside.
  var heldCount: Int { held.count { $0.due == nil } }

  /// Gives one of the verdicts that come from outside.
  func decideOne(_ choice: Int) {
    let indices = held.indices.filter { held[$0].due == nil }
    guard !indices.isEmpty else { return }
    let chosen = held.remove(at: indices[choice % indices.count])
    isOutside = true
    chosen.perform()
    isOutside = false
  }

  /// Injects messages before the interceptor has received anything.
  func injectAtMake() {
    for isRequest in [true, false] {
      guard let message = call.injectionAtMake(interceptor.index, isRequest: isRequest) else { continue }
      injections.append(CrossInjection(isRequest: isRequest, message: message, count: 0, isAfterEnd: false))
      inject(message, isRequest: isRequest)
    }
  }

  func clear() {
    held = []
    heldStart = nil
  }

  // MARK: - What the description says

  private func receive(
    _ stage: Stage, _ text: String, _ line: String, _ verdicts: Verdicts
  ) throws {
    let isRequest = Stages.request.contains(stage)
    if isRequest { requestLines.append(line) } else { responseLines.append(line) }
    let count = isRequest ? requestLines.count : responseLines.count
    let number = count - 1
    let isEnd = stage == .requestEnd || stage == .responseEnd
    if stage == .responseEnd { hasEnd = true }
    if verdicts.isVoid() {  // The end of a call that another part has ended.
      isOver = true
      return
    }
    if isRequest { undecided.request.insert(number) } else { undecided.response.insert(number) }
    let due = held.filter { $0.isRequest == isRequest && ($0.due.map { isEnd || $0 <= number } ?? false) }
    held.removeAll { $0.isRequest == isRequest && ($0.due.map { isEnd || $0 <= number } ?? false) }
    for entry in due { entry.perform() }
    if !interceptor.isPlain { return decideAttempt(stage, verdicts, isRequest, number) }

    let action = call.action(interceptor.index, stage, text)
    if isRequest, requestEndCount != nil { return remove(action, verdicts, isRequest, number) }
    for message in action.tokenInjections { verdicts.inject?(run.payload(message)) }
    injectOwn(action.contextInjections, isRequest: isRequest, isEnd: isEnd)
    for message in action.crossInjections {
      injections.append(
        CrossInjection(
          isRequest: !isRequest, message: message, sourceCount: count,
          count: isRequest ? responseLines.count : requestLines.count,
          isAfterEnd: isAfterEnd(isRequest: !isRequest)))
      inject(message, isRequest: !isRequest)
    }
    for injection in action.delayedInjections { inject(injection) }
    endRequest(action.requestEnd)
    let occurrence = counts[Int(stage.rawValue)]
    counts[Int(stage.rawValue)] += 1
    if let plan = call.ending(interceptor.index, stage, occurrence, path, action) {
      return try end(plan, action, verdicts, isRequest, number)
    }
    let perform = { [unowned self] in
      decided(isRequest, number)
      if isEnd { setEndDecided(isRequest: isRequest, isOutside ? nil : true) }
      verdicts.proceed(action.change)
      if isEnd, isOutside { setEndDecided(isRequest: isRequest, true) }
    }
    switch action.timing {
    case .now: perform()
    case .outside: held.append(Held(isRequest: isRequest, number: number, due: nil, perform: perform))
    case .later(let count):
      held.append(Held(isRequest: isRequest, number: number, due: number + count, perform: perform))
    case .timer(let delay): context.after(.milliseconds(delay), perform)
    case .thread:
      decided(isRequest, number)
      nonisolated(unsafe) let (verdicts, this) = (verdicts, self)
      run.onThread { [handle = context.handle] in
        if isEnd { handle.post { this.noteEnd(isRequest: isRequest, nil) } }
        verdicts.proceed(action.change)
        if isEnd { handle.post { this.noteEnd(isRequest: isRequest, true) } }
      }
    }
  }

  func inject(_ message: MessageModel, isRequest: Bool) {
    if isRequest {
      context.inject(request: run.payload(message))
    } else {
      context.inject(response: run.payload(message))
    }
  }

  func decided(_ isRequest: Bool, _ number: Int) {
    if isRequest { undecided.request.remove(number) } else { undecided.response.remove(number) }
  }

  // MARK: - Endings

  private func end(
    _ plan: CallDescription.EndingPlan, _ action: CallDescription.Action, _ verdicts: Verdicts,
    _ isRequest: Bool, _ number: Int
  ) throws {
    if plan.kind == .throwError || plan.kind == .throwAfterVerdict {
      record(plan, isRequest, verdicts)
      if plan.kind == .throwAfterVerdict { verdicts.proceed(action.change) }
      throw Broken()
    }
    let perform = { [unowned self] in self.perform(plan, action, verdicts, isRequest, number) }
    if plan.kind == .localStream {
      hasStartedResponse = true
      context.start(response: ResponseStart(headers: Headers([("tag", interceptor.name)])))
      for message in call.streamMessages(interceptor.index) { inject(message, isRequest: false) }
    }
    if plan.isLate || plan.kind == .localStream {
      held.append(Held(isRequest: isRequest, number: number, due: nil, perform: perform))
    } else {
      perform()
    }
  }

  private func perform(
    _ plan: CallDescription.EndingPlan, _ action: CallDescription.Action, _ verdicts: Verdicts,
    _ isRequest: Bool, _ number: Int
  ) {
    if verdicts.isVoid() { return }
    let error = RPCError(.aborted, "ended", origin: .interceptor(interceptor.name))
    switch plan.kind {
    case .fail:
      record(plan, isRequest, verdicts)
      verdicts.fail(error)
    case .respond, .localStream:
      record(plan, isRequest, verdicts)
      verdicts.respond?(run.localResponse(interceptor))
    case .release:
      record(plan, isRequest, verdicts)
      verdicts.release()
    case .contextFail, .contextRespond:
      record(plan, isRequest, verdicts)
      if plan.kind == .contextFail {
        context.fail(error)
      } else {
        context.respond(run.localResponse(interceptor))
      }
      verdicts.proceed(action.change)
    case .contextFailAfterVerdict:
      decided(isRequest, number)
      if plan.stage == .requestEnd || plan.stage == .responseEnd {
        setEndDecided(isRequest: isRequest, true)
      }
      verdicts.proceed(action.change)
      record(plan, isRequest, verdicts)
      context.fail(error)
    case .cancel:
      record(plan, isRequest, verdicts)
      context.cancel("a reason")
      verdicts.proceed(action.change)
    case .illegalChange, .dropOnly:
      record(plan, isRequest, verdicts)
      verdicts.proceed(plan.kind == .dropOnly ? .drop : .typed)
    case .throwError, .throwAfterVerdict, .makeThrows: break
    }
  }

  /// Records the moment, if the ending has an effect.
  private func record(
    _ plan: CallDescription.EndingPlan, _ isRequest: Bool, _ verdicts: Verdicts
  ) {
    let isOfContext: Bool
    switch plan.kind {
    case .contextFail, .contextFailAfterVerdict, .contextRespond: isOfContext = true
    default: isOfContext = false
    }
    // After the end has reached an interceptor, its request values have no effect; after it has forwarded the end, its
    // context has none either.
    if plan.kind != .cancel, hasEnd, isOfContext ? undecided.response.isEmpty : isRequest { return }
    guard moment == nil else { return }
    moment = Moment(
      kind: plan.kind, stage: plan.stage, requestCount: requestLines.count,
      responseCount: responseLines.count, undecided: undecided.response,
      isInCallback: !plan.isLate && plan.kind != .localStream || plan.kind == .throwError
        || plan.kind == .throwAfterVerdict)
    // What it has requested before takes effect before.
    nonisolated(unsafe) let this = self
    context.handle.post { this.isOver = true }
  }

  // MARK: - Attempts

  /// Holds the start of the response until its first message, and retries an attempt that ends with an error before.
  private func decideAttempt(_ stage: Stage, _ verdicts: Verdicts, _ isRequest: Bool, _ number: Int) {
    decided(isRequest, number)
    if case .retry = interceptor.role, !isRequest, stage == .responseMessage {
      hasMessage = true
      releaseStart()
    }
    verdicts.proceed(.none)
  }

  /// Decides on the end of an attempt.
  private func decide(_ end: ResponseEnd, _ box: HeldToken<ResponseEnd, Inbound>, _ limit: Int) {
    if box.isVoid { return }
    var canRetry = false
    box.look { canRetry = $0.canRetry }
    guard end.error != nil, !hasMessage, attempts < limit, canRetry else {
      releaseStart()
      return box.use { $0.proceed(end) }
    }
    attempts += 1
    let headers = Headers([("path-\(interceptor.index)", "\(attempts)")])
    box.use { $0.retry(after: .milliseconds(10), headers: headers) }
    heldStart = nil
  }

  private func releaseStart() {
    guard let (start, token) = heldStart else { return }
    heldStart = nil
    token.use { $0.proceed(start) }
  }

  // MARK: - Stages

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
    path = run.path(of: start)
    let box = HeldToken(token)
    var verdicts = Verdicts(
      proceed: { [name = interceptor.name] change in
        var start = start
        if change == .tag { start.headers.add("tag", name) }
        box.use { $0.proceed(start) }
      }, fail: { error in box.use { $0.fail(error) } }, release: { box.use { _ = consume $0 } },
      isVoid: { box.isVoid })
    verdicts.respond = { response in box.use { $0.respond(response) } }
    try receive(.requestStart, "", Lines.start(start.headers), verdicts)
  }

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    let box = HeldToken(token)
    var verdicts = messageVerdicts(message, box)
    verdicts.respond = { response in box.use { $0.respond(response) } }
    verdicts.remove = { box.use { $0.drop() } }
    try receive(.requestMessage, run.text(message), Lines.content(message.content), verdicts)
  }

  func requestEnd(_ token: consuming RequestToken<Void>) throws {
    let box = HeldToken(token)
    var verdicts = Verdicts(
      proceed: { _ in box.use { $0.proceed() } }, fail: { error in box.use { $0.fail(error) } },
      release: { box.use { _ = consume $0 } }, isVoid: { box.isVoid })
    verdicts.respond = { response in box.use { $0.respond(response) } }
    verdicts.inject = { payload in box.look { $0.inject(payload) } }
    verdicts.remove = { box.use { $0.erased().remove() } }
    try receive(.requestEnd, "", "half-close", verdicts)
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws {
    let box = HeldToken(token)
    if case .retry = interceptor.role {
      responseLines.append(Lines.headers(start.headers))
      heldStart = (start, box)
      return
    }
    let verdicts = Verdicts(
      proceed: { [name = interceptor.name] change in
        var start = start
        if change == .tag { start.headers.add("tag", name) }
        box.use { $0.proceed(start) }
      }, fail: { error in box.use { $0.fail(error) } }, release: { box.use { _ = consume $0 } },
      isVoid: { box.isVoid })
    try receive(.responseStart, "", Lines.headers(start.headers), verdicts)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    let box = HeldToken(token)
    try receive(
      .responseMessage, run.text(message), Lines.content(message.content), messageVerdicts(message, box))
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws {
    let box = HeldToken(token)
    if case .retry(let limit, let isLate) = interceptor.role {
      responseLines.append(Lines.end(end))
      if box.isVoid { return }
      let perform = { [unowned self] in decide(end, box, limit) }
      if isLate {
        held.append(Held(isRequest: false, number: 0, due: nil, perform: perform))
      } else {
        perform()
      }
      return
    }
    var verdicts = Verdicts(
      proceed: { [name = interceptor.name] change in
        box.use { $0.proceed(end.changed(change, by: name)) }
      }, fail: { error in box.use { $0.fail(error) } }, release: { box.use { _ = consume $0 } },
      isVoid: { box.isVoid })
    verdicts.inject = { payload in box.look { $0.inject(payload) } }
    try receive(.responseEnd, "", Lines.end(end), verdicts)
  }

  func attemptEnd(_ report: AttemptReport) {
    reports.append(ReceivedReport(report, isAfterEnd: hasEnd, isAfterMetrics: metrics.count > 0))
    guard let injection = call.injectionAtAttemptEnd(interceptor.index, report.numbers) else { return }
    injectNow(injection)
  }

  func metrics(_ received: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
    metrics.count += 1
    metrics.receivedBytes = received.receivedBytes
    let (bytes, isLate) = call.metricsAction(interceptor.index)
    let box = HeldToken(token)
    let perform = { [unowned self] in
      if box.isVoid { return }
      metrics.addedBytes = bytes
      var changed = received
      changed.receivedBytes += bytes
      box.use { $0.proceed(changed) }
    }
    guard isLate, !box.isVoid else { return perform() }
    metrics.isHeld = true
    held.append(Held(isRequest: false, number: 0, due: nil, perform: perform))
  }

  func finish(_ outcome: Outcome) {
    finishes.append(outcome)
    run.noteFinish(of: self)
  }

  private func messageVerdicts(
    _ message: MessageValue, _ box: HeldToken<MessageValue, Outbound>
  ) -> Verdicts {
    Verdicts(
      proceed: { [run, interceptor] change in
        if change == .drop { return box.use { $0.drop() } }
        box.use { $0.proceed(run.changed(message, change, interceptor)) }
      }, fail: { error in box.use { $0.fail(error) } }, release: { box.use { _ = consume $0 } },
      inject: { payload in box.look { $0.inject(payload) } }, isVoid: { box.isVoid })
  }

  private func messageVerdicts(
    _ message: MessageValue, _ box: HeldToken<MessageValue, Inbound>
  ) -> Verdicts {
    Verdicts(
      proceed: { [run, interceptor] change in
        if change == .drop { return box.use { $0.drop() } }
        box.use { $0.proceed(run.changed(message, change, interceptor)) }
      }, fail: { error in box.use { $0.fail(error) } }, release: { box.use { _ = consume $0 } },
      inject: { payload in box.look { $0.inject(payload) } }, isVoid: { box.isVoid })
  }
}
