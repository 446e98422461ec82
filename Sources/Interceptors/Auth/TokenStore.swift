import RPCurlBase
import RPCurlChain
import RPCurlProtobuf

/// The token of all calls of a registration. The first call fetches it; it is kept until it expires.
/// Concurrent calls share one fetch.
final class TokenStore: Sendable {
  typealias Answer = Result<AccessToken, SystemError>
  /// Fetches a token for the call of this context and reports the result. Called on the thread of the loop of that call: the
  /// calls of a registration may belong to several clients. Returns a function that cancels the fetch; nil if it ends with
  /// that call, and then reports nothing.
  typealias Fetcher = @Sendable (CallContext, @escaping @Sendable (Answer) -> Void) -> (@Sendable () -> Void)?

  /// Identifies a waiting call.
  struct Ticket: Hashable, Sendable {
    fileprivate let number: Int
  }

  private struct Waiter: Sendable {
    let ticket: Ticket
    let handle: CallHandle
    let context: LoopBound<CallContext>
    let resume: @Sendable (Answer) -> Void
  }

  private struct State {
    var token: AccessToken?
    var waiters: [Waiter] = []
    /// The call for which the current fetch is made.
    var fetching: Ticket?
    /// Cancels the current fetch; nil if it has not started, or ends with its call.
    var cancelFetch: (@Sendable () -> Void)?
    var lastNumber = 0
  }

  private let state = Locked(State())
  private let fetcher: Fetcher
  private let now: @Sendable () -> Int64

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - now: Returns the time of day, in nanoseconds since 1970.
  ///   - fetcher: Fetches a token.
  init(now: @escaping @Sendable () -> Int64, fetcher: @escaping Fetcher) {
    self.now = now
    self.fetcher = fetcher
  }

  /// Requests a token. `[loop's thread]`
  ///
  /// - Parameters:
  ///   - stale: A token that the server rejected: it and tokens fetched before it are not returned.
  ///   - context: The call that needs the token.
  ///   - resume: Called once, perhaps immediately and on any thread, unless `leave` is called first.
  func obtain(
    replacing stale: AccessToken? = nil, for context: CallContext,
    _ resume: @escaping @Sendable (Answer) -> Void
  ) -> Ticket {
    let (ticket, known) = state.withLock { state -> (Ticket, AccessToken?) in
      state.lastNumber += 1
      let ticket = Ticket(number: state.lastNumber)
      if state.token == stale { state.token = nil }
      if let token = state.token, token.isFresh(at: now()) { return (ticket, token) }
      state.waiters.append(
        Waiter(ticket: ticket, handle: context.handle, context: LoopBound(context), resume: resume))
      return (ticket, nil)
    }
    if let known { resume(.success(known)) } else { fetchIfNeeded() }
    return ticket
  }

  /// Stops waiting. The fetch is canceled if no call waits for it. If it ends with this call, another is made for the next
  /// waiting one. `[loop's thread]`
  func leave(_ ticket: Ticket) {
    let cancel = state.withLock { state -> (@Sendable () -> Void)? in
      state.waiters.removeAll { $0.ticket == ticket }
      let isCanceled = state.waiters.isEmpty
      if isCanceled || state.fetching == ticket && state.cancelFetch == nil { state.fetching = nil }
      return isCanceled ? state.cancelFetch.take() : nil
    }
    cancel?()
    fetchIfNeeded()
  }

  private func fetchIfNeeded() {
    let first = state.withLock { state -> Waiter? in
      guard state.fetching == nil, let first = state.waiters.first else { return nil }
      state.fetching = first.ticket
      return first
    }
    guard let first else { return }
    first.handle.post { [self] in
      guard state.withLock({ $0.fetching == first.ticket }) else { return }
      let cancel = fetcher(first.context.value) { [self] answer in finish(answer, of: first.ticket) }
      state.withLock { state in
        if state.fetching == first.ticket { state.cancelFetch = cancel }
      }
    }
  }

  private func finish(_ answer: Answer, of ticket: Ticket) {
    let waiters = state.withLock { state -> [Waiter] in
      // The result of a call that left is still valid, but does not end a fetch made since.
      if case .success(let token) = answer { state.token = token }
      guard state.fetching == ticket else { return [] }
      state.fetching = nil
      state.cancelFetch = nil
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(answer) }
  }
}
