/// The load that a run makes.
package struct LoadShape: Equatable, Sendable {
  /// What starts a call.
  package enum Loop: Equatable, Sendable {
    /// The end of another call: a number of calls run at any time.
    case closed
    /// The time: `rate` calls start in each second, after `ramp`, in which the rate grows from 0.
    case open(rate: Double, ramp: Duration)
  }

  /// What starts a call.
  package var loop: Loop
  /// The number of concurrent calls: that of a closed loop, and the limit of an open loop.
  package var jobs: Int
  /// The time before the measured part, after the ramp.
  package var warmUp: Duration
  /// The length of the measured part; nil for no limit.
  package var duration: Duration?
  /// The number of measured calls; nil for no limit.
  package var requests: Int?

  /// Makes a load.
  package init(
    _ loop: Loop, jobs: Int, warmUp: Duration = .zero, duration: Duration?, requests: Int? = nil
  ) {
    self.loop = loop
    self.jobs = jobs
    self.warmUp = warmUp
    self.duration = duration
    self.requests = requests
  }

  /// The time before the measured part: ramp and warm-up.
  package var leadTime: Duration {
    guard case .open(_, let ramp) = loop else { return warmUp }
    return ramp + warmUp
  }

  /// The time after which no call starts; nil if only the number of calls ends the run.
  package var endTime: Duration? { duration.map { leadTime + $0 } }
}

/// When the calls of an open loop are due, as times since the start of the run.
struct LoadSchedule {
  /// The number of calls in a second, after the ramp.
  let rate: Double
  /// The time in which the rate grows from 0, in seconds.
  let ramp: Double

  /// When a call is due.
  ///
  /// - Parameter index: The number of calls before it.
  func due(_ index: Int) -> Duration {
    let count = Double(index)
    let ramped = rate * ramp / 2
    let seconds = count < ramped ? (2 * ramp * count / rate).squareRoot() : ramp + (count - ramped) / rate
    return .nanoseconds(Int64(Swift.min(seconds * 1e9, 9e18)))
  }

  /// The number of calls that are due before a time.
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
