import RPCurlProtocols
import RPCurlTransport

/// The addresses of a client's server, which its calls use in turn.
struct AddressTurn {
  private enum State {
    /// The next call searches for the addresses.
    case unknown
    case searching(AddressSearch)
    case known([ServerAddress])
  }

  private var state = State.unknown
  private var turn = 0

  /// Whether calls can start: an address accepts connections, or the search has ended. Starts a search if none has run.
  ///
  /// - Parameter search: Starts a search.
  mutating func isKnown(_ search: () -> AddressSearch) -> Bool {
    if case .unknown = state { state = .searching(search()) }
    if case .searching(let search) = state, search.isOver {
      // One of several is used, too: libcurl would first wait for those before it.
      let hasOthers = search.addresses.count + search.failures.count > 1
      state = .known(hasOthers ? search.addresses : [])
    }
    switch state {
    case .unknown: return false
    case .searching(let search): return !search.addresses.isEmpty
    case .known: return true
    }
  }

  /// The address of the next call; nil if the server has only one, or none accepts a connection.
  mutating func next() -> ServerAddress? {
    let addresses: [ServerAddress] =
      switch state {
      case .unknown: []
      case .searching(let search): search.addresses
      case .known(let addresses): addresses
      }
    guard !addresses.isEmpty else { return nil }
    turn += 1
    return addresses[turn % addresses.count]
  }

  /// Searches again at the next call if the cause of a failure concerns an address. Other causes are those of a call.
  mutating func forget(after cause: ConnectionCause) {
    guard cause.isNotReady || cause.layer == .tls else { return }
    if case .known = state { state = .unknown }
  }

  /// Ends the search.
  mutating func cancel() {
    if case .searching(let search) = state { search.cancel() }
    state = .unknown
  }
}
