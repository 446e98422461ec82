import RPCurlBase
import RPCurlCall
import RPCurlPlatform
import RPCurlProgram

/// Does the same again and again: `--repeat` and `--every`.
package struct Repetition {
  private static let most = 1_000_000_000

  /// The number of times; nil for no limit.
  private let count: Int?
  /// The time from one beginning to the next.
  private let interval: Duration
  private let failsEarly: Bool

  /// Resolves the options. Returns nil without them.
  ///
  /// - Throws: `Failure` if the number is not positive.
  package init?(_ invocation: Invocation) throws(Failure) {
    guard invocation.last(of: [.repeats, .every]) != nil else { return nil }
    count = invocation.number(.repeats)
    if let count, !(1...Self.most).contains(count) {
      throw Failure(.usage, "--repeat \(count)", "not a number from 1 to \(Self.most)")
    }
    interval = invocation.duration(.every) ?? .zero
    failsEarly = invocation.has(.failEarly)
  }

  /// Runs what is repeated.
  ///
  /// - Parameters:
  ///   - client: Its loop runs while the next beginning is awaited.
  ///   - console: Where failures are reported.
  ///   - body: What is repeated. A failure of a call is counted; any other ends the repetition.
  /// - Throws: What ends the repetition, or the status of the first failure.
  package func run(_ client: LoopClient, _ console: Console, _ body: () throws -> Void) throws {
    var due = MonotonicClock.now
    var (begun, failed) = (0, 0)
    var first: (number: Int, status: ExitStatus)?
    while begun < count ?? .max {
      if begun > 0 {
        due = max(due + interval, .now)
        guard try wait(client, until: due) else {
          let times = "\(begun) \(begun == 1 ? "time was" : "times were") completed"
          throw Failure(
            Interrupt.status, "",
            "\(Interrupt.reason): \(times)\(failed > 0 ? ", \(failed) of them failed" : "")")
        }
      }
      begun += 1
      do {
        try body()
      } catch let failure as Failure
        where RunMode.rows.effect(of: failure.event, failsEarly: failsEarly) == .counts
      {
        failed += 1
        first = first ?? (begun, failure.status)
        if let message = failure.message { console.error.report(ErrorReport(message, failure.status)) }
      }
    }
    guard let first else { return }
    if begun > 1 {
      let why = "\(failed) of \(begun) times failed, the first is number \(first.number)"
      console.error.report(ErrorReport(Failure.Message(what: "", why: why), first.status))
    }
    throw Failure(reported: first.status)
  }

  /// Waits for a time. Returns false if a signal arrived first.
  private func wait(_ client: LoopClient, until time: MonotonicClock.Instant) throws(Failure) -> Bool {
    var isOver = false
    let timer = client.loop.schedule(at: time) { isOver = true }
    defer { client.loop.cancel(timer) }
    return try !CommandLoop(client.loop).run { isOver } && !Interrupt.isPending
  }
}
