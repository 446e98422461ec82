import Protobuf
import RPCProtocols
import Synchronization

/// The part of a chain that tokens and contexts hold: where they leave what they have to say. Other threads touch
/// nothing else of it.
///
/// There are no weak references to it, unlike to the chain: they would make each token more expensive.
final class TokenSink: @unchecked Sendable {
  enum Command: Sendable {
    case verdict(TokenID, Verdict)
    case injected(TokenID, Payload)
    case inject(InterceptorHandle, isRequest: Bool, Payload)
    case run(@Sendable (Chain) -> Void)
    case cancel(RPCError)
    case ending(Ending)
  }

  /// What an interceptor has said at once about the value that it is being given.
  enum ImmediateVerdict {
    case nothing
    /// The message goes on as it is.
    case same
    /// The message goes on as what is in `bytes`, `message` or, for anything else that was said, `verdict`.
    case bytes, message, verdict
  }

  // For the loop's thread only.
  weak var chain: Chain?
  /// The nodes that tokens know, which they may ask for longer than the chain lives.
  var nodes: [PipelineNode] = []
  /// The number of the last value that was delivered, at any node.
  private var lastSequence = 0
  /// The number of the value that an interceptor receives at the moment; 0 between deliveries.
  private(set) var deliveredSequence = 0
  /// What tells the message being delivered from others; -1 where that does not matter.
  private var deliveredIdentity = -1
  private(set) var immediateVerdict = ImmediateVerdict.nothing
  private var bytes: [UInt8] = []
  private var message: Message?
  private var verdict: Verdict?
  /// What the interceptor sends on before the value.
  var injectedBefore: [Item] = []

  private let lock = Lock()
  private var commands: [Command] = []
  private var isClosed = false
  /// Whether there are commands; a hint that saves the lock when there are none.
  private let hasCommandsHint = Atomic(false)
  /// The thread that is inside the chain now; 0 while no thread is.
  private let insideThread = Atomic<UInt>(0)
  private let postToLoop: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// - Parameter post: Has work run on the loop's thread, soon.
  init(post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    postToLoop = post
  }

  /// Whether the calling thread is inside the chain, in a callback, and so may use it directly.
  var isInside: Bool { insideThread.load(ordering: .relaxed) == currentThreadIdentity() }

  func enter() { insideThread.store(currentThreadIdentity(), ordering: .relaxed) }
  func leave() { insideThread.store(0, ordering: .relaxed) }

  // MARK: Delivering

  /// A number for a value that is to be delivered.
  @inline(__always)
  func takeSequence() -> Int {
    lastSequence += 1
    return lastSequence
  }

  /// Begins to deliver a value: what is said of it from now on is an answer at once.
  @inline(__always)
  func beginDelivery(_ sequence: Int, identity: Int = -1) {
    deliveredSequence = sequence
    deliveredIdentity = identity
  }

  /// Ends the delivery of a message that goes on as it is.
  @inline(__always)
  func endDelivery() {
    deliveredSequence = 0
    immediateVerdict = .nothing
  }

  /// Ends the delivery of any value; returns what was said.
  func takeVerdict() -> Verdict? {
    defer { endDelivery() }
    switch immediateVerdict {
    case .nothing:
      return nil
    case .same:
      return .asItIs
    case .bytes:
      defer { bytes = [] }
      return .proceed(.message(MessageForms(bytes: bytes)))
    case .message:
      defer { message = nil }
      return message.map { .proceed(.message(MessageForms(typed: $0))) }
    case .verdict:
      defer { verdict = nil }
      return verdict
    }
  }

  /// Ends the delivery of a message that goes on as other bytes.
  func takeBytes() -> [UInt8] {
    defer { endDelivery() }
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  /// Whether a value is being delivered, or what was said of it is still to be taken.
  var isDelivering: Bool { deliveredSequence != 0 }

  /// Whether a tokenID is of the value that is being delivered, here and now.
  @inline(__always)
  func isDelivering(_ tokenID: TokenID) -> Bool {
    // In this order: what is delivered is for the loop's thread alone to know.
    isInside && deliveredSequence == tokenID.sequence
  }

  /// Whether what was said ends the call, or the attempt.
  var hasVerdictToEnd: Bool {
    guard immediateVerdict == .verdict, case .ended? = verdict else { return false }
    return true
  }

  /// Notes an answer at once.
  func record(_ verdict: Verdict) {
    self.verdict = verdict
    immediateVerdict = .verdict
  }

  /// Notes that the message being delivered goes on.
  @inline(__always)
  func record(_ bytes: [UInt8]) {
    if Self.identity(of: bytes) == deliveredIdentity {
      immediateVerdict = .same
    } else {
      self.bytes = bytes
      immediateVerdict = .bytes
    }
  }

  /// Notes that the message being delivered goes on.
  @inline(__always)
  func record(_ message: Message) {
    if message.identity == deliveredIdentity {
      immediateVerdict = .same
    } else {
      self.message = message
      immediateVerdict = .message
    }
  }

  /// What tells bytes from all others that exist at the same time, without looking at them; 0 for none.
  @inline(__always)
  static func identity(of bytes: [UInt8]) -> Int {
    bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
  }

  // MARK: Letters

  func post(_ command: Command) {
    if isInside, let chain {
      // What ends the call stops the value that is being given.
      if case .cancel(let error) = command { chain.end(.cancel(error)) } else { chain.receive(command) }
      return
    }
    let isFirst = lock.holding {
      guard !isClosed else { return false }
      commands.append(command)
      hasCommandsHint.store(true, ordering: .relaxed)
      return commands.count == 1
    }
    if isFirst { postToLoop { self.chain?.processCommands() } }
  }

  /// Whether other threads have left commands.
  var hasCommands: Bool { hasCommandsHint.load(ordering: .relaxed) }

  func takeAll() -> [Command] {
    guard hasCommandsHint.load(ordering: .relaxed) else { return [] }
    return lock.holding {
      hasCommandsHint.store(false, ordering: .relaxed)
      defer { commands = [] }
      return commands
    }
  }

  /// Takes no more commands.
  func close() {
    // What is in the commands may have more to say when it goes: not under the lock.
    let left = lock.holding {
      isClosed = true
      hasCommandsHint.store(false, ordering: .relaxed)
      defer { commands = [] }
      return commands
    }
    withExtendedLifetime(left) {}
  }
}
