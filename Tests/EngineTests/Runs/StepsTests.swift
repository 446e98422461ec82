import RPCurlCFakeCurl
import RPCurlPlatform
import RPCurlProgram
import RPCurlReports
import Testing

@testable import RPCurlEngine

/// Runs of steps that do nothing.
struct StepsTests {
  /// Steps that end soon after their start, unless they never do.
  private final class Known: Steps {
    let engine: Engine
    let isEndless: Bool
    /// The number of steps after which they cannot be made.
    let most: Int
    private(set) var running = 0
    private(set) var started = 0
    private(set) var mostRunning = 0
    private(set) var ends: [Engine.End] = []
    private(set) var isReady = true

    init(_ schedule: Schedule, patience: Duration? = nil, isEndless: Bool = false, most: Int = .max) throws {
      fake_install()
      let clients = ClientSource(Console(OutputCapture()), verbosity: 0, showsSecrets: false)
      engine = Engine(schedule, try clients.client(), clients.console, patience: patience, closingTime: .zero)
      (self.isEndless, self.most) = (isEndless, most)
    }

    func start(due: Duration, isMeasured: Bool) {
      guard started < most else { return end(.failed, Failure(.input, "", "no more")) }
      started += 1
      running += 1
      mostRunning = max(mostRunning, running)
      isReady = isEndless || !started.isMultiple(of: 5)
      if !isEndless { engine.client.loop.schedule(at: .now) { [unowned self] in running -= 1 } }
    }

    // One that is not ready is in the next round.
    func settle() { isReady = true }

    func close(_ end: Engine.End) { ends.append(end) }

    func run() throws -> Known {
      try drive()
      return self
    }
  }

  @Test func stepsRunANumberAtATimeUntilAllHaveEnded() throws {
    let steps = try Known(Schedule(jobs: 3, count: 20)).run()
    #expect((steps.started, steps.mostRunning, steps.running) == (20, 3, 0))
    #expect(steps.ends == [.completed] && steps.engine.isClosing)
  }

  @Test func stepsThatTakeTooLongAreCanceled() throws {
    let steps = try Known(Schedule(jobs: 3, count: 2), patience: .milliseconds(1), isEndless: true).run()
    #expect((steps.started, steps.running) == (2, 2))
    #expect(steps.ends == [.late] && !steps.engine.isInterrupted)
  }

  @Test func stepsThatCannotBeMadeEndTheRun() throws {
    let steps = try Known(Schedule(jobs: 1), most: 7).run()
    #expect(steps.started == 7 && steps.ends == [.failed])
    #expect(steps.engine.failure?.message?.why == "no more")
    // A failure that follows is not another end, but a signal is.
    steps.end(.failed, Failure(.input, "", "again"))
    #expect(steps.ends == [.failed])
    steps.end(.interrupted)
    steps.end(.interrupted)
    #expect(steps.ends == [.failed, .interrupted] && steps.engine.failure?.message?.why == "no more")
  }

  @Test func endIsThatOfTheStarts() throws {
    let shape = LoadShape(.closed, at: 1, duration: .milliseconds(5))
    let steps = try Known(Schedule(shape)).run()
    #expect(steps.engine.end == .milliseconds(5) && steps.ends == [.completed])
    #expect(steps.started > 0)
  }
}
