import RPCurlBase
import RPCurlChain
import RPCurlProtobuf

/// The interceptors of a client, which may change while it runs. `[any thread]`
final class ClientInterceptors: Sendable {
  private struct State {
    /// The interceptors of calls that start now, in the order in which they were added.
    var current: [InterceptorRegistration]
    /// Those that may have collected something, and are not in the list any more: they were removed, or belonged to one
    /// call.
    var former: [RegistrationID: InterceptorRegistration] = [:]

    /// Keeps a registration for the end of the client, if its factory may collect something.
    mutating func keep(_ registration: InterceptorRegistration) {
      if registration.factory is AsyncFactory || registration.factory is ClosureFactory { return }
      former[registration.id] = registration
    }
  }

  private let state: Locked<State>

  init(_ interceptors: [any ChainMember]) { state = Locked(State(current: interceptors.map(\.registration))) }

  /// The interceptors of calls that start now.
  var current: [InterceptorRegistration] { state.withLock { $0.current } }

  /// The interceptors that are concluded when the client closes.
  var all: [InterceptorRegistration] {
    state.withLock { state in
      let current = Set(state.current.map(\.id))
      return state.current + state.former.values.filter { !current.contains($0.id) }
    }
  }

  /// The interceptors of a call that starts now, with its own after the others.
  func forCall(with own: [any ChainMember]) -> [InterceptorRegistration] {
    state.withLock { state in
      guard !own.isEmpty else { return state.current }
      let own = own.map(\.registration)
      for registration in own { state.keep(registration) }
      return state.current + own
    }
  }

  func add(_ registration: InterceptorRegistration) {
    state.withLock { $0.current.append(registration) }
  }

  /// Removes a registration; returns false if it is not in the list.
  func remove(_ registration: InterceptorRegistration) -> Bool {
    state.withLock { state in
      let count = state.current.count
      state.current.removeAll { $0.id == registration.id }
      guard state.current.count < count else { return false }
      state.keep(registration)
      return true
    }
  }
}
