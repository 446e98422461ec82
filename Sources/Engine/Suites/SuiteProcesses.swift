import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// Runs suites in processes of their own, several at a time, and receives their events.
///
/// A suite that crashes, by a plugin for example, ends only its process.
package final class SuiteProcesses {
  /// A suite that runs.
  private struct Worker {
    let file: String
    let process: pid_t
    var events: SuiteEventReader
    /// Whether the end of the file was reported.
    var hasEnded = false
  }

  private let jobs: Int
  private let runFiles: RunFiles?
  private let patience: Duration
  private let arguments: (String) -> [String]
  private var receive: (SuiteEvent) -> Void = { _ in }
  private var waiting: [String]
  private var workers: [Worker] = []
  /// When workers that still run are killed; nil as long as they are not stopped.
  private var killTime: MonotonicClock.Instant?
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
  ///   - jobs: How many run at the same time.
  ///   - runFiles: The files that the suites write; nil if each may replace those of the others.
  ///   - patience: How long they may take to run their teardowns once they are stopped.
  ///   - arguments: The program and its arguments that run a suite, and print its events on standard output.
  package init(
    _ files: [String], jobs: Int, runFiles: RunFiles? = nil, patience: Duration = .seconds(10),
    arguments: @escaping (String) -> [String]
  ) {
    waiting = files.reversed()
    self.jobs = jobs
    self.runFiles = runFiles
    self.patience = patience
    self.arguments = arguments
  }

  /// Starts no more suites, and asks those that run to end. A test that this interrupts is reported as skipped.
  package func endEarly() {
    end(because: .failure)
  }

  private func end(because ending: Ending) {
    self.ending = self.ending ?? ending
    if case .timeout(let reason) = ending { for file in waiting.reversed() { refuse(file, reason) } }
    stop()
  }

  private func stop() {
    waiting = []
    guard killTime == nil else { return }
    killTime = .now + patience
    for worker in workers { kill(worker.process, SIGINT) }
  }

  /// Runs all suites.
  ///
  /// - Parameters:
  ///   - limit: The time after which they are stopped; nil for no limit.
  ///   - receive: Receives the events of all files. Those of one file are in order.
  /// - Returns: Why not all suites ran to their end; nil if they did.
  package func run(limit: Duration?, _ receive: @escaping (SuiteEvent) -> Void) -> String? {
    self.receive = receive
    defer { self.receive = { _ in } }
    let end = limit.map { MonotonicClock.now + $0 }
    let interrupt = Interrupt.install()
    var reason: String?
    while true {
      while workers.count < jobs, let file = waiting.popLast() { start(file) }
      if workers.isEmpty { return reason }
      if Interrupt.isPending, reason == nil {
        reason = Interrupt.reason
        stop()
      } else if let end, MonotonicClock.now >= end, reason == nil, let limit {
        let words = "the run took longer than \(limit.brief)"
        reason = words
        self.end(because: .timeout(words))
      }
      if let killTime, MonotonicClock.now >= killTime { endAll() }
      wait(interrupt, until: [killTime, reason == nil ? end : nil].compactMap(\.self).min())
    }
  }

  private func start(_ file: String) {
    guard let pipe = Pipe() else { return refuse(file, FileContents.lastError()) }
    var descriptors = [(own: pipe.writeEnd, its: Int32(1))]
    if let runFiles { descriptors.append((runFiles.descriptor, RunFiles.inheritedDescriptor)) }
    // Without a terminal a prompt fails, which several processes at a time could not share.
    let started = ChildProcess.start(
      arguments(file), hasInput: file == "-", giving: descriptors, leadsSession: true)
    close(pipe.writeEnd)
    switch started {
    case .success(let process):
      workers.append(Worker(file: file, process: process, events: SuiteEventReader(pipe.readEnd)))
    case .failure(let error):
      close(pipe.readEnd)
      refuse(file, "cannot start a process: \(error.why)")
    }
  }

  /// Reports a suite that cannot be started. Those that run, and the others, are not affected.
  private func refuse(_ file: String, _ why: String) {
    receive(.fileEnd(SuiteFileEnd(file: file, error: SuiteError(what: file, why: why), duration: .zero)))
  }

  /// Waits for events, a signal or a time.
  private func wait(_ interrupt: Int32?, until time: MonotonicClock.Instant?) {
    var descriptors = workers.map { pollfd(fd: $0.events.descriptor, events: Int16(POLLIN), revents: 0) }
    if let interrupt, !Interrupt.isPending {
      descriptors.append(pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0))
    }
    let milliseconds = time.map { time in
      Int32(clamping: max(0, (time - MonotonicClock.now).microseconds / 1000 + 1))
    }
    guard poll(&descriptors, nfds_t(descriptors.count), milliseconds ?? -1) > 0 else { return }
    for index in workers.indices.reversed() where descriptors[index].revents != 0 { read(index) }
  }

  private func read(_ index: Int) {
    for item in workers[index].events.read() {
      switch item {
      case .event(let event): receive(event, of: index)
      case .problem(let why, let isTooLong):
        if isTooLong { kill(-workers[index].process, SIGKILL) }
        fail(index, why)
      case .end: end(index)
      }
    }
  }

  private func receive(_ event: SuiteEvent, of index: Int) {
    switch event {
    // Each worker reports a run of one file.
    case .run, .end: return
    case .fileEnd: workers[index].hasEnded = true
    case .file, .test, .coverage: break
    }
    receive(ending.map { Self.changed(event, $0) } ?? event)
  }

  /// An event after the run was stopped: what that has interrupted has no error, or that of the limit.
  private static func changed(_ event: SuiteEvent, _ ending: Ending) -> SuiteEvent {
    // The reason of SIGINT in the process of the suite.
    let interrupted = "interrupted"
    switch (event, ending) {
    case (.test(var test), .timeout(let reason)) where test.error?.why.hasSuffix(interrupted) == true:
      test.error?.why = reason
      return .test(test)
    case (.test(let test), _)
    where test.error?.why.hasSuffix(interrupted) == true
      || test.outcome == .skipped && test.reason == interrupted:
      var skipped = TestResult(file: test.file, line: test.line, name: test.name, outcome: .skipped)
      (skipped.row, skipped.tags, skipped.duration) = (test.row, test.tags, test.duration)
      skipped.reason = "the run ended early"
      return .test(skipped)
    case (.fileEnd(var end), _) where end.error?.why.hasSuffix(interrupted) == true:
      end.error = nil
      return .fileEnd(end)
    default: return event
    }
  }

  /// Ends all processes, with those below them.
  private func endAll() {
    for index in workers.indices.reversed() {
      kill(-workers[index].process, SIGKILL)
      // A process that has left the group may hold the pipe, so its end is not awaited.
      let count = workers.count
      read(index)
      if workers.count == count { end(index) }
    }
  }

  private func end(_ index: Int) {
    let worker = workers[index]
    close(worker.events.descriptor)
    let status = ChildProcess.wait(for: worker.process)
    let signal = status & 0x7F
    // A process that was just started does not handle the signal that stops it yet: its suite was not run.
    if !worker.hasEnded, killTime == nil || signal != SIGINT {
      fail(
        index,
        signal != 0 ? "the process was ended by signal \(signal)" : "the process ended with \(status >> 8)")
    }
    workers.remove(at: index)
  }

  /// Reports that a suite did not run to its end.
  private func fail(_ index: Int, _ why: String) {
    guard !workers[index].hasEnded else { return }
    workers[index].hasEnded = true
    let error = SuiteError(what: workers[index].file, why: why)
    receive(.fileEnd(SuiteFileEnd(file: workers[index].file, error: error, duration: .zero)))
  }
}
