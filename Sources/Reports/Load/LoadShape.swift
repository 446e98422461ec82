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
