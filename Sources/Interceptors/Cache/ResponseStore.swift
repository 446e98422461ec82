import RPCurlBase
import RPCurlChain
import RPCurlProtobuf

/// The stored responses of a registration, and the calls whose responses are awaited.
final class ResponseStore: Sendable {
  /// Identifies a call that has entered the store.
  struct Ticket: Sendable {
    fileprivate let key: [UInt8]
    fileprivate let number: Int
  }

  /// Receives the response to an identical call; nil if it has none that can be used.
  typealias Waiter = @Sendable (CachedResponse?) -> Void

  /// The calls with one key.
  private struct Flight {
    let key: [UInt8]
    /// The call that is sent.
    let first: Int
    var waiters: [(number: Int, resume: Waiter)] = []
  }

  private struct State {
    /// Few: one for each call that runs.
    var flights: [Flight] = []
    var lastNumber = 0
  }

  private let folder: any CacheFolder
  private let state = Locked(State())

  init(_ folder: any CacheFolder) { self.folder = folder }

  /// The stored response for a key, of any age.
  func load(_ key: [UInt8]) -> CachedResponse? {
    folder.load(key).flatMap { try? CachedResponse(content: $0) }
  }

  /// Stores a response, and gives it to the calls that wait for it.
  func store(_ response: CachedResponse, _ ticket: Ticket) throws(SystemError) {
    defer { leave(ticket, response) }
    try folder.store(response.content, for: ticket.key)
  }

  /// Adds a call.
  ///
  /// - Parameter resume: Called once when the response to the first call is known, unless `leave` is called before. On any
  ///   thread.
  /// - Returns: The ticket, and whether the call is the first with this key, and is to be sent.
  func enter(_ key: [UInt8], _ resume: @escaping Waiter) -> (Ticket, isFirst: Bool) {
    state.withLock { state in
      state.lastNumber += 1
      let number = state.lastNumber
      let index = state.flights.firstIndex { $0.key == key }
      if let index {
        state.flights[index].waiters.append((number, resume))
      } else {
        state.flights.append(Flight(key: key, first: number))
      }
      return (Ticket(key: key, number: number), index == nil)
    }
  }

  /// Removes a call. If it is the first one, those that wait are resumed.
  func leave(_ ticket: Ticket, _ response: CachedResponse? = nil) {
    let waiters = state.withLock { state -> [Waiter] in
      guard let index = state.flights.firstIndex(where: { $0.key == ticket.key }) else { return [] }
      guard state.flights[index].first == ticket.number else {
        state.flights[index].waiters.removeAll { $0.number == ticket.number }
        return []
      }
      return state.flights.remove(at: index).waiters.map(\.resume)
    }
    for resume in waiters { resume(response) }
  }
}
