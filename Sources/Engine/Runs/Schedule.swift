import RPCurlReports

/// Decides when the steps of a run begin: a number of them at a time, at intervals, or at a rate; and which of them are
/// measured. Times are those since the start of the run.
package struct Schedule {
  /// What to do next.
  package enum Next: Equatable {
    /// Start a step that was due at a time.
    case start(due: Duration, isMeasured: Bool)
    /// Wait until a time, or until a step ends; nil for no time.
    case wait(until: Duration?)
    /// Start no more steps. The measured part lasts until a time, or until the last step has ended if that is later.
    case finish(end: Duration)
  }

  /// What makes a step due, unless too many run.
  private enum Pace {
    /// The end of another one.
    case free
    /// The time since the beginning of the last one. What takes longer is followed at once.
    case interval(Duration)
    case rate(StepRate)
  }

  private let pace: Pace
  /// The most steps that run at the same time.
  let jobs: Int
  /// The number of measured steps; nil for no limit.
  private let count: Int?
  private let leadTime: Duration
  private let endTime: Duration?
  /// The number of steps that have started, and when the last one was due.
  private var started = 0
  private var last = Duration.zero
  /// The number of measured steps among them.
  package private(set) var measured = 0

  /// Makes the schedule of a load.
  package init(_ shape: LoadShape) {
    switch shape.loop {
    case .closed: pace = .free
    case .open(let rate, let ramp): pace = .rate(StepRate(rate: rate, ramp: ramp / .seconds(1)))
    }
    (jobs, count, leadTime, endTime) = (shape.jobs, shape.requests, shape.leadTime, shape.endTime)
  }

  /// Makes a schedule without a limit of time.
  ///
  /// - Parameters:
  ///   - jobs: The most steps that run at the same time.
  ///   - count: The number of steps; nil for no limit.
  ///   - interval: The least time from one beginning to the next.
  package init(jobs: Int = 1, count: Int? = nil, every interval: Duration = .zero) {
    pace = interval > .zero ? .interval(interval) : .free
    (self.jobs, self.count, leadTime, endTime) = (jobs, count, .zero, nil)
  }

  /// Decides what to do at a time.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - running: The number of steps that have not ended.
  package mutating func next(at now: Duration, running: Int) -> Next {
    let due =
      switch pace {
      // The due time is the current time.
      case .free: now
      case .interval(let interval): started == 0 ? now : max(last + interval, now)
      case .rate(let rate): rate.due(started)
      }
    if let endTime, due >= endTime { return .finish(end: endTime) }
    // Steps at a rate take the time until the next one would be due.
    if let count, measured >= count { return .finish(end: due) }
    if due > now { return .wait(until: due) }
    guard running < jobs else {
      // Steps that are late for another reason start after the end, too.
      if let endTime, now >= endTime { return .finish(end: endTime) }
      return .wait(until: endTime)
    }
    let isMeasured = due >= leadTime
    started += 1
    last = due
    if isMeasured { measured += 1 }
    return .start(due: due, isMeasured: isMeasured)
  }

  /// The time from which the steps that run have a limited time: that at which the starts have finished, or the end of
  /// the duration if it finished them.
  ///
  /// - Parameter now: The time of the step that finished them.
  package func startOfLimit(finishedAt now: Duration) -> Duration {
    if let count, measured >= count { return now }
    return endTime ?? now
  }

  /// The number of measured steps that were due before a time, and have not started: of those at a rate.
  package func missed(at now: Duration) -> Int {
    guard case .rate(let rate) = pace else { return 0 }
    let end = endTime.map { min($0, now) } ?? now
    let first = max(started, rate.count(before: leadTime))
    let missed = max(rate.count(before: end) - first, 0)
    return min(missed, count.map { $0 - measured } ?? missed)
  }
}

/// When the steps at a rate are due, as times since the start of the run.
struct StepRate {
  /// The number of steps in a second, after the ramp.
  let rate: Double
  /// The time in which the rate grows from 0, in seconds.
  let ramp: Double

  /// When a step is due.
  ///
  /// - Parameter index: The number of steps before it.
  func due(_ index: Int) -> Duration {
    let count = Double(index)
    let ramped = rate * ramp / 2
    let seconds = count < ramped ? (2 * ramp * count / rate).squareRoot() : ramp + (count - ramped) / rate
    return .nanoseconds(Int64(Swift.min(seconds * 1e9, 9e18)))
  }

  /// The number of steps that are due before a time.
  func count(before time: Duration) -> Int {
    let seconds = time / .seconds(1)
    guard seconds > 0 else { return 0 }
    let estimate =
      seconds < ramp ? rate * seconds * seconds / (2 * ramp) : rate * ramp / 2 + rate * (seconds - ramp)
    var count = Int(Swift.min(estimate, 1e15))
    // Due times are whole nanoseconds.
    while due(count) < time { count += 1 }
    while count > 0, due(count - 1) >= time { count -= 1 }
    return count
  }
}
