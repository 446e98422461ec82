import RPCProtocols
import Synchronization

/// Where other threads leave what they say to a chain, and the only part of a chain that they touch.
final class Mailbox: Sendable {
  enum Letter: Sendable {
    case verdict(Ticket, Verdict)
    case cancel(RPCError)
  }

  private struct State {
    var letters: [Letter] = []
    var isClosed = false
    /// For each station of the chain, the epoch of its tokens.
    var epochs: [UInt32] = []
  }

  private let state = Mutex(State())
  /// Whether there are letters; a hint that saves the lock when there are none.
  private let hasLetters = Atomic(false)
  /// The thread that is inside the chain now; 0 is none.
  private let insideThread = Atomic<UInt>(0)
  private let wake: @Sendable () -> Void

  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  /// Whether the calling thread is inside the chain, in a callback, and so may use it directly.
  var isInside: Bool { insideThread.load(ordering: .relaxed) == currentThreadIdentity() }

  func enter() { insideThread.store(currentThreadIdentity(), ordering: .relaxed) }
  func leave() { insideThread.store(0, ordering: .relaxed) }

  func post(_ letter: Letter) {
    let isFirst = state.withLock { state in
      guard !state.isClosed else { return false }
      state.letters.append(letter)
      hasLetters.store(true, ordering: .relaxed)
      return state.letters.count == 1
    }
    if isFirst { wake() }
  }

  func takeAll() -> [Letter] {
    guard hasLetters.load(ordering: .relaxed) else { return [] }
    return state.withLock { state in
      hasLetters.store(false, ordering: .relaxed)
      defer { state.letters = [] }
      return state.letters
    }
  }

  /// Reads no more letters, and makes every token void.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.letters = []
      state.epochs = []
    }
  }

  func publish(epochs: [UInt32]) {
    state.withLock { if !$0.isClosed { $0.epochs = epochs } }
  }

  func isVoid(_ ticket: Ticket) -> Bool {
    state.withLock { state in
      ticket.station >= state.epochs.count || state.epochs[ticket.station] != ticket.epoch
    }
  }
}
