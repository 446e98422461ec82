import RPCurlProtobuf
import RPCurlProtocols

/// The interceptors of one call, and the values on their way through them (the design is in ../README.md).
///
/// The caller is above, the transport below; both give values to the chain, and the chain calls them with what comes
/// out. The chain belongs to one thread, the loop's. Only tokens and contexts may be used on other threads: their
/// commands wait in the token sink until the owner, woken, calls `processCommands()`.
///
/// The chain does no I/O and never blocks. A value that an interceptor holds waits until the interceptor forwards it,
/// or until the owner cancels the call, at its deadline or at Ctrl-C.
///
/// An interceptor that may retry, or that hedges, is the last of its chain: below it each attempt has a chain of its own
/// (see `Attempts`).
package final class Chain: ResponseReceiver {
  /// How many bytes may wait in each direction before the chain asks the sender to pause.
  package static let defaultWindowBytes = 4 << 20
  /// How many windows may wait before the call fails, if values arrive in spite of the pause.
  static let windowsToOverflow = 16

  /// The facts of the call.
  package let facts: CallFacts
  /// The same as of the request's start that has come furthest: an interceptor may change the method.
  package internal(set) var furthestFacts: CallFacts

  /// The registrations that the chain is made of.
  let registrations: ArraySlice<InterceptorRegistration>
  let codec: MessageCodec
  /// The attributes of this chain's call, or attempt, until the attempt's response is taken.
  private var ownAttributes: CallAttributes
  /// The chain above, once the response of this attempt is taken: both have the same attributes.
  private weak var attributesOwner: Chain?
  let environment: ChainEnvironment
  let sink: TokenSink
  /// The interceptors made so far.
  var slots: [InterceptorSlot] = []
  /// The interceptors that are not made yet; each is made when the request's start reaches it.
  var unmade: ArraySlice<InterceptorRegistration>
  /// How attempts are made, below an interceptor that may retry or that hedges; nil without one.
  var attemptPlan: AttemptPlan?
  /// What the chains of a call share.
  let family: ChainFamily
  let outbound = Pipeline(isOutbound: true)
  let inbound = Pipeline(isOutbound: false)
  let report = Pipeline(isOutbound: false)

  var caller: (any ChainCaller)?
  var progress = Progress()
  /// Whether each direction takes more messages.
  var flow: FlowControl

  // The pump: it takes its work from the agenda, so that nothing recurses.
  var isPumping = false
  /// How many functions the pump may still run in this round of the loop.
  var runsLeft = 0
  /// Whether the pump is to continue in the next round of the loop.
  var isPumpPosted = false
  var agenda = Agenda()
  /// Whether a verdict from the command queue is taking effect.
  var isReadingVerdict = false
  /// The token of the value that an interceptor is called with, except on the fast path.
  var delivery: TokenID?
  /// Whether the interceptor ended the call before its verdict on the value that it is called with.
  var isVerdictLate = false
  /// Inputs that were given before the start, which goes first.
  private var inputsBeforeStart: [Item] = []
  /// The clock's number of the timer that checks for values held for long.
  var holdTimer: Int?

  /// - Parameter family: What it shares with the chain whose attempt it is.
  init(
    facts: CallFacts, registrations: ArraySlice<InterceptorRegistration>, codec: MessageCodec,
    environment: ChainEnvironment, family: ChainFamily
  ) {
    self.facts = facts
    furthestFacts = facts
    self.family = family
    ownAttributes = family.attributes
    self.registrations = registrations
    self.unmade = registrations
    self.codec = codec
    self.environment = environment
    flow = FlowControl(windowBytes: environment.windowBytes)
    sink = TokenSink(post: environment.post)
    sink.chain = self
  }

  deinit {
    sink.chain = nil
    sink.close()
  }

  /// Whether an interceptor wants typed request messages, or may want them. If none does, the caller can give bytes,
  /// and no message needs to be built.
  package var wantsRequestMessages: Bool {
    outbound.typedCount > 0 || unmade.contains { $0.factory.declaration.mayReceiveTypedRequests }
  }

  /// Whether the chain and the transport take more messages to send. If not, messages are still accepted.
  package var wantsMoreInput: Bool { !flow.request.isPaused }

  /// Whether the chain and the caller take more of the response. If not, messages are still accepted.
  package var wantsMoreResponse: Bool { !flow.response.isPaused }

  /// Whether every interceptor has finished.
  package var isFinished: Bool { progress.isFinished }

  /// The attributes of the call; in an attempt a copy, until its response is taken.
  package var attributes: CallAttributes {
    get { attributesOwner?.attributes ?? ownAttributes }
    set {
      if let attributesOwner { attributesOwner.attributes = newValue } else { ownAttributes = newValue }
    }
  }

  /// Copies the attributes of a call for an attempt at it.
  func copyAttributes(from upper: Chain) { ownAttributes = upper.attributes }

  /// Makes the attributes of this attempt, whose response is taken, those of the call.
  func shareAttributes(with upper: Chain) {
    guard attributesOwner == nil else { return }
    upper.attributes = ownAttributes
    attributesOwner = upper
  }

  /// The address of the server of the current attempt, with its port; nil if it is not known.
  package var peer: String? { progress.downstream.target?.transport.peer }

  /// The end of this chain's attempt at a call, with whether it follows a message of the response.
  func ended(_ end: ResponseEnd) -> ResponseEnd {
    var end = end
    end.followsMessage = end.error != nil && hasMessage
    return end
  }

  /// Whether a message of the response has arrived, also one that was not delivered.
  var hasMessage: Bool { progress.hadMessage || progress.downstream.target?.transport.hasMessage == true }

  // MARK: - From the caller

  /// Starts the call. To be called once. Messages that were sent before follow the start.
  ///
  /// - Parameters:
  ///   - start: The request's start.
  ///   - caller: Receives what comes out above.
  ///   - makeTransport: Makes the transport below the chain that it is called with. Called when the start leaves the
  ///     chain, and again for each attempt if an interceptor retries.
  package func start(
    _ start: RequestStart, caller: any ChainCaller,
    transport makeTransport: @escaping (Chain) -> any ChainTransport
  ) {
    guard progress.downstream.isUnstarted else { return }
    progress.downstream = .unopened(makeTransport)
    progress.begin = environment.clock.now
    progress.deadline = start.deadline
    self.caller = caller
    enter(.requestStart(start))
    let held = inputsBeforeStart
    inputsBeforeStart = []
    for item in held { enter(item) }
  }

  /// Accepts a value of the request that follows the start.
  private func accept(afterStart item: Item) {
    if progress.downstream.isUnstarted {
      inputsBeforeStart.append(item)
    } else {
      enter(item)
    }
  }

  /// Sends a message. Ignored after the half-close.
  ///
  /// - Parameters:
  ///   - message: The message; bytes are in the call's codec.
  ///   - sizeBytes: For a typed message, the size of its source in bytes, counted while the message waits.
  package func send(_ message: Payload, sizeBytes: Int = 0) {
    guard case .bytes(let bytes) = message, let transport = nextReceiverOfRequests else {
      return send(MessageValue(message, sizeBytes: sizeBytes))
    }
    progress.givenCount += 1
    progress.sentCount += 1
    transport.send(bytes)
  }

  /// The transport, if a request message would reach it at once and unchanged: no interceptor wants messages, no value
  /// waits, and any number of messages may follow.
  private var nextReceiverOfRequests: (any ChainTransport)? {
    guard facts.kind.clientStreams, outbound.letsMessagesThrough, isIdle, !progress.isRequestGiven,
      case .open(.transport(let transport)) = progress.downstream
    else { return nil }
    return transport
  }

  /// Sends a message that another chain of the call has passed on.
  func send(_ message: MessageValue) {
    guard !progress.isRequestGiven else { return }
    progress.givenCount += 1
    accept(afterStart: .requestMessage(message))
  }

  /// Half-closes: no more messages follow. A call that requires exactly one message fails if none was sent. Only the
  /// first time has an effect.
  package func closeRequest() {
    guard !progress.isRequestGiven else { return }
    progress.isRequestGiven = true
    accept(afterStart: .requestEnd)
  }

  /// Ends the call at once, even if interceptors hold values: at Ctrl-C, at the deadline, or for the owner's own
  /// reason.
  ///
  /// Every interceptor that has received the start and not the end receives the error, last to first, then the caller.
  /// A deadline error names the interceptor that held the call. After the end, finishes without waiting for metrics.
  package func cancel(_ error: RPCError) {
    end(.cancel(error))
    // With all functions that were queued before, so that the end does not wait for a further round of the loop.
    pump(runs: max(Self.runsPerRound, agenda.commandCount + 1))
  }

  /// Sets whether the caller takes more of the response now.
  package func callerWants(response isWanted: Bool) {
    flow.response.isWanted = isWanted
    pump()
  }

  // MARK: - From the transport

  /// Receives an event of the response; bytes are decompressed.
  ///
  /// After the end the transport is not called any more, except for `measure`, to which the metrics are the response.
  package func receive(_ event: CallEvent<Payload>) {
    guard case .metrics(let metrics) = event else { return enter(Item(event)) }
    progress.updateEnded { if case .awaited = $0.report { $0.report = .received(metrics) } }
    pump()
  }

  /// Receives a serialized message, decompressed; valid during this call only. If no interceptor wants messages, it
  /// reaches the caller without being copied.
  package func receive(message: RawSpan) {
    if letsResponsesThrough {
      caller?.receive(message: message)
    } else {
      enter(.responseMessage(MessageValue(bytes: message.copyBytes())))
    }
  }

  /// Receives a message of an attempt, in the forms that the attempt has.
  func receive(_ message: MessageValue) {
    enter(.responseMessage(message))
  }

  /// Receives messages as `receive(message:)` does. The caller may take many that no interceptor wants.
  package func receive(messages places: Span<Range<Int>>, of piece: RawSpan) -> Int {
    if letsResponsesThrough, let caller { return caller.receive(messages: places, of: piece) }
    receive(message: piece.extracting(places[0]))
    return 1
  }

  /// Sets whether the transport takes more to send now.
  package func transportWants(input isWanted: Bool) {
    flow.request.isWanted = isWanted
    pump()
  }

  /// Whether a response message would leave the chain at once and unchanged: no interceptor wants messages, and no
  /// value waits.
  private var letsResponsesThrough: Bool {
    inbound.letsMessagesThrough && !isPumping && agenda.isEmpty && progress.downstream.isOpen
  }

  // MARK: - From the owner

  /// Executes the commands that interceptors gave on other threads. To be called on the loop's thread after each
  /// wake-up.
  package func processCommands() {
    pump()
  }

  /// The interceptor that delays the call, and the stage at which it does: the one that holds the first value of the
  /// response, or else of the request.
  package var holder: (name: String, stage: Stage)? {
    for node in inbound.nodes {
      if let hold = node.buffer.headHold { return (slots[node.position].name, hold.stage) }
    }
    if let holder = progress.downstream.attempts?.holder { return holder }
    for node in outbound.nodes.reversed() + report.inOrder {
      if let hold = node.buffer.headHold { return (slots[node.position].name, hold.stage) }
    }
    return nil
  }
}
