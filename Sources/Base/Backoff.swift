/// The waits before the repetitions of what has failed: longer each time, up to a maximum.
package struct Backoff: Sendable, Equatable {
  /// The wait before the first repetition.
  package var initial: Duration
  /// The maximum wait.
  package var limit: Duration
  /// The factor between successive waits.
  package var multiplier: Double
  /// The maximum random variation, as a fraction of each wait.
  package var jitter: Double

  /// Makes waits that grow to a limit.
  package init(initial: Duration, limit: Duration, multiplier: Double = 2, jitter: Double = 0.2) {
    (self.initial, self.limit, self.multiplier, self.jitter) = (initial, limit, multiplier, jitter)
  }

  /// For a server that starts: short, since many do so within a second, and never long.
  package static let forServerStart = Backoff(initial: .milliseconds(50), limit: .seconds(1))

  /// The wait before a repetition.
  ///
  /// - Parameters:
  ///   - number: The number of the repetition, from 1 on.
  ///   - fraction: A random number from 0 up to 1.
  package func wait(beforeRepetition number: Int, fraction: Double) -> Duration {
    let most = limit / .seconds(1)
    var seconds = min(initial / .seconds(1), most)
    var repetition = 1
    while repetition < number, seconds < most {
      seconds = min(seconds * multiplier, most)
      repetition += 1
    }
    return .seconds(seconds * (1 - jitter + 2 * jitter * fraction))
  }
}
