import RPCurlBase
import RPCurlProtocols

/// One attempt at a call: the caller of its chain.
final class Attempt: ChainCaller {
  /// How far the attempt has come.
  enum Phase {
    /// Nothing of its response has decided yet; the headers are held.
    case racing(ResponseStart?)
    /// It has ended, and another may succeed.
    case failed(ResponseStart?, ResponseEnd)
    /// It has the response of the call.
    case chosen
    /// It was cancelled.
    case lost

    var heldStart: ResponseStart? {
      switch self {
      case .racing(let start), .failed(let start, _): start
      case .chosen, .lost: nil
      }
    }
  }

  let chain: Chain
  private weak var attempts: Attempts?
  private let reporter: AttemptReporter
  /// From the start of the call to the start of the attempt.
  private let offset: Duration
  var phase = Phase.racing(nil)
  /// Whether the record is being sent; values that arrive meanwhile are appended to the record.
  var isReplaying = true
  private(set) var metrics: CallMetrics?
  private(set) var wantsInput = true
  private var deadline = AttemptDeadline()

  init(_ chain: Chain, _ attempts: Attempts, number: Int, wait: Duration?, offset: Duration) {
    self.chain = chain
    self.attempts = attempts
    reporter = AttemptReporter(number: number, wait: wait)
    self.offset = offset
  }

  var number: Int { reporter.number }

  /// Whether it takes the request.
  var isInFlight: Bool {
    switch phase {
    case .racing, .chosen: true
    case .failed, .lost: false
    }
  }

  func cancel(_ error: RPCError) {
    if case .racing = phase { phase = .lost }
    chain.cancel(error)
  }

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .metrics(let own):
      let metrics = own.counted(from: offset)
      self.metrics = metrics
      attempts?.add(metrics, of: self)
    case .responseEnd(let end):
      deadline.set(nil, of: chain)
      attempts?.upper?.attemptEnded(reporter.report(end.error, of: chain))
      attempts?.receive(chain.ended(end), of: self)
    case .responseStart(let start):
      if attempts?.admits(start, of: self) == true { attempts?.upper?.receive(event) }
    default:
      if attempts?.admits(nil, of: self) == true { attempts?.upper?.receive(event) }
    }
  }

  func receive(_ message: MessageValue) {
    if attempts?.admits(nil, of: self) == true { attempts?.upper?.receive(message) }
  }

  func receive(message: RawSpan) {
    if attempts?.admits(nil, of: self) == true { attempts?.upper?.receive(message: message) }
  }

  func deadlineChanged(to instant: MonotonicClock.Instant?) { deadline.set(instant, of: chain) }

  func finished(_ outcome: Outcome) { attempts?.finished(self) }

  func attemptEnded(_ report: AttemptReport) {
    attempts?.upper?.attemptEnded(reporter.report(nested: report), isNested: true)
  }

  func inputWanted(_ isWanted: Bool) {
    wantsInput = isWanted
    attempts?.updateInput()
  }
}

/// Makes the reports of an attempt, and of those within it.
struct AttemptReporter {
  /// The number of the attempt among those of its interceptor, from 1.
  let number: Int
  /// The wait before it; nil for the first.
  let wait: Duration?

  /// The report of an attempt that an interceptor of this one has made.
  func report(nested: AttemptReport) -> AttemptReport {
    var report = nested
    report.numbers.insert(number, at: 0)
    report.wait = nested.wait ?? wait
    return report
  }

  /// The report of the end of this one.
  func report(_ error: RPCError?, of chain: Chain) -> AttemptReport {
    AttemptReport(
      numbers: [number], error: error, wait: wait, peer: chain.peer,
      nestedCount: chain.progress.downstream.attempts?.startedCount ?? 0)
  }
}
