import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols

/// The circuit breakers of all servers of a registration.
///
/// ```
/// closed ──failures──▶ open ──time──▶ half-open ──probes succeed──▶ closed
///                        ▲                 │
///                        └──a probe fails──┘
/// ```
final class CircuitBreaker: Sendable {
  /// When a breaker changes its state.
  struct Policy: Sendable {
    /// How many failures within the window open the breaker, if they are also `ratio` of the calls.
    let failures: Int
    let ratio: Double
    let window: Duration
    let openTime: Duration
    /// How many probes must succeed to close the breaker. So many run at once at most.
    let probes: Int
  }

  /// The permission for one call.
  struct Permit: Sendable {
    /// Whether the call probes whether the server responds again.
    let isProbe: Bool
    /// The number of the state in which the permission was given. The result of a call from an earlier state does not
    /// count.
    fileprivate let epoch: Int
  }

  /// The decision on a new call.
  enum Admission {
    case permitted(Permit)
    case refused(String)
  }

  /// The result of a call.
  enum Result {
    case success
    /// A failure of the server, as text.
    case failure(String)
    /// The result says nothing about the server.
    case unrelated
  }

  /// What a result has changed.
  enum Change {
    case opened(String)
    case closed
  }

  /// The state of one server's breaker.
  private enum State {
    case closed(CallWindow)
    case open(until: MonotonicClock.Instant, String)
    case halfOpen(running: Int, succeeded: Int, String)
  }

  private struct Server {
    var state: State
    var epoch = 0

    mutating func enter(_ state: State) {
      self.state = state
      epoch += 1
    }
  }

  private let policy: Policy
  private let servers = Locked<[String: Server]>([:])

  /// Makes breakers that are closed.
  init(_ policy: Policy) { self.policy = policy }

  /// Decides on a call to a server.
  func admit(_ name: String, at now: MonotonicClock.Instant) -> Admission {
    servers.withLock { servers in
      var server = servers[name] ?? Server(state: .closed(CallWindow(policy.window)))
      defer { servers[name] = server }
      switch server.state {
      case .closed: return .permitted(Permit(isProbe: false, epoch: server.epoch))
      case .open(let end, let reason) where now < end:
        let left = (end - now).roundedToMilliseconds
        return .refused("\(reason); the next call is possible in \(left.inSeconds)")
      case .open(_, let reason):
        server.enter(.halfOpen(running: 1, succeeded: 0, reason))
        return .permitted(Permit(isProbe: true, epoch: server.epoch))
      case .halfOpen(let running, let succeeded, let reason):
        guard running + succeeded < policy.probes else {
          return .refused("\(reason); a probe is in progress")
        }
        server.state = .halfOpen(running: running + 1, succeeded: succeeded, reason)
        return .permitted(Permit(isProbe: true, epoch: server.epoch))
      }
    }
  }

  /// Counts the result of a permitted call. Returns the change of the breaker that follows from it.
  func report(
    _ result: Result, of permit: Permit, _ name: String, at now: MonotonicClock.Instant
  ) -> Change? {
    servers.withLock { servers -> Change? in
      guard var server = servers[name], server.epoch == permit.epoch else { return nil }
      defer { servers[name] = server }
      switch (server.state, result) {
      case (.closed, .unrelated), (.open, _): return nil
      case (.closed(var window), .success):
        window.count(isFailure: false, at: now)
        server.state = .closed(window)
        return nil
      case (.closed(var window), .failure(let last)):
        window.count(isFailure: true, at: now)
        server.state = .closed(window)
        let (failures, calls) = window.counts(at: now)
        guard failures >= policy.failures, Double(failures) >= policy.ratio * Double(calls) else {
          return nil
        }
        let reason =
          "\(failures) of \(calls) call\(calls == 1 ? "" : "s") failed within \(policy.window.inSeconds), last with \(last)"
        server.enter(.open(until: now + policy.openTime, reason))
        return .opened(reason)
      case (.halfOpen(let running, let succeeded, let reason), .unrelated):
        server.state = .halfOpen(running: running - 1, succeeded: succeeded, reason)
        return nil
      case (.halfOpen, .failure(let last)):
        let reason = "the probe failed with \(last)"
        server.enter(.open(until: now + policy.openTime, reason))
        return .opened(reason)
      case (.halfOpen(let running, let succeeded, let reason), .success):
        guard succeeded + 1 >= policy.probes else {
          server.state = .halfOpen(running: running - 1, succeeded: succeeded + 1, reason)
          return nil
        }
        server.enter(.closed(CallWindow(policy.window)))
        return .closed
      }
    }
  }
}

/// Counts the calls of a sliding window, with the precision of a tenth of it, in constant memory.
struct CallWindow: Sendable {
  private static let slices = 10

  private let slice: Duration
  private var counts: [(number: Int, failures: Int, calls: Int)] = []
  private var begin: MonotonicClock.Instant?

  init(_ window: Duration) { slice = window / Self.slices }

  /// Counts a call that ended.
  mutating func count(isFailure: Bool, at now: MonotonicClock.Instant) {
    if begin == nil { begin = now }
    let number = number(at: now)
    counts.removeAll { $0.number <= number - Self.slices }
    if counts.last?.number != number { counts.append((number, 0, 0)) }
    counts[counts.count - 1].calls += 1
    if isFailure { counts[counts.count - 1].failures += 1 }
  }

  /// The failures and all calls within the window.
  func counts(at now: MonotonicClock.Instant) -> (failures: Int, calls: Int) {
    let number = number(at: now)
    return counts.filter { $0.number > number - Self.slices }
      .reduce((0, 0)) { ($0.0 + $1.failures, $0.1 + $1.calls) }
  }

  private func number(at now: MonotonicClock.Instant) -> Int {
    begin.map { Int((now - $0) / slice) } ?? 0
  }
}
