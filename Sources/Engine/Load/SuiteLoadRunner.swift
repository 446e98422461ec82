import RPCurlBase
import RPCurlCall
import RPCurlInterceptors
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports
import RPCurlTransport

/// Runs the tests of a suite in processes of their own, at the times that a `LoadPacer` decides, and counts them.
final class SuiteLoadRunner {
  /// The phases of a run.
  private enum Phase {
    /// The setups run.
    case preparing
    /// Tests start.
    case starting
    /// No more tests start; those that run are measured until a time.
    case ending(since: Duration, limit: Duration)
    /// The processes run their teardowns, until a time.
    case closing(since: Duration, limit: MonotonicClock.Instant)
  }

  /// How long tests may take after the last one has started, and then teardowns.
  private static let patience = Duration.seconds(5)

  private let suite: SuiteLoad
  private let options: LoadOptions
  private let console: Console
  private let client: LoopClient
  private let timer: PreciseTimer
  private let raw: RawLatencies?
  private var processes: [SuiteLoadProcess] = []
  private var pacer: LoadPacer
  private var generator: SeededGenerator
  /// How often each test has started.
  private var started: [Int]
  private var statistics: LoadStatistics
  private var ofTests: [LoadStatistics]
  private var ofMethods: [(name: String, statistics: LoadStatistics)] = []
  private var begin = MonotonicClock.now
  /// The time of day at the beginning, in nanoseconds since 1970.
  private var time: Int64 = 0
  private var phase = Phase.preparing
  private var isInterrupted = false
  private var failure: Failure?

  init(_ suite: SuiteLoad, _ options: LoadOptions, seed: UInt64?, clients: ClientSource) throws(Failure) {
    (self.suite, self.options, console) = (suite, options, clients.console)
    client = try clients.client()
    guard let timer = PreciseTimer(client.loop) else {
      throw Failure(.internalError, "timer", "too many open files")
    }
    self.timer = timer
    raw = try options.rawPath.map { (path) throws(Failure) in try RawLatencies(path, waitLimit: nil) }
    pacer = LoadPacer(options.shape)
    generator = SeededGenerator(seed: seed)
    started = Array(repeating: 0, count: suite.tests.count)
    let lead = options.shape.leadTime
    statistics = LoadStatistics(from: lead)
    ofTests = suite.tests.map { _ in LoadStatistics(from: lead) }
  }

  /// Makes the run. Returns what `LoadRunner.run` does.
  func run() throws -> (report: LoadReport, start: Int64, problem: Failure?) {
    let line = ProgressLine(console, client.loop, printsMessages: false) { [unowned self] in
      statistics.progress(running: running, at: elapsed, options.shape)
    }
    defer {
      line?.finish()
      for process in processes { kill(-process.process, SIGKILL) }
      for process in processes { _ = process.conclude() }
    }
    let runFiles = RunFiles()
    for _ in 0..<options.shape.jobs {
      let process = try SuiteLoadProcess(suite.arguments, runFiles)
      processes.append(process)
      client.loop.watch(process.events.descriptor) { [unowned self] in read(process) }
    }
    _ = try CommandLoop(client.loop).run(
      onInterrupt: { [unowned self] in
        console.error.endEchoedLine()
        isInterrupted = true
        close()
        for process in processes where process.running != nil { kill(process.process, SIGINT) }
      },
      until: { advance() })
    timer.stop()
    // What was measured before a process failed is reported.
    let problem = raw?.finish() ?? failure
    if let failure, statistics.calls == 0 { throw failure }
    var end = elapsed
    if case .closing(let since, _) = phase { end = since }
    var report = LoadReport(
      target: suite.path, method: "suite", shape: options.shape, connections: nil, statistics: statistics,
      missed: pacer.missed(at: end), end: end, isInterrupted: isInterrupted)
    report.tests = zip(suite.tests, ofTests).map { LoadReport.Part(name: $0.name, statistics: $1) }
    report.methods = ofMethods.sorted { $0.name < $1.name }.map(LoadReport.Part.init)
    return (report, time + options.shape.leadTime.nanoseconds, problem)
  }

  private var elapsed: Duration { .now - begin }
  private var running: Int { processes.count { $0.running != nil } }

  /// Starts the tests that are due. Returns whether the run is over.
  private func advance() -> Bool {
    switch phase {
    case .preparing:
      guard processes.allSatisfy(\.isReady) else { break }
      begin = .now
      time = SystemValues(waitLimit: nil).nanosecondsSince1970
      phase = .starting
      startTests()
    case .starting: startTests()
    case .ending(_, let limit):
      guard running > 0, elapsed < limit else {
        close()
        break
      }
      timer.set(begin + limit)
    case .closing(_, let limit):
      guard .now < limit else { return true }
      timer.set(limit)
    }
    return processes.isEmpty
  }

  private func startTests() {
    while case .starting = phase {
      let now = elapsed
      switch pacer.next(at: now, running: running) {
      case .start(let due, let isMeasured):
        guard let process = processes.first(where: { $0.running == nil }) else { return }
        let test = chosenTest()
        process.start(.init(test: test, due: due, isMeasured: isMeasured), number: started[test])
        started[test] += 1
      case .wait(let until):
        if let until { timer.set(begin + until) }
        return
      case .finish(let end):
        phase = .ending(since: end, limit: pacer.startOfLimit(finishedAt: now) + Self.patience)
        // The loop asks again, and closes if nothing runs.
        client.loop.mailbox.post {}
      }
    }
  }

  /// A test, by the weights.
  private func chosenTest() -> Int {
    let weights = suite.weights
    var place = Int.random(in: 0..<max(weights.reduce(0, +), 1), using: &generator)
    return weights.firstIndex { weight in
      place -= weight
      return place < 0
    } ?? 0
  }

  /// Starts no more tests, and lets the processes end.
  private func close() {
    if case .closing = phase { return }
    var since = elapsed
    if case .ending(let end, _) = phase { since = end }
    phase = .closing(since: since, limit: .now + Self.patience)
    for process in processes { process.endOrders() }
    client.loop.mailbox.post {}
  }

  // MARK: Events

  private func read(_ process: SuiteLoadProcess) {
    for item in process.events.read() {
      switch item {
      case .event(.file): process.isReady = true
      case .event(.test(let result)): count(result, process)
      case .event(.fileEnd(let end)):
        process.hasEnded = true
        if let error = end.error { fail(error) }
      case .event: break
      case .problem(let why, let isTooLong):
        if isTooLong { kill(-process.process, SIGKILL) }
        fail(SuiteError(what: suite.path, why: why))
      case .end:
        client.loop.unwatch(process.events.descriptor)
        processes.removeAll { $0 === process }
        if let why = process.conclude() { fail(SuiteError(what: suite.path, why: why)) }
      }
    }
  }

  /// Ends the run by the first error that is not one of a test.
  private func fail(_ error: SuiteError) {
    guard failure == nil, !isInterrupted else { return }
    let place = error.line.map { "\(suite.path), line \($0)" } ?? suite.path
    let what = error.what.isEmpty || error.what == suite.path ? place : "\(place): \(error.what)"
    failure = Failure(.input, what, error.why, hint: error.hint)
    close()
  }

  private func count(_ result: TestResult, _ process: SuiteLoadProcess) {
    guard let run = process.running.take(), run.isMeasured, !isInterrupted else { return }
    let end = elapsed
    var sample = LoadSample(due: run.due, end: end, Self.outcome(of: result))
    sample.reason = Self.reason(of: result)
    statistics.add(sample)
    ofTests[run.test].add(sample)
    raw?.add(sample.latency)
    for call in result.steps.flatMap(\.calls) {
      guard let code = StatusCode(name: call.status) else { continue }
      let index =
        ofMethods.firstIndex { $0.name == call.method }
        ?? {
          ofMethods.append((call.method, LoadStatistics(from: options.shape.leadTime)))
          return ofMethods.count - 1
        }()
      ofMethods[index].statistics.add(LoadSample(due: end - call.duration, end: end, .status(code)))
    }
  }

  private static func outcome(of result: TestResult) -> LoadOutcome {
    switch result.outcome {
    case .passed, .skipped: .status(.ok)
    case .failed: .assertion
    case .error: .status(.unknown)
    }
  }

  private static func reason(of result: TestResult) -> String {
    if let error = result.error { return "\(result.name): \(error.what): \(error.why)" }
    guard let check = result.steps.lazy.flatMap(\.failures).first else { return "" }
    return "\(result.name): \(check.check): expected \(check.expected), got \(check.got)"
  }
}
