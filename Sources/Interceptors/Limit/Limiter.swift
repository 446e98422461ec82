import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols

/// Admits calls by a token bucket, and up to a number at once. Calls wait in order of arrival.
///
/// The call of an interceptor counts, but waits only for the rate, and before other calls: the call that needs it may
/// run already, and would never end if its own call waited for it.
final class Limiter: Sendable {
  /// The parameters of the token bucket.
  struct Rate: Sendable {
    /// How many tokens arrive per second.
    let perSecond: Double
    /// How many tokens the bucket holds.
    let burst: Int
    /// The rate as text, such as `10 calls per second`.
    let text: String
  }

  /// The place of one call: among those that wait, then among those that run.
  final class Place: Sendable {
    fileprivate let isSubrequest: Bool
    fileprivate let notify: @Sendable (Place, Signal) -> Void

    /// Makes a place.
    ///
    /// - Parameters:
    ///   - isSubrequest: Whether an interceptor makes the call.
    ///   - notify: Called on the thread of another call.
    init(isSubrequest: Bool, notify: @escaping @Sendable (Place, Signal) -> Void) {
      self.isSubrequest = isSubrequest
      self.notify = notify
    }
  }

  /// What a waiting call receives.
  enum Signal: Sendable {
    /// The call may start.
    case admitted
    /// The call is the first that waits, and calls `tryAgain` after this time.
    case tryLater(Duration)
  }

  /// The decision on a new call.
  enum Admission {
    case admitted
    /// The call receives signals.
    case waiting(String)
    case refused(String)
  }

  private struct State {
    var tokens: Double
    var countedAt: MonotonicClock.Instant?
    var running: Set<ObjectIdentifier> = []
    /// Calls of interceptors first, each kind in order of arrival.
    var waiting: [Place] = []
    /// The waiting call that has a timer.
    var timed: Place?
  }

  /// Why a call cannot start.
  private enum Obstacle {
    case rate(Duration, String)
    case concurrency(Int)

    var text: String {
      switch self {
      case .rate(let delay, let rate):
        "the limit of \(rate) is reached; the next call can start in \(delay.roundedToMilliseconds.inSeconds)"
      case .concurrency(let limit): "the limit of \(limit) concurrent call\(limit == 1 ? "" : "s") is reached"
      }
    }
  }

  private let rate: Rate?
  private let concurrency: Int?
  private let state: Locked<State>

  /// Makes a limiter; nil is no limit.
  init(rate: Rate?, concurrency: Int?) {
    self.rate = rate
    self.concurrency = concurrency
    state = Locked(State(tokens: Double(rate?.burst ?? 0)))
  }

  /// Admits a call, or appends it to those that wait.
  func enter(_ place: Place, waits: Bool, at now: MonotonicClock.Instant) -> Admission {
    let (admission, signals) = state.withLock { state -> (Admission, [(Place, Signal)]) in
      refill(&state, now)
      let index =
        (place.isSubrequest ? state.waiting.firstIndex { !$0.isSubrequest } : nil) ?? state.waiting.count
      let obstacle = obstacle(of: place, state)
      if obstacle == nil, index == 0 {
        admit(place, &state)
        return (.admitted, [])
      }
      let reason = obstacle?.text ?? "other calls wait"
      guard waits else { return (.refused(reason), []) }
      state.waiting.insert(place, at: index)
      return (.waiting(reason), serve(&state, now))
    }
    for (place, signal) in signals { place.notify(place, signal) }
    return admission
  }

  /// Removes a call that has ended, or waits no longer.
  func leave(_ place: Place, at now: MonotonicClock.Instant) {
    change(now) { state in
      state.running.remove(ObjectIdentifier(place))
      state.waiting.removeAll { $0 === place }
      if state.timed === place { state.timed = nil }
    }
  }

  /// Admits the calls that can start now, when the time of `tryLater` has passed.
  func tryAgain(_ place: Place, at now: MonotonicClock.Instant) {
    change(now) { state in
      if state.timed === place { state.timed = nil }
    }
  }

  private func change(_ now: MonotonicClock.Instant, _ body: (inout State) -> Void) {
    let signals = state.withLock { state in
      body(&state)
      refill(&state, now)
      return serve(&state, now)
    }
    for (place, signal) in signals { place.notify(place, signal) }
  }

  private func serve(_ state: inout State, _ now: MonotonicClock.Instant) -> [(Place, Signal)] {
    var signals: [(Place, Signal)] = []
    while let first = state.waiting.first {
      switch obstacle(of: first, state) {
      case nil:
        state.waiting.removeFirst()
        if state.timed === first { state.timed = nil }
        admit(first, &state)
        signals.append((first, .admitted))
        continue
      case .rate(let delay, _) where state.timed !== first:
        state.timed = first
        signals.append((first, .tryLater(delay)))
      case .rate, .concurrency: break
      }
      break
    }
    return signals
  }

  private func refill(_ state: inout State, _ now: MonotonicClock.Instant) {
    guard let rate else { return }
    if let countedAt = state.countedAt, now > countedAt {
      let arrived = (now - countedAt) / .seconds(1) * rate.perSecond
      state.tokens = min(Double(rate.burst), state.tokens + arrived)
    }
    state.countedAt = max(state.countedAt ?? now, now)
  }

  private func obstacle(of place: Place, _ state: State) -> Obstacle? {
    if let concurrency, !place.isSubrequest, state.running.count >= concurrency {
      return .concurrency(concurrency)
    }
    // A rounding error must not delay a call.
    guard let rate, state.tokens < 1 - 1e-6 else { return nil }
    return .rate(.nanoseconds(Int64(((1 - state.tokens) / rate.perSecond * 1e9).rounded(.up))), rate.text)
  }

  private func admit(_ place: Place, _ state: inout State) {
    if rate != nil { state.tokens -= 1 }
    state.running.insert(ObjectIdentifier(place))
  }
}
