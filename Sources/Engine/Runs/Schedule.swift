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
    /// The level, which is a rate.
    case rate
  }

  private let pace: Pace
  /// The rate, or the most steps that run at the same time; nil if that is `jobs` at all times.
  private let level: Level?
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
    pace = shape.loop == .closed ? .free : .rate
    let level = Level(from: shape.start, shape.lead + shape.stages)
    self.level = shape.loop == .closed && level.isConstant ? nil : level
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
    level = nil
    (self.jobs, self.count, leadTime, endTime) = (jobs, count, .zero, nil)
  }

  /// Decides what to do at a time.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - running: The number of steps that have not ended.
  package mutating func next(at now: Duration, running: Int) -> Next {
    let due: Duration
    switch pace {
    // The due time is the current time.
    case .free: due = now
    case .interval(let interval): due = started == 0 ? now : max(last + interval, now)
    case .rate:
      guard let time = level?.due(started) else { return .finish(end: endTime ?? now) }
      due = time
    }
    if let endTime, due >= endTime { return .finish(end: endTime) }
    // Steps at a rate take the time until the next one would be due.
    if let count, measured >= count { return .finish(end: due) }
    if due > now { return .wait(until: due) }
    guard running < limit(at: now) else {
      // Steps that are late for another reason start after the end, too.
      if let endTime, now >= endTime { return .finish(end: endTime) }
      guard case .free = pace, let time = level?.time(above: running, after: now) else {
        return .wait(until: endTime)
      }
      return .wait(until: min(time, endTime ?? time))
    }
    let isMeasured = due >= leadTime
    started += 1
    last = due
    if isMeasured { measured += 1 }
    return .start(due: due, isMeasured: isMeasured)
  }

  /// The most steps that run at a time.
  private func limit(at now: Duration) -> Int {
    guard case .free = pace, let level else { return jobs }
    return level.steps(at: now)
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
    guard case .rate = pace, let level else { return 0 }
    let end = endTime.map { min($0, now) } ?? now
    let first = max(started, level.count(before: leadTime))
    let missed = max(level.count(before: end) - first, 0)
    return min(missed, count.map { $0 - measured } ?? missed)
  }
}
