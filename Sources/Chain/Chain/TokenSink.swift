import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols
import Synchronization

/// The part of a chain that tokens and contexts refer to: it takes their verdicts and commands. Other threads use
/// nothing else of the chain.
///
/// Tokens refer to it strongly, and the chain clears `chain` when it is released: an object that has weak references is
/// retained slowly, and a chain is retained for each message.
final class TokenSink: @unchecked Sendable {
  enum Command: Sendable {
    case verdict(TokenID, Verdict)
    case injected(TokenID, Payload)
    case inject(InterceptorHandle, isRequest: Bool, Payload)
    case run(@Sendable (Chain) -> Void)
    case cancel(RPCError)
    case ending(Ending)
  }

  /// The verdict that an interceptor has given, in its callback, on the value that it was called with.
  enum ImmediateVerdict {
    case nothing
    /// The message goes on unchanged.
    case same
    /// The message goes on as `message`; any other verdict is in `verdict`.
    case message, verdict
  }

  // Used on the loop's thread only.
  unowned var chain: Chain?
  /// Retains the nodes that tokens refer to: a token may outlive the chain.
  var nodes: [PipelineNode] = []
  /// The number of the last value that was delivered, at any node.
  private var lastSequence = 0
  /// The number of the value that an interceptor receives at the moment; 0 between deliveries.
  private(set) var deliveredSequence = 0
  private(set) var immediateVerdict = ImmediateVerdict.nothing
  private var message: MessageValue?
  private var verdict: Verdict?
  /// What the interceptor has injected before the value.
  var injectedBefore: [Item] = []

  private let lock = Lock()
  private var commands: [Command] = []
  private var isClosed = false
  /// Whether `commands` has any: read without the lock, so that an empty list costs none.
  private let hasCommandsHint = Atomic(false)
  /// The thread that runs the chain's pump now; 0 if none does.
  private let insideThread = Atomic<UInt>(0)
  private let postToLoop: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// - Parameter post: Schedules work on the loop's thread.
  init(post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    postToLoop = post
  }

  /// Whether the calling thread runs the chain's pump, in a callback, and so may use the chain directly.
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

  /// Begins to deliver a value: verdicts on it are immediate from now on.
  @inline(__always)
  func beginDelivery(_ sequence: Int) {
    deliveredSequence = sequence
  }

  /// Ends the delivery of a message that goes on unchanged.
  @inline(__always)
  func endDelivery() {
    deliveredSequence = 0
    immediateVerdict = .nothing
  }

  /// Ends the delivery of any value; returns its immediate verdict.
  func takeVerdict() -> Verdict? {
    defer { endDelivery() }
    switch immediateVerdict {
    case .nothing:
      return nil
    case .same:
      return .asItIs
    case .message:
      defer { message = nil }
      return message.map { .proceedMessage($0) }
    case .verdict:
      defer { verdict = nil }
      return verdict
    }
  }

  /// Whether a value is being delivered, or its verdict has not been taken yet.
  var isDelivering: Bool { deliveredSequence != 0 }

  /// Whether a token is for the value that is being delivered on this thread now.
  @inline(__always)
  func isDelivering(_ tokenID: TokenID) -> Bool {
    // In this order: only the loop's thread may read `deliveredSequence`.
    isInside && deliveredSequence == tokenID.sequence
  }

  /// Whether the immediate verdict ends the call, or the attempt.
  var hasVerdictToEnd: Bool {
    guard immediateVerdict == .verdict, case .ended? = verdict else { return false }
    return true
  }

  /// Records an immediate verdict.
  func record(_ verdict: Verdict) {
    self.verdict = verdict
    immediateVerdict = .verdict
  }

  /// Records that the message being delivered goes on.
  @inline(__always)
  func record(_ message: MessageValue) {
    if message.sequence == deliveredSequence, !message.isChanged {
      immediateVerdict = .same
    } else {
      self.message = message
      immediateVerdict = .message
    }
  }

  // MARK: Commands

  func post(_ command: Command) {
    if isInside, let chain {
      // An ending also stops the value that is being delivered.
      if case .cancel(let error) = command { chain.end(.cancel(error)) } else { chain.queue(command) }
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

  /// Lets the chain continue in the next round of the loop.
  func postPump() {
    postToLoop { self.chain?.continuePump() }
  }

  /// Whether other threads have given commands.
  var hasCommands: Bool { hasCommandsHint.load(ordering: .relaxed) }

  func takeAll() -> [Command] {
    guard hasCommandsHint.load(ordering: .relaxed) else { return [] }
    return lock.holding {
      hasCommandsHint.store(false, ordering: .relaxed)
      defer { commands = [] }
      return commands
    }
  }

  /// Discards the commands, and accepts no more.
  func close() {
    // Releasing a command may release tokens, which give commands: not under the lock.
    let left = lock.holding {
      isClosed = true
      hasCommandsHint.store(false, ordering: .relaxed)
      defer { commands = [] }
      return commands
    }
    withExtendedLifetime(left) {}
  }
}
