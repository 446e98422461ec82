import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols

/// Which names have been looked up, and which may be looked up now.
///
/// A name is looked up once, and a second time if the first lookup failed without a response of the server.
struct LookupHistory {
  /// The largest number of names.
  static let limit = 32
  /// The time between two lookups of a name, so that a slow server does not delay each message of a stream.
  static let pause = Duration.seconds(5)

  /// The names that are not looked up again.
  private var finished: Set<UnresolvedName> = []
  /// The names whose first lookup failed.
  private var failed: Set<UnresolvedName> = []
  /// The earliest time of the next lookup of names.
  private var pauses: [UnresolvedName: MonotonicClock.Instant] = [:]
  /// How many further names can be looked up.
  private var remaining = LookupHistory.limit

  /// Whether a name can be looked up, now or later.
  var isOpen: Bool { remaining > 0 || !failed.isEmpty }

  /// Whether a name may be looked up now.
  func allows(_ name: UnresolvedName, at now: @autoclosure () -> MonotonicClock.Instant = .now) -> Bool {
    guard !finished.contains(name), remaining > 0 || failed.contains(name) else { return false }
    return pauses[name].map { $0 <= now() } ?? true
  }

  /// Begins the lookup of those of the names that may be looked up now. Returns them.
  mutating func begin(
    _ names: [UnresolvedName], at now: MonotonicClock.Instant = .now
  ) -> [UnresolvedName] {
    var begun: [UnresolvedName] = []
    for name in names where allows(name, at: now) {
      if !failed.contains(name) { remaining -= 1 }
      begun.append(name)
    }
    return begun
  }

  /// Ends the lookup of names.
  ///
  /// - Parameters:
  ///   - names: The names of `begin`.
  ///   - isFinal: Whether another lookup would have the same result.
  ///   - now: The current time.
  mutating func end(
    _ names: [UnresolvedName], isFinal: Bool, at now: MonotonicClock.Instant = .now
  ) {
    for name in names {
      if failed.remove(name) == nil, !isFinal {
        failed.insert(name)
        pauses[name] = now + Self.pause
      } else {
        finished.insert(name)
      }
    }
  }

  /// Delays the lookup of names for which no time is left.
  mutating func postpone(_ names: [UnresolvedName], at now: MonotonicClock.Instant = .now) {
    for name in names { pauses[name] = now + Self.pause }
  }

  /// Begins the next call of a session: names that were not found in time can be looked up at once.
  mutating func beginCall() {
    remaining = Self.limit
    pauses = [:]
  }
}
