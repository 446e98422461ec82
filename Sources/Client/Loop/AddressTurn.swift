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

  /// Whether calls can start. Otherwise starts a search, if none runs.
  ///
  /// - Parameter search: Starts a search.
  mutating func isKnown(_ search: () -> AddressSearch) -> Bool {
    if case .unknown = state { state = .searching(search()) }
    if case .searching(let search) = state, search.isOver { state = .known(search.addresses) }
    if case .known = state { return true } else { return false }
  }

  /// The address of the next call; nil if the server has only one.
  mutating func next() -> ServerAddress? {
    guard case .known(let addresses) = state, addresses.count > 1 else { return nil }
    turn += 1
    return addresses[turn % addresses.count]
  }

  /// Searches again at the next call: a connection has failed.
  mutating func forget() {
    if case .known = state { state = .unknown }
  }

  /// Ends the search.
  mutating func cancel() {
    if case .searching(let search) = state { search.cancel() }
    state = .unknown
  }
}
