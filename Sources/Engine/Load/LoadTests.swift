import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// The tests of a suite, which run in processes of their own.
final class LoadTests: Steps {
  /// A process, and the test that it runs.
  private final class Worker {
    let process: SuiteProcess
    /// The test, when it was due, and whether it is measured; nil if the process waits for an order.
    var running: (test: Int, due: Duration, isMeasured: Bool)?
    /// Whether the setup has ended.
    var isReady = false

    init(_ process: SuiteProcess) { self.process = process }
  }

  let engine: Engine
  private let measurement: LoadMeasurement
  private let suite: SuiteLoad
  private let leadTime: Duration
  private var workers: [Worker] = []
  private var generator: SeededGenerator
  /// How often each test has started.
  private var started: [Int]
  private var ofTests: [LoadStatistics]
  private var ofMethods: [(name: String, statistics: LoadStatistics)] = []

  init(_ suite: SuiteLoad, _ options: LoadOptions, seed: UInt64?, clients: ClientSource) throws(Failure) {
    self.suite = suite
    engine = Engine(
      Schedule(options.shape), try clients.client(), clients.console, patience: LoadOptions.patience,
      closingTime: LoadOptions.patience)
    measurement = try LoadMeasurement(options, waitLimit: nil)
    generator = SeededGenerator(seed: seed)
    started = Array(repeating: 0, count: suite.tests.count)
    leadTime = options.shape.leadTime
    ofTests = suite.tests.map { [leadTime] _ in LoadStatistics(from: leadTime) }
  }

  /// Runs the tests. Returns what was measured.
  func run() throws(Failure) -> LoadResult {
    defer {
      for worker in workers { kill(-worker.process.process, SIGKILL) }
      for worker in workers { _ = worker.process.conclude() }
    }
    let runFiles = RunFiles()
    for _ in 0..<engine.schedule.jobs {
      let worker: Worker
      do throws(SystemError) {
        worker = Worker(try SuiteProcess(suite.path, suite.arguments, runFiles, takesOrders: true))
      } catch {
        throw Failure(.internalError, "load", error)
      }
      workers.append(worker)
      engine.client.loop.watch(worker.process.descriptor) { [unowned self] in read(worker) }
    }
    var result = try measurement.run(self, suite.path, "suite")
    result.report.tests = zip(suite.tests, ofTests).map { LoadReport.Part(name: $0.name, statistics: $1) }
    result.report.methods = ofMethods.sorted { $0.name < $1.name }.map(LoadReport.Part.init)
    return result
  }

  var isReady: Bool { workers.allSatisfy(\.isReady) }
  var running: Int { workers.count { $0.running != nil } }
  var isOver: Bool { workers.isEmpty }
  var progress: Progress? { measurement.progress(of: self) }

  func start(due: Duration, isMeasured: Bool) {
    // There is one, unless a process has failed, which ends the load.
    guard let worker = workers.first(where: { $0.running == nil }) else { return end(.completed) }
    let test = chosenTest()
    worker.running = (test, due, isMeasured)
    worker.process.order(SuiteOrders.Order(test: test, number: started[test]))
    started[test] += 1
  }

  func close(_ end: Engine.End) {
    for worker in workers { worker.process.endOrders() }
    guard end == .interrupted else { return }
    for worker in workers where worker.running != nil { kill(worker.process.process, SIGINT) }
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

  // MARK: Events

  private func read(_ worker: Worker) {
    for item in worker.process.read() {
      switch item {
      case .event(.file): worker.isReady = true
      case .event(.test(let result)): count(result, worker)
      case .event(.fileEnd(let end)):
        worker.process.hasEnded = true
        if let error = end.errors.first { fail(error) }
      case .event: break
      case .problem(let why): fail(SuiteError(what: suite.path, why: why))
      case .end:
        engine.client.loop.unwatch(worker.process.descriptor)
        workers.removeAll { $0 === worker }
        if let (why, _) = worker.process.conclude() { fail(SuiteError(what: suite.path, why: why)) }
      }
    }
  }

  /// Ends the load by the first error that is not one of a test.
  private func fail(_ error: SuiteError) {
    guard !engine.isInterrupted else { return }
    let place = error.line.map { "\(suite.path), line \($0)" } ?? suite.path
    let what = error.what.isEmpty || error.what == suite.path ? place : "\(place): \(error.what)"
    end(.failed, Failure(.input, what, error.why, hint: error.hint))
  }

  private func count(_ result: TestResult, _ worker: Worker) {
    guard let (test, due, isMeasured) = worker.running.take(), isMeasured, !engine.isInterrupted else {
      return
    }
    let end = engine.elapsed
    var sample = LoadSample(due: due, end: end, Self.outcome(of: result))
    sample.reason = Self.reason(of: result)
    measurement.add(sample)
    ofTests[test].add(sample)
    for call in result.steps.flatMap(\.calls) {
      guard let code = StatusCode(name: call.status) else { continue }
      let index =
        ofMethods.firstIndex { $0.name == call.method }
        ?? {
          ofMethods.append((call.method, LoadStatistics(from: leadTime)))
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
    if let error = result.error {
      return [result.name, error.what, error.why].filter { !$0.isEmpty }.joined(separator: ": ")
    }
    guard let check = result.steps.lazy.flatMap(\.failures).first else { return "" }
    return "\(result.name): \(check.check): expected \(check.expected), got \(check.got)"
  }
}
