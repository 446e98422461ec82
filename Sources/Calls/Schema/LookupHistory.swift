import Protobuf
import RPCProtocols

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
  /// The names whose first lookup failed, and the earliest time of the second.
  private var failed: [UnresolvedName: MonotonicClock.Instant] = [:]
  /// How many further names can be looked up.
  private var remaining = LookupHistory.limit

  /// Whether a name can be looked up, now or later.
  var isOpen: Bool { remaining > 0 || !failed.isEmpty }

  /// Whether a name may be looked up now.
  func allows(_ name: UnresolvedName, at now: @autoclosure () -> MonotonicClock.Instant = .now) -> Bool {
    guard !finished.contains(name) else { return false }
    return failed[name].map { $0 <= now() } ?? (remaining > 0)
  }

  /// Begins the lookup of those of the names that may be looked up now. Returns them.
  mutating func begin(
    _ names: [UnresolvedName], at now: MonotonicClock.Instant = .now
  ) -> [UnresolvedName] {
    var begun: [UnresolvedName] = []
    for name in names where allows(name, at: now) {
      if failed[name] == nil { remaining -= 1 }
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
      if failed.removeValue(forKey: name) == nil, !isFinal {
        failed[name] = now + Self.pause
      } else {
        finished.insert(name)
      }
    }
  }

  /// Begins the next call of a session: failed lookups can be repeated at once.
  mutating func beginCall(at now: MonotonicClock.Instant = .now) {
    remaining = Self.limit
    failed = failed.mapValues { min($0, now) }
  }
}
