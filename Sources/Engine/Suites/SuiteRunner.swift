import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports

/// Runs a suite in a session, and reports its tests.
final class SuiteRunner {
  /// Ends a step whose checks failed.
  struct StepEnded: Error {}

  let file: Suite
  let session: Session
  let options: SuiteOptions
  private let capture: OutputCapture
  private var secrets: SessionSecrets { session.secrets }
  let emit: (SuiteEvent) -> Void

  /// What the calls exercise of an API; nil if that is not collected.
  private var coverage: CoverageCollector?
  /// The older schema that calls are compared with; nil if they are not.
  var contract: ContractCheck?
  /// The step that runs; nil between tests.
  var step: StepRun?
  /// The line of the command that runs.
  private(set) var line = 0
  /// The command that runs, maybe one of a file that is sourced.
  private(set) var statement: SessionStatement?
  /// When the time of the test and of its step is over; the text names which.
  private var limits: [(end: MonotonicClock.Instant, timeout: Timeout)] = []
  /// Whether one of them has passed; the text names which.
  private var timeout: Timeout?

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - file: The suite.
  ///   - session: A session that prints to `capture`.
  ///   - options: What runs, and how.
  ///   - capture: What the session prints.
  ///   - emit: Receives the events of the file, except its end.
  init(
    _ file: Suite, _ session: Session, _ options: SuiteOptions, _ capture: OutputCapture,
    emit: @escaping (SuiteEvent) -> Void
  ) {
    self.file = file
    self.session = session
    self.options = options
    self.capture = capture
    coverage = options.covered.map(CoverageCollector.init)
    contract = options.contract.map(ContractCheck.init)
    self.emit = emit
  }

  /// Runs the setup, the tests and the teardown. Returns the end of the file, and the error of a signal that has arrived
  /// meanwhile.
  func run() -> (end: SuiteFileEnd, interruption: Failure?) {
    let begin = MonotonicClock.now
    let plans = selected.map { test in (test: test, rows: rows(of: test)) }
    let isCompared = contract != nil && !plans.isEmpty
    let count = plans.reduce(isCompared ? 1 : 0) { $0 + $1.rows.count }
    let start = SuiteEvent.file(SuiteFile(file: file.path, tests: count))
    if options.orders == nil { emit(start) }
    session.observer = self
    defer { session.observer = nil }
    var errors = plans.isEmpty ? [] : runSetup()
    let hasSetup = errors.isEmpty
    var isInterrupted = !hasSetup && interruption != nil
    if let orders = options.orders {
      // A load begins when the setups of all processes have ended.
      if hasSetup { emit(start) }
      while hasSetup, interruption == nil, let order = orders.next(session) {
        guard plans.indices.contains(order.test) else { break }
        let (test, rows) = plans[order.test]
        _ = run(test, [rows[order.number % rows.count]], skipReason: test.skipReason)
      }
    } else {
      for (test, rows) in plans {
        let skipReason = hasSetup ? test.skipReason : "the setup failed"
        if !run(test, rows, skipReason: skipReason), options.failsEarly { break }
      }
    }
    if isCompared { reportChanges() }
    let first = interruption
    if !plans.isEmpty {
      // What the setup made is removed also after a signal, and after one of SuiteProcesses that arrives only now.
      Interrupt.isDeferred = true
      defer { Interrupt.isDeferred = false }
      session.resume()
      let failures = runOutside(file.teardown, isTeardown: true)
      if !failures.isEmpty { isInterrupted = false }
      errors += failures
    }
    if coverage != nil {
      emit(.coverage(SuiteFileCoverage(file: file.path, coverage: coverage?.coverage ?? SuiteCoverage())))
    }
    var end = SuiteFileEnd(file: file.path, errors: errors, duration: MonotonicClock.now - begin)
    end.isInterrupted = isInterrupted
    // What the teardown has printed.
    _ = output()
    return (end, first ?? interruption)
  }

  private var selected: [Suite.Test] {
    var tests = file.tests(of: options.selection)
    if var order = options.orderSeed.map({ SeededGenerator(seed: $0) }) { tests.shuffle(using: &order) }
    return tests
  }

  // MARK: Setup and teardown

  private func runSetup() -> [SuiteError] {
    do {
      try session.set(options.variables)
      try session.waitForServer()
    } catch {
      return [problem(error)]
    }
    return runOutside(file.setup, isTeardown: false)
  }

  /// Runs commands outside of tests. Returns what failed. The setup ends at a failure, and streams that it has opened end after
  /// the teardown.
  private func runOutside(_ commands: [Suite.Command], isTeardown: Bool) -> [SuiteError] {
    step = StepRun(name: nil, line: commands.first?.line ?? 1)
    session.failures = []
    defer { step = nil }
    _ = output()
    var errors: [SuiteError] = []
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch {
        let failures = step?.takeFailures() ?? []
        errors += failures.map(problem)
        if !(error is StepEnded) { errors.append(problem(error)) }
      }
    }
    for command in commands {
      attempt { try settle(before: command.statement) }
      if !isTeardown, !errors.isEmpty { return errors }
      attempt { try execute(command) }
    }
    attempt { try settle() }
    guard isTeardown else { return errors }
    attempt {
      session.cancelAll("the suite has ended")
      try session.throwFailure(unchecked: false)
    }
    return errors
  }

  /// A check that failed outside of tests.
  private func problem(_ failure: StepRun.Failed) -> SuiteError {
    let isHere = failure.place.file == file.path
    return SuiteError(
      line: isHere ? failure.place.line : line,
      what: secrets.apply(isHere ? failure.check : "\(failure.place): \(failure.check)"),
      why: secrets.apply("expected \(failure.expected), got \(failure.got)"),
      hint: failure.hint.map(secrets.apply))
  }

  // MARK: Tests

  /// A run of a test: its row, or why there are no rows.
  private enum Row {
    case none
    case value(JSONValue, name: String)
    case problem(SuiteError)
  }

  private func rows(of test: Suite.Test) -> [Row] {
    guard let rows = test.rows, test.skipReason == nil else { return [.none] }
    do {
      let read = try rows.read(besides: file.path, waitLimit: session.waitLimit)
      return read.map { .value($0.value, name: $0.name) }
    } catch {
      line = rows.line
      return [.problem(problem(error))]
    }
  }

  /// Runs a test for each of its rows. Returns whether all that were not skipped have passed.
  private func run(_ test: Suite.Test, _ rows: [Row], skipReason: String?) -> Bool {
    var havePassed = true
    for row in rows {
      if let reason = interruption?.message?.why ?? skipReason {
        var event = result(of: test, .skipped)
        event.reason = reason
        event.isInterrupted = interruption != nil
        if case .value(_, let name) = row { event.row = secrets.apply(name) }
        emit(.test(event))
        continue
      }
      switch row {
      case .none: havePassed = run(test, nil, named: nil)
      case .value(let value, let name): havePassed = run(test, value, named: name) && havePassed
      case .problem(let error):
        var event = result(of: test, .error)
        event.error = error
        event.isInterrupted = interruption != nil
        emit(.test(event))
        havePassed = false
      }
      if !havePassed && options.failsEarly { break }
    }
    return havePassed
  }

  private func run(_ test: Suite.Test, _ row: JSONValue?, named rowName: String?) -> Bool {
    let begin = MonotonicClock.now
    var event = result(of: test, .passed)
    event.row = rowName.map(secrets.apply)
    _ = output()
    let known = secrets.known
    session.failures = []
    let limit = (test.limit ?? file.limit ?? options.testLimit).map {
      stop(
        after: $0, "the test took longer than \($0.brief)",
        hint: "--test-timeout, or timeout DURATION in the suite, sets the limit")
    }
    defer {
      limit?()
      timeout = nil
      // Those of many rows would slow the run down.
      secrets.known = known
    }
    let scope = session.beginScope(keepsVariables: false)
    do {
      session.bindings.row = row
      for step in test.steps {
        let ended = try run(step)
        event.steps.append(ended.result(of: file.path, secrets))
        guard ended.failures.isEmpty else {
          event.outcome = .failed
          break
        }
      }
    } catch {
      if let step { event.steps.append(step.result(of: file.path, secrets)) }
      note(error, in: &event)
      event.isInterrupted = interruption != nil
    }
    event.attempts = event.steps.map(\.attempts).max() ?? 1
    step = nil
    do { try session.end(scope) } catch { note(error, in: &event) }
    event.duration = MonotonicClock.now - begin
    let printed = output()
    if event.outcome != .passed, !printed.isEmpty { event.output = secrets.apply(printed) }
    emit(.test(event))
    return event.outcome == .passed
  }

  /// Notes why a test has not passed.
  private func note(_ error: any Error, in event: inout TestResult) {
    // An assertion is that of an interceptor, or of a time.
    let isAssertion = (error as? Failure)?.status == .assertion
    if event.outcome != .error { event.outcome = isAssertion ? .failed : .error }
    event.error = event.error ?? problem(error)
  }

  /// The error of a signal, also of one that the session has handled.
  var interruption: Failure? { session.interruption ?? Interrupt.failure }

  /// The command of the suite that runs.
  var here: SessionPlace { SessionPlace(file.path, line: line) }

  func execute(_ command: Suite.Command) throws {
    line = command.line
    session.place = here
    defer { session.place = nil }
    do {
      try settle(before: command.statement)
      try session.execute(command.statement)
      _ = try session.wait { true }  // Open streams progress.
      if let interruption { throw interruption }
      try session.throwFailure(unchecked: false)
      if session.end != nil {
        // A sourced file has ended the session.
        session.resume()
        throw Suite.exitFailure("exit")
      }
    } catch let error where !(error is StepEnded) {
      try checkTime()
      if let interruption { throw interruption }
      // That the stream failed is why it has no response.
      if (error as? Failure)?.cause == .streamEnded { try settle() }
      throw compared(error)
    }
    try checkTime()
  }

  /// Ends the step, or a command of a file that keeps going, if a check failed, or if a call failed and no check expected it.
  func settle() throws(StepEnded) {
    let failed = session.failures.filter { $0.event == .failedCall && !$0.stream.isCanceled }
    session.failures = []
    for stream in failed.map(\.stream) {
      let place = step?.calls.last { $0.stream === stream }?.place ?? stream.place ?? here
      step?.fail(
        at: place, check: "status ok", Mismatch("ok", got: stream.statusAndMessage),
        hint: replayHint(of: stream) ?? typeChanges(of: stream.plan.name), of: stream)
    }
    if step?.hasNewFailures() == true { throw StepEnded() }
  }

  // MARK: Time

  /// Why the time of a test or step is over, and what sets it.
  private struct Timeout {
    let reason: String
    let hint: String
  }

  /// Cancels the calls and ends a sleep after a time. Returns a function that prevents it.
  func stop(after limit: Duration, _ reason: String, hint: String) -> () -> Void {
    let end = MonotonicClock.now + limit
    let timeout = Timeout(reason: reason, hint: hint)
    limits.append((end, timeout))
    // Streams that were opened before, as by the setup, stay open.
    let kept = session.streams.open
    let timer = session.client.loop.schedule(at: end) { [weak self] in
      guard let self else { return }
      self.timeout = self.timeout ?? timeout
      for stream in session.streams.open where !kept.contains(where: { $0 === stream }) {
        stream.cancel(reason)
      }
      session.foreground?.cancel(reason)
    }
    return { [self] in
      limits.removeLast()
      session.client.loop.cancel(timer)
    }
  }

  func checkTime() throws(Failure) {
    // A wait for a file does not run the loop.
    let now = MonotonicClock.now
    timeout = timeout ?? limits.first { $0.end <= now }?.timeout
    guard let timeout else { return }
    throw Failure(.assertion, "", timeout.reason, hint: timeout.hint)
  }

  // MARK: Events

  /// What the session has printed since the last call of this function.
  private func output() -> String {
    session.console.output.flush()
    return capture.take()
  }

  private func result(of test: Suite.Test, _ outcome: TestOutcome) -> TestResult {
    var event = TestResult(file: file.path, line: test.line, name: test.name, outcome: outcome)
    event.tags = file.tags + test.tags
    return event
  }

  func problem(_ error: any Error) -> SuiteError {
    SuiteError(options.explained(error, of: file.path), line: line, secrets)
  }

  /// How to record a call to which no recording has a response; nil for other calls.
  private func replayHint(of stream: SessionStream) -> String? {
    guard stream.printer.end?.error?.origin == .interceptor("replay") else { return nil }
    return options.recordings?.hint(for: file.path)
  }
}

// MARK: What the session does

extension SuiteRunner: SessionObserver {
  var isTimeOver: Bool { timeout != nil }

  var timeLeft: Duration? { limits.map { max($0.end - .now, .zero) }.min() }

  /// Ends the step before a command. A check may follow a check or a call that failed, and a wait a call, since a check may
  /// follow it.
  func settle(before statement: SessionStatement) throws {
    let hasFailed = step?.failures.isEmpty == false
    guard let verb = statement.verb, verb.isCheck || verb.mayFollowFailure && !hasFailed else {
      return try settle()
    }
  }

  func willExecute(_ statement: SessionStatement) throws {
    self.statement = statement
    try checkTime()
  }

  func began(_ stream: SessionStream) {
    step?.calls.append(StepRun.Call(stream, line: line, place: session.place ?? here))
  }

  func exchanged(_ message: SessionMessage, isRequest: Bool, on stream: SessionStream) {
    compare(message, isRequest: isRequest, on: stream)
    guard coverage != nil, let message = try? message.message() else { return }
    coverage?.add(message, of: stream.plan)
  }

  func ended(_ stream: SessionStream) {
    step?.end(stream)
    if let end = stream.printer.end { coverage?.end(stream.plan, end.code) }
  }

  func checked(_ check: String, _ outcome: ConditionOutcome, of stream: SessionStream) -> Bool {
    switch outcome {
    case .holds: return true
    case .invalid: return false
    case .fails(let mismatch):
      step?.fail(
        at: session.place ?? here, check: check, mismatch, hint: replayHint(of: stream), of: stream)
      return true
    }
  }
}
