import RPCurlCSystem

/// The clock of deadlines and timers: it never goes back, and it counts the time in which the system is suspended.
///
/// It is the clock that `ContinuousClock` of the standard library reads. That type would link the concurrency runtime into
/// each program.
public enum MonotonicClock {
  /// The current instant.
  package static var now: Instant { .now }

  /// A point in time on this clock, valid until the system restarts.
  public struct Instant: Comparable, Sendable {
    private let sinceBoot: Duration

    /// The current instant.
    public static var now: Instant {
      var time = timespec()
      #if os(Linux)
        clock_gettime(CLOCK_BOOTTIME, &time)
      #else
        // It counts the time in which the system is suspended there.
        clock_gettime(CLOCK_MONOTONIC, &time)
      #endif
      return Instant(sinceBoot: .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec))
    }

    /// The instant that is a duration after another one.
    public static func + (instant: Instant, duration: Duration) -> Instant {
      Instant(sinceBoot: instant.sinceBoot + duration)
    }

    /// The instant that is a duration before another one.
    public static func - (instant: Instant, duration: Duration) -> Instant {
      Instant(sinceBoot: instant.sinceBoot - duration)
    }

    /// The time from the second instant to the first: negative if the first is the earlier one.
    public static func - (later: Instant, earlier: Instant) -> Duration {
      later.sinceBoot - earlier.sinceBoot
    }

    /// Whether the first instant is before the second.
    public static func < (one: Instant, other: Instant) -> Bool { one.sinceBoot < other.sinceBoot }
  }
}
