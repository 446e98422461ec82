import RPCurlBase
import RPCurlCall
import RPCurlPlatform
import RPCurlProgram

/// Does the same again and again: `--repeat` and `--every`.
package struct Repetition {
  private static let most = 1_000_000_000

  private let schedule: Schedule
  private let failsEarly: Bool

  /// Resolves the options. Returns nil without them.
  ///
  /// - Throws: `Failure` if the number is not positive.
  package init?(_ invocation: Invocation) throws(Failure) {
    guard invocation.last(of: [.repeats, .every]) != nil else { return nil }
    let count = invocation.number(.repeats)
    if let count, !(1...Self.most).contains(count) {
      throw Failure(.usage, "--repeat \(count)", "not a number from 1 to \(Self.most)")
    }
    schedule = Schedule(count: count, every: invocation.duration(.every) ?? .zero)
    failsEarly = invocation.has(.failEarly)
  }

  /// Runs what is repeated.
  ///
  /// - Parameters:
  ///   - client: Its loop runs while the next beginning is awaited.
  ///   - console: Where failures are reported.
  ///   - body: What is repeated, with its number from 1. A failure of a call or check is counted; any other ends the
  ///     repetition.
  /// - Throws: What ends the repetition, or the status of the first failure.
  package func run(
    _ client: LoopClient, _ console: Console, _ body: (_ number: Int) throws -> Void
  ) throws {
    let begin = MonotonicClock.now
    var schedule = schedule
    var tally = Tally(.time, failsEarly: failsEarly)
    while true {
      let next = schedule.next(at: .now - begin, running: 0)
      if case .finish = next { break }
      var due = MonotonicClock.now
      if case .wait(let until?) = next { due = begin + until }
      guard try tally.completed == 0 || wait(client, until: due) else { throw tally.interruption }
      guard case .start = next else { continue }
      let number = tally.completed + 1
      do {
        try body(number)
        _ = tally.add(.succeeded, number: number)
      } catch let failure as Failure {
        guard tally.add(.failed(failure.event, failure.status), number: number) == .counts else {
          throw failure
        }
        if let message = failure.message { console.error.report(ErrorReport(message, failure.status)) }
      }
    }
    guard let status = tally.status else { return }
    if let summary = tally.summary(of: tally.completed) { console.error.report(summary) }
    throw Failure(reported: status)
  }

  /// Waits for a time. Returns false if a signal arrived first.
  private func wait(_ client: LoopClient, until time: MonotonicClock.Instant) throws(Failure) -> Bool {
    var isOver = false
    let timer = client.loop.schedule(at: time) { isOver = true }
    defer { client.loop.cancel(timer) }
    return try CommandLoop(client.loop).wait { isOver }
  }
}
