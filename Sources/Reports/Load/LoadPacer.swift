/// Decides when the calls of a run start, and which of them are measured. Times are those since the start of the run.
package struct LoadPacer {
  /// What to do next.
  package enum Step: Equatable {
    /// Start a call that was due at a time.
    case start(due: Duration, isMeasured: Bool)
    /// Wait until a time, or until a call ends; nil for no time.
    case wait(until: Duration?)
    /// Start no more calls. The measured part lasts until a time, or until the last call has ended if that is later.
    case finish(end: Duration)
  }

  private let shape: LoadShape
  private let schedule: LoadSchedule?
  /// The number of calls that have started.
  private var started = 0
  /// The number of measured calls among them.
  package private(set) var measured = 0

  /// Makes a pacer before the first call.
  package init(_ shape: LoadShape) {
    self.shape = shape
    switch shape.loop {
    case .closed: schedule = nil
    case .open(let rate, let ramp): schedule = LoadSchedule(rate: rate, ramp: ramp / .seconds(1))
    }
  }

  /// Decides what to do at a time.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - running: The number of calls that have not ended.
  package mutating func next(at now: Duration, running: Int) -> Step {
    let due = schedule?.due(started) ?? now
    if let end = shape.endTime, due >= end { return .finish(end: end) }
    // Calls at a rate take the time until the next one would be due.
    if let requests = shape.requests, measured >= requests { return .finish(end: due) }
    // The due time of the closed loop is the current time.
    if due > now { return .wait(until: due) }
    guard running < shape.jobs else {
      // Calls that are late for another reason start after the end, too.
      if let end = shape.endTime, now >= end { return .finish(end: end) }
      return .wait(until: shape.endTime)
    }
    let isMeasured = due >= shape.leadTime
    started += 1
    if isMeasured { measured += 1 }
    return .start(due: due, isMeasured: isMeasured)
  }

  /// The time from which the calls that run have a limited time: that at which the starts have finished, or the end of
  /// the duration if it finished them.
  ///
  /// - Parameter now: The time of the step that finished them.
  package func startOfLimit(finishedAt now: Duration) -> Duration {
    if let requests = shape.requests, measured >= requests { return now }
    return shape.endTime ?? now
  }

  /// The number of measured calls that were due before a time, and have not started. A closed loop has none.
  package func missed(at now: Duration) -> Int {
    guard let schedule else { return 0 }
    let end = shape.endTime.map { min($0, now) } ?? now
    let first = max(started, schedule.count(before: shape.leadTime))
    let missed = max(schedule.count(before: end) - first, 0)
    return min(missed, shape.requests.map { $0 - measured } ?? missed)
  }
}
