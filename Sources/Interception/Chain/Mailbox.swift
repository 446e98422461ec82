import RPCProtocols
import Synchronization

/// Where other threads leave what they say to a chain, and the only part of a chain that they touch.
final class Mailbox: @unchecked Sendable {
  enum Letter: Sendable {
    case verdict(Ticket, Verdict)
    case front(Ticket, Payload)
    case inject(Seat, isRequest: Bool, Payload)
    case run(@Sendable (Chain) -> Void)
    case cancel(RPCError)
  }

  private let lock = Lock()
  private var letters: [Letter] = []
  private var isClosed = false
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
    let isFirst = lock.holding {
      guard !isClosed else { return false }
      letters.append(letter)
      hasLetters.store(true, ordering: .relaxed)
      return letters.count == 1
    }
    // From within a callback the pump sees it anyhow.
    if isFirst, !isInside { wake() }
  }

  func takeAll() -> [Letter] {
    guard hasLetters.load(ordering: .relaxed) else { return [] }
    return lock.holding {
      hasLetters.store(false, ordering: .relaxed)
      defer { letters = [] }
      return letters
    }
  }

  /// Takes no more letters.
  func close() {
    // What is in the letters may have more to say when it goes: not under the lock.
    let left = lock.holding {
      isClosed = true
      hasLetters.store(false, ordering: .relaxed)
      defer { letters = [] }
      return letters
    }
    withExtendedLifetime(left) {}
  }
}
