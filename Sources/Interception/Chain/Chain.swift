import Protobuf
import RPCProtocols

/// The interceptors of one call, and the values that are on their way through them.
///
/// The caller stands above, the transport below; both give values here and are called when values come out. The
/// chain belongs to one thread, the loop's: only what interceptors do with tokens and contexts may come from
/// others, and waits in the token sink until the owner, woken, calls `processCommands()`.
///
/// The chain neither reads nor waits. What an interceptor holds stays until it is resumed, or until the owner
/// cancels the call, at its deadline or at Ctrl-C.
///
/// An interceptor that may retry is the last of its chain: below it every attempt has a chain of its own (see
/// `Attempts`).
public final class Chain {
  /// How many bytes may wait in each direction before the chain asks to pause.
  public static let defaultWindowBytes = 4 << 20
  /// How many windows may wait, where more comes in spite of the pause, before the call fails.
  static let windowsToOverflow = 16

  /// What is known of the call.
  public let facts: CallFacts

  /// The interceptors that the chain is made of, as they were registered.
  let registrations: ArraySlice<InterceptorRegistration>
  let codec: MessageCodec
  let environment: ChainEnvironment
  let sink: TokenSink
  /// The interceptors made so far.
  var slots: [InterceptorSlot] = []
  /// Those still to be made, when the request's start comes to them.
  var unmade: ArraySlice<InterceptorRegistration>
  /// What each attempt is to be made of, below an interceptor that may retry.
  var attemptPlan: AttemptPlan?
  var windowBytes: Int
  let outbound = Pipeline()
  let inbound = Pipeline()
  let report = Pipeline()

  var caller: (any ChainCaller)?
  var progress = Progress()

  // What is to be done next. `pump` works it off, so that nothing recurses.
  var isPumping = false
  var inputs = Queue<Input>()
  /// What interceptors do when more of a direction is taken.
  var roomWaiters: (request: [() -> Void], response: [() -> Void]) = ([], [])
  /// What was said and has no effect yet, in the order in which it was said.
  var commandQueue = Queue<TokenSink.Command>()
  /// How many endings are in the command queue. Until each is performed, or found to be void, no value moves.
  var pendingEndings = 0
  /// Whether a verdict of another thread is being read.
  var isReadingVerdict = false
  /// The token of the value that an interceptor is being given, unless that is a message on its short way.
  var delivery: TokenID?
  /// Whether a way to end the call was said before what becomes of the value that is being given.
  var isVerdictLate = false
  var dirtyNodes = Queue<(PipelineNode, Pipeline)>()
  /// How many messages wait anywhere for a start to go by.
  var beforeStartCount = 0
  /// What was given before the start, which goes first.
  private var inputsBeforeStart: [Input] = []
  /// The clock's number of the timer that looks for values held for long.
  var holdTimer: Int?

  init(
    facts: CallFacts, registrations: ArraySlice<InterceptorRegistration>, codec: MessageCodec,
    environment: ChainEnvironment
  ) {
    self.facts = facts
    self.registrations = registrations
    self.unmade = registrations
    self.codec = codec
    self.environment = environment
    windowBytes = environment.windowBytes
    sink = TokenSink(post: environment.post)
    sink.chain = self
  }

  deinit {
    sink.close()
  }

  /// Whether an interceptor wants typed request messages, or may. If none does, the caller can give bytes, and no
  /// message needs to be built.
  public var wantsRequestMessages: Bool { outbound.typedCount > 0 || !unmade.isEmpty }

  /// Whether an interceptor wants typed response messages.
  public var wantsResponseMessages: Bool { inbound.typedCount > 0 }

  /// Whether the chain and the transport take more messages to send. When not, what is given is still taken.
  public var wantsMoreInput: Bool { !progress.requestFlow.isPaused }

  /// Whether the chain and the caller take more of the response. When not, what is given is still taken.
  public var wantsMoreResponse: Bool { !progress.responseFlow.isPaused }

  /// Whether every interceptor has finished.
  public var isFinished: Bool { progress.isFinished }

  // MARK: - From the caller

  /// Starts the call. Once. Messages that were sent before follow the start.
  ///
  /// - Parameters:
  ///   - start: What to start with.
  ///   - caller: Hears what comes out above.
  ///   - makeTransport: Makes what lies below the chain that it is given. Called when the start leaves the chain; and
  ///     again for each attempt, where an interceptor retries.
  public func start(
    _ start: RequestStart, caller: any ChainCaller,
    transport makeTransport: @escaping (Chain) -> any ChainTransport
  ) {
    guard progress.downstream.isUnstarted else { return }
    progress.downstream = .unopened(makeTransport)
    progress.begin = environment.clock.now
    progress.deadline = start.deadline
    self.caller = caller
    enter(.outbound(.requestStart(start)))
    let held = inputsBeforeStart
    inputsBeforeStart = []
    for input in held { enter(input) }
  }

  /// Takes a value of the request that follows the start.
  private func take(afterStart item: Item) {
    if progress.downstream.isUnstarted {
      inputsBeforeStart.append(.outbound(item))
    } else {
      enter(.outbound(item))
    }
  }

  /// Sends a message.
  ///
  /// - Parameters:
  ///   - message: The message; bytes are in the call's codec.
  ///   - sizeBytes: For a typed message, the size of what it was made of, to be counted while it waits.
  public func send(_ message: Payload, sizeBytes: Int = 0) {
    take(afterStart: .message(MessageForms(message, sizeBytes: sizeBytes)))
  }

  /// Half-closes: no more messages follow.
  public func closeRequest() {
    take(afterStart: .requestEnd)
  }

  /// Ends the call at once, even if interceptors hold values: Ctrl-C, the deadline, or the owner's own reason.
  ///
  /// Every interceptor that saw the start and not yet the end receives the error, last to first, then the caller.
  /// The error of a deadline names the interceptors that held values. After the end, only the metrics are sent early.
  public func cancel(_ error: RPCError) {
    end(.cancel(error))
    pump()
  }

  /// Whether the caller takes more of the response now.
  public func callerWants(response isWanted: Bool) {
    progress.responseFlow.isWanted = isWanted
    pump()
  }

  // MARK: - From the transport

  /// The response starts.
  public func received(_ start: ResponseStart) {
    enter(.inbound(.responseStart(start)))
  }

  /// A message has come; bytes are decompressed.
  public func received(_ message: Payload) {
    enter(.inbound(.message(MessageForms(message))))
  }

  /// A serialized message has come, decompressed; valid during this call only. When no interceptor wants messages it
  /// goes by without being copied.
  public func received(_ message: RawSpan) {
    if letsResponsesThrough {
      caller?.responseReceived(message)
    } else {
      received(.bytes(message.copyBytes()))
    }
  }

  /// The response has ended, or the connection has. The transport is not called any more, but for `measure`.
  public func received(_ end: ResponseEnd) {
    enter(.inbound(.responseEnd(end)))
  }

  /// What the call took on the wire.
  public func measured(_ metrics: CallMetrics) {
    progress.updateEnded { if case .awaited = $0.report { $0.report = .received(metrics) } }
    pump()
  }

  /// Whether the transport takes more to send now.
  public func transportWants(input isWanted: Bool) {
    progress.requestFlow.isWanted = isWanted
    pump()
  }

  /// Whether a response message that came now would leave the chain at once and unchanged: no interceptor wants
  /// messages, and no value waits.
  private var letsResponsesThrough: Bool {
    inbound.nextForMessages[0] == inbound.nodes.count && inbound.waitingCount == 0 && !isPumping
      && inputs.isEmpty && commandQueue.isEmpty && dirtyNodes.isEmpty && progress.downstream.isOpen
  }

  // MARK: - From the owner

  /// Works off what interceptors said on other threads. To be called on the loop's thread after each wake-up.
  public func processCommands() {
    pump()
  }

  /// Who has been keeping the call waiting: the interceptor that holds the first value of the response, else of
  /// the request, and the stage at which it does.
  public var holder: (name: String, stage: Stage)? {
    for node in inbound.nodes.reversed() {
      if let hold = node.buffer.headHold { return (slots[node.position].name, hold.stage) }
    }
    if let holder = progress.downstream.attempts?.holder { return holder }
    for node in outbound.nodes.reversed() + report.nodes {
      if let hold = node.buffer.headHold { return (slots[node.position].name, hold.stage) }
    }
    return nil
  }
}
