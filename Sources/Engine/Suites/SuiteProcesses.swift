import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// Runs suites in processes of their own, several at a time, and receives their events.
///
/// A suite that crashes, by a plugin for example, ends only its process.
package final class SuiteProcesses: Steps {
  let engine: Engine
  private let runFiles: RunFiles?
  private let arguments: (String) -> [String]
  private var receive: (SuiteEvent) -> Void = { _ in }
  /// The suites that have not started, from the last one. Those that run alone are the last.
  private var waiting: [String]
  private let exclusive: Set<String>
  private var workers: [SuiteProcess] = []
  private var isStopped = false
  /// Why the run itself has stopped them; nil if it has not.
  private var ending: Ending?

  private enum Ending {
    /// A test has failed.
    case failure
    /// The run took longer than its limit, in these words.
    case timeout(String)
  }

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - files: The suites, in the order of their start.
  ///   - exclusive: Those of them that run alone, after the others.
  ///   - jobs: How many run at the same time.
  ///   - clients: What waits for the events.
  ///   - runFiles: The files that the suites write; nil if each may replace those of the others.
  ///   - patience: How long they may take to run their teardowns once they are stopped.
  ///   - arguments: The program and its arguments that run a suite, and print its events on standard output.
  /// - Throws: `Failure` if libcurl cannot be used.
  package init(
    _ files: [String], exclusive: Set<String> = [], jobs: Int, _ clients: ClientSource,
    runFiles: RunFiles? = nil, patience: Duration = .seconds(10),
    arguments: @escaping (String) -> [String]
  ) throws(Failure) {
    waiting = (files.filter { !exclusive.contains($0) } + files.filter(exclusive.contains)).reversed()
    engine = Engine(
      Schedule(jobs: jobs, count: files.count), try clients.client(), clients.console, closingTime: patience)
    self.exclusive = exclusive
    self.runFiles = runFiles
    self.arguments = arguments
  }

  /// Starts no more suites, and asks those that run to end. A test that this interrupts is reported as skipped.
  package func endEarly() {
    ending = ending ?? .failure
    end(.failed)
  }

  /// Runs all suites.
  ///
  /// - Parameters:
  ///   - limit: The time after which they are stopped; nil for no limit.
  ///   - receive: Receives the events of all files. Those of one file are in order.
  /// - Returns: Why not all suites ran to their end; nil if they did.
  package func run(limit: Duration?, _ receive: @escaping (SuiteEvent) -> Void) throws(Failure) -> String? {
    self.receive = receive
    defer { self.receive = { _ in } }
    var reason: String?
    let loop = engine.client.loop
    let timer = limit.map { limit in
      loop.schedule(at: .now + limit) { [unowned self] in
        guard !engine.isInterrupted else { return }
        let words = "the run took longer than \(limit.brief)"
        reason = words
        ending = ending ?? .timeout(words)
        for file in waiting.reversed() { refuse(file, words) }
        end(.late)
      }
    }
    defer { if let timer { loop.cancel(timer) } }
    try drive()
    for worker in workers { endNow(worker) }
    return reason ?? (engine.isInterrupted ? Interrupt.reason : nil)
  }

  var isReady: Bool { waiting.last.map(exclusive.contains) != true || workers.isEmpty }
  var running: Int { workers.count }

  func start(due: Duration, isMeasured: Bool) {
    guard let file = waiting.popLast() else { return }
    do throws(SystemError) {
      let worker = try SuiteProcess(file, arguments(file), runFiles)
      workers.append(worker)
      engine.client.loop.watch(worker.descriptor) { [unowned self] in read(worker) }
    } catch {
      refuse(file, error.reason)
    }
  }

  func close(_ end: Engine.End) {
    waiting = []
    // A second signal would end them without their teardowns.
    guard !isStopped else { return }
    isStopped = true
    for worker in workers { kill(worker.process, SIGINT) }
  }

  /// Reports a suite that cannot be started. Those that run, and the others, are not affected.
  private func refuse(_ file: String, _ why: String) {
    receive(.fileEnd(SuiteFileEnd(file: file, errors: [SuiteError(what: file, why: why)], duration: .zero)))
  }

  private func read(_ worker: SuiteProcess) {
    for item in worker.read() {
      switch item {
      // Each worker reports a run of one file.
      case .event(.run), .event(.end): break
      case .event(let event):
        if case .fileEnd = event { worker.hasEnded = true }
        receive(ending.map { Self.changed(event, $0) } ?? event)
      case .problem(let why): fail(worker, why)
      case .end: end(worker)
      }
    }
  }

  /// An event after the run was stopped: what that has interrupted has no error, or that of the limit.
  private static func changed(_ event: SuiteEvent, _ ending: Ending) -> SuiteEvent {
    switch (event, ending) {
    case (.test(var test), .timeout(let reason)) where test.isInterrupted && test.outcome == .error:
      test.error?.why = reason
      return .test(test)
    case (.test(let test), _) where test.isInterrupted:
      var skipped = TestResult(file: test.file, line: test.line, name: test.name, outcome: .skipped)
      (skipped.row, skipped.tags, skipped.duration) = (test.row, test.tags, test.duration)
      skipped.reason = "the run ended early"
      return .test(skipped)
    case (.fileEnd(var end), _) where end.isInterrupted:
      (end.errors, end.isInterrupted) = ([], false)
      return .fileEnd(end)
    default: return event
    }
  }

  /// Ends a process that has not ended in time, with those below it.
  private func endNow(_ worker: SuiteProcess) {
    kill(-worker.process, SIGKILL)
    // A process that has left the group may hold the pipe, so its end is not awaited.
    read(worker)
    if workers.contains(where: { $0 === worker }) { end(worker) }
  }

  private func end(_ worker: SuiteProcess) {
    workers.removeAll { $0 === worker }
    engine.client.loop.unwatch(worker.descriptor)
    // A process that was just started does not handle the signal that stops it yet: its suite was not run.
    guard let (why, signal) = worker.conclude(), !engine.isClosing || signal != SIGINT else { return }
    fail(worker, why)
  }

  /// Reports that a suite did not run to its end.
  private func fail(_ worker: SuiteProcess, _ why: String) {
    guard !worker.hasEnded else { return }
    worker.hasEnded = true
    refuse(worker.file, why)
  }
}
