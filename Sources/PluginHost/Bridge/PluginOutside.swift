import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// What a plugin requests of the host: in a call, or outside of calls (RPCURL_NO_CALL).
protocol PluginScope: AnyObject, Sendable {
  /// Whether it is over for the plugin. `[any thread]`
  var hasEnded: Bool { get }
  /// Whether this is the thread of its loop.
  var isOnItsThread: Bool { get }
  /// Schedules a function; returns a number other than 0.
  func setTimer(after delay: Duration, _ body: @escaping () -> Void) -> UInt64
  /// Removes a timer; `false` if there is none, or it has fired.
  func cancelTimer(_ number: UInt64) -> Bool
  /// Runs `body` soon on the loop's thread, unless this ends before. `[any thread]`
  func post(_ body: @escaping @Sendable () -> Void)
  /// Makes an HTTP request; `done` is called once, at the latest when this ends.
  func make(_ fetch: HTTPFetch, _ done: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void)
  /// Runs a function of the plugin on the loop's thread.
  func run(_ stage: StaticString, _ guarding: PluginGuard, _ body: () -> Void)
}

extension PluginCall: PluginScope {
  func post(_ body: @escaping @Sendable () -> Void) { handle.post(body) }
  func run(_ stage: StaticString, _ guarding: PluginGuard, _ body: () -> Void) {
    guarding.run(stage, in: self, body)
  }
}

/// What a plugin does outside of calls, over the client that has attached it last. What it requests before waits for one.
///
/// Sendable because each member is immutable, requires the lock, or belongs to the loop's thread.
final class PluginOutside: PluginScope, @unchecked Sendable {
  private enum State {
    /// No loop runs yet; what is to be done when one does.
    case waiting([(FactoryNetwork) -> Void])
    case attached(FactoryNetwork)
    case ended
  }

  private let lock = Lock()
  // The following members require the lock.
  private var state = State.waiting([])
  /// The loop's thread; before there is one, that which loads the plugin.
  private var thread = currentThreadIdentity()
  private var postedCount = 0
  // The following members belong to the loop's thread.
  private var timers: [UInt64: (timer: CallTimer?, due: MonotonicClock.Instant)] = [:]
  private var lastNumber = 0
  /// What ends the requests that are pending, if the plugin is unloaded first.
  private var pending: [Int: (RPCError) -> Void] = [:]
  /// The timers that the end of the client waits for, and what to do then.
  private var conclusion: (timers: Set<UInt64>, completion: @Sendable () -> Void)?

  /// How long the end of the client waits for what is pending.
  private static let patience = Duration.seconds(1)

  var hasEnded: Bool { lock.holding { if case .ended = state { true } else { false } } }
  var isOnItsThread: Bool { lock.holding { thread == currentThreadIdentity() } }

  /// The facts of a call like the client's latest; nil before a loop runs.
  var facts: CallFacts? { network?.facts() }

  private var network: FactoryNetwork? {
    lock.holding { if case .attached(let network) = state { network } else { nil } }
  }

  /// Uses the loop of a client from now on.
  func attach(_ network: FactoryNetwork) {
    let waiting: [(FactoryNetwork) -> Void] = lock.holding {
      if case .ended = state { return [] }
      defer {
        state = .attached(network)
        thread = currentThreadIdentity()
      }
      if case .waiting(let waiting) = state { return waiting }
      return []
    }
    for body in waiting { body(network) }
  }

  /// Runs `body` now, or when a loop runs.
  private func whenAttached(_ body: @escaping (FactoryNetwork) -> Void) {
    let network: FactoryNetwork? = lock.holding {
      switch state {
      case .waiting(let waiting): state = .waiting(waiting + [body])
      case .attached(let network): return network
      case .ended: break
      }
      return nil
    }
    if let network { body(network) }
  }

  // MARK: - Timers and functions

  func setTimer(after delay: Duration, _ body: @escaping () -> Void) -> UInt64 {
    lastNumber += 1
    let number = UInt64(lastNumber)
    timers[number] = (nil, .now + delay)
    whenAttached { [weak self] network in
      guard let self, timers[number] != nil else { return }
      let timer = network.after(delay) { [weak self] in
        guard let self, timers.removeValue(forKey: number) != nil else { return }
        body()
        conclusion?.timers.remove(number)
        endConclusion()
      }
      timers[number] = (timer, .now + delay)
    }
    return number
  }

  func cancelTimer(_ number: UInt64) -> Bool {
    guard let (timer, _) = timers.removeValue(forKey: number) else { return false }
    if let timer { network?.cancel(timer) }
    conclusion?.timers.remove(number)
    endConclusion()
    return true
  }

  func post(_ body: @escaping @Sendable () -> Void) {
    lock.holding { postedCount += 1 }
    whenAttached { network in
      network.post { [weak self] in
        guard let self else { return }
        if !hasEnded { body() }
        lock.holding { postedCount -= 1 }
        endConclusion()
      }
    }
  }

  func run(_ stage: StaticString, _ guarding: PluginGuard, _ body: () -> Void) {
    guarding.run(outsideCalls: stage, body)
  }

  // MARK: - Requests

  /// Makes a call, which is prepared when a loop runs; `done` is called once, at the latest at the end.
  func make(
    _ prepare: @escaping (CallFacts) throws -> (Subrequest, OwnSchema),
    _ done: @escaping (SubrequestResponse, OwnSchema?) -> Void
  ) {
    let number = begin { done(SubrequestResponse(end: ResponseEnd(error: $0)), nil) }
    whenAttached { [weak self] network in
      guard let self, pending[number] != nil else { return }
      do {
        guard let facts = network.facts() else {
          throw ABIFailure(RPCURL_EUNSUPPORTED, "there is no network")
        }
        let (call, schema) = try prepare(facts)
        network.call(call) { [weak self] answer in self?.complete(number) { done(answer, schema) } }
      } catch {
        let error = RPCError(.invalidArgument, ABIFailure(error).text, origin: .client)
        complete(number) { done(SubrequestResponse(end: ResponseEnd(error: error)), nil) }
      }
    }
  }

  func make(_ fetch: HTTPFetch, _ done: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    let number = begin { done(.failure($0)) }
    whenAttached { [weak self] network in
      guard self?.pending[number] != nil else { return }
      network.fetch(fetch) { [weak self] result in self?.complete(number) { done(result) } }
    }
  }

  private func begin(_ end: @escaping (RPCError) -> Void) -> Int {
    lastNumber += 1
    pending[lastNumber] = end
    return lastNumber
  }

  private func complete(_ number: Int, _ done: () -> Void) {
    guard pending.removeValue(forKey: number) != nil else { return }
    done()
    endConclusion()
  }

  // MARK: - The end

  /// The client has made its last call: completes when nothing is pending, after a second at the latest.
  ///
  /// - Parameter start: Lets the plugin start what is to be done at the end.
  func conclude(
    _ network: FactoryNetwork, _ start: () -> Void, _ completion: @escaping @Sendable () -> Void
  ) {
    guard self.network != nil, isOnItsThread, conclusion == nil else { return completion() }
    start()
    let limit = MonotonicClock.now + Self.patience
    conclusion = (Set(timers.filter { $0.value.due <= limit }.keys), completion)
    _ = network.after(Self.patience) { [weak self] in self?.endConclusion(isLate: true) }
    endConclusion()
  }

  private func endConclusion(isLate: Bool = false) {
    guard let (timers, completion) = conclusion else { return }
    let isIdle = timers.isEmpty && pending.isEmpty && lock.holding { postedCount == 0 }
    guard isIdle || isLate else { return }
    conclusion = nil
    // The loop runs no longer, and is released.
    lock.holding { if case .attached = state { state = .waiting([]) } }
    completion()
  }

  /// The plugin is unloaded: ends what is pending.
  func end() {
    let former = network
    lock.holding { state = .ended }
    for (timer, _) in timers.values { timer.map { former?.cancel($0) } }
    timers = [:]
    let ends = pending.sorted { $0.key < $1.key }
    pending = [:]
    for (_, end) in ends { end(RPCError(.canceled, "the plugin is unloaded", origin: .client)) }
  }
}

extension Arena {
  /// Copies what a plugin gives of an own call, valid as long as the arena.
  func copy(_ own: rpcurl_own_call) throws(ABIFailure) -> rpcurl_own_call {
    var copy = own
    copy.method = text(try own.method.bytes())
    copy.target = text(try own.target.bytes())
    copy.headers = fields(try HostFunctions.headers(own.headers, own.header_count, at: .requestStart))
    copy.message = nil
    if let message = own.message {
      var plain = try HostFunctions.copy(message)
      plain.struct_size = MemoryLayout<rpcurl_local_message>.size
      plain.content = text(try plain.content.bytes())
      copy.message = array([plain])
    }
    return copy
  }
}
