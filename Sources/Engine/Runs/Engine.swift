import RPCurlBase
import RPCurlCall
import RPCurlProgram
import RPCurlReports
import RPCurlTransport

/// What an engine makes: calls, tests of a suite, or suites.
protocol Steps: AnyObject {
  var engine: Engine { get }
  /// Whether a step can start now.
  var isReady: Bool { get }
  /// The number of steps that have not ended.
  var running: Int { get }
  /// Whether nothing is left of what has started.
  var isOver: Bool { get }
  /// What the line on the terminal shows; nil for no line.
  var progress: Progress? { get }
  /// Starts a step.
  func start(due: Duration, isMeasured: Bool)
  /// Does what follows events and the starts of steps.
  func settle()
  /// Cancels what runs, unless all has ended.
  func close(_ end: Engine.End)
}

/// The time of a run: when its steps start, and how it ends.
final class Engine {
  /// Why a run ends.
  enum End {
    /// All steps have ended.
    case completed
    /// Steps still run after the time that they have.
    case late
    /// By a signal.
    case interrupted
    /// Steps cannot be made any more, or need not.
    case failed
  }

  private enum Phase: Int {
    case preparing
    /// Steps start.
    case starting
    /// No more steps start; those that run may take until the limit.
    case ending
    /// What has started ends, until the limit.
    case closing
  }

  let client: LoopClient
  let console: Console
  fileprivate(set) var schedule: Schedule
  private var phase = Phase.preparing
  private var limit: Duration?
  /// When steps have stopped starting.
  private(set) var end = Duration.zero
  private(set) var isInterrupted = false
  /// Why steps cannot be made.
  private(set) var failure: Failure?
  private var begin = MonotonicClock.now
  /// How long steps may take after the last one has started, or after the duration; nil for no limit.
  private let patience: Duration?
  /// The time that is left to what has started when the run ends; nil for no limit.
  private let closingTime: Duration?
  private lazy var timer = PreciseTimer(client.loop)

  /// Prepares a run.
  init(
    _ schedule: Schedule, _ client: LoopClient, _ console: Console, patience: Duration? = nil,
    closingTime: Duration? = nil
  ) {
    (self.schedule, self.client, self.console) = (schedule, client, console)
    (self.patience, self.closingTime) = (patience, closingTime)
  }

  /// The time since the first step could start.
  var elapsed: Duration { .now - begin }
  /// Whether steps may start.
  var isStarting: Bool { phase == .starting }
  /// Whether what has started is to end.
  var isClosing: Bool { phase == .closing }

  fileprivate func begin(if isReady: Bool) {
    guard phase == .preparing, isReady else { return }
    begin = .now
    phase = .starting
  }

  /// Starts no more steps.
  ///
  /// - Parameter end: The end of what is measured; nil for the present time.
  func finishStarts(at end: Duration? = nil) {
    guard phase.rawValue < Phase.ending.rawValue else { return }
    let now = elapsed
    self.end = end ?? now
    phase = .ending
    limit(to: patience.map { schedule.startOfLimit(finishedAt: now) + $0 })
  }

  private func limit(to limit: Duration?) {
    self.limit = limit
    if let limit { wake(at: limit) }
  }

  fileprivate func wake(at time: Duration) {
    if let timer { timer.set(begin + time) } else { client.loop.schedule(at: begin + time) {} }
  }

  /// Why the steps that run end now; nil if they go on, or are to end already.
  fileprivate func end(ofRunning running: Int) -> End? {
    guard phase == .ending else { return nil }
    return running == 0 ? .completed : isLate ? .late : nil
  }

  fileprivate var isLate: Bool { limit.map { elapsed >= $0 } ?? false }

  /// Notes that the run ends. Returns false if it has ended for this reason before.
  fileprivate func close(_ end: End, _ failure: Failure?) -> Bool {
    guard !isInterrupted, self.failure == nil || end == .interrupted else { return false }
    isInterrupted = end == .interrupted
    self.failure = self.failure ?? failure
    if isClosing { return true }
    finishStarts()
    phase = .closing
    limit(to: closingTime.map { elapsed + $0 })
    // No event may follow.
    client.loop.mailbox.post {}
    return true
  }

  fileprivate func stop() { timer?.stop() }
}

extension Steps {
  var isReady: Bool { true }
  var isOver: Bool { running == 0 }
  var progress: Progress? { nil }
  func settle() {}

  /// Makes the steps of a run that prints nothing meanwhile.
  func drive() throws(Failure) {
    let (loop, console) = (engine.client.loop, engine.console)
    let line = progress.flatMap { _ in
      ProgressLine(console, loop, printsMessages: false) { [unowned self] in progress ?? Progress() }
    }
    defer {
      line?.finish()
      engine.stop()
    }
    _ = try CommandLoop(loop).run(
      onInterrupt: { [unowned self] in
        if !console.output.hasFailed { console.error.endEchoedLine() }
        end(.interrupted)
      },
      until: { advance() })
  }

  /// Makes the steps of a run that prints. `CommandLoop` describes the parameters and the result.
  func drive(
    whenBehind: @escaping (_ isBehind: Bool) -> Void, conclude: () -> ExitStatus?
  ) throws(Failure) -> (isInterrupted: Bool, status: ExitStatus?) {
    try CommandLoop(engine.client.loop).run(
      flushing: engine.console, progress: { [unowned self] in progress ?? Progress() },
      whenBehind: whenBehind, onInterrupt: { [unowned self] in end(.interrupted) }, until: { advance() },
      conclude: conclude)
  }

  /// Ends the run, once for each reason.
  func end(_ end: Engine.End, _ failure: Failure? = nil) {
    if engine.close(end, failure) { close(end) }
  }

  /// Starts the steps that are due. Returns whether the run is over.
  private func advance() -> Bool {
    settle()
    engine.begin(if: isReady)
    startSteps()
    if let reason = engine.end(ofRunning: running) { end(reason) }
    // No event follows a step that has ended within its start, or that was canceled here.
    let before = running
    settle()
    if running < before { engine.client.loop.mailbox.post {} }
    return engine.isClosing && (isOver || engine.isLate)
  }

  private func startSteps() {
    for _ in 0...engine.schedule.jobs {
      guard engine.isStarting, isReady else { return }
      let now = engine.elapsed
      switch engine.schedule.next(at: now, running: running) {
      case .start(let due, let isMeasured): start(due: due, isMeasured: isMeasured)
      case .wait(let until):
        if let until { engine.wake(at: until) }
        return
      case .finish(let end): return engine.finishStarts(at: end)
      }
    }
    // Steps may end within their start. Other work comes first, and the loop must not wait.
    engine.client.loop.mailbox.post {}
  }
}
