import RPCurlProtocols

// The pump: one loop that executes commands and moves values, one at a time and each as far as it goes. Commands that
// callbacks give while it runs are queued, so no callback makes it recurse.
extension Chain {
  /// How many functions of interceptors run in one round of the loop: each may queue itself again, and the loop has
  /// timers, signals and other calls to serve.
  static let runsPerRound = 100

  /// Queues a value that enters the chain: a part of the request above, a part of the response below.
  func enter(_ item: Item) {
    guard isIdle else {
      agenda.append(item)
      return pump()
    }
    // Without the queue, which costs a message of a stream a tenth of its way (scripts/bench-chain).
    isPumping = true
    sink.enter()
    runsLeft = Self.runsPerRound
    receive(item)
    finishPump()
  }

  /// Whether nothing waits for the pump.
  var isIdle: Bool {
    !isPumping && agenda.isEmpty && !sink.hasCommands
  }

  // Inlined, the loop would be in the program once for each of its many callers.
  @inline(never)
  func pump(runs: Int = runsPerRound) {
    guard !isPumping else { return }
    isPumping = true
    sink.enter()
    runsLeft = runs
    finishPump()
  }

  /// Does what is left to do in this round of the loop.
  @inline(never)
  private func finishPump() {
    while step() {}
    sink.leave()
    isPumping = false
    guard runsLeft == 0, !isPumpPosted, !progress.isFinished else { return }
    isPumpPosted = true
    sink.postPump()
  }

  /// Continues after the functions of the round before.
  func continuePump() {
    isPumpPosted = false
    pump()
  }

  /// Does one step; returns false if nothing is left to do in this round of the loop. Commands come first, then the node
  /// marked first, then the input that has waited longest.
  private func step() -> Bool {
    takeCommands()
    switch agenda.next() {
    case .command(let command):
      execute(command)
      return runsLeft > 0
    case .node(let node, let pipeline): drain(node, of: pipeline)
    case .input(let item): receive(item)
    case nil:
      guard case .ended(let ended) = progress.completion, case .received(let metrics) = ended.report else {
        return updateFlow()
      }
      sendReport(metrics, ended)
    }
    return true
  }

  /// Appends the commands of other threads to those that came before.
  private func takeCommands() {
    for command in sink.takeAll() { agenda.append(command) }
  }

  /// Queues a command given on the loop's thread, from a callback of the chain.
  func queue(_ command: TokenSink.Command) {
    guard !progress.isFinished else { return }
    takeCommands()
    agenda.append(command)
  }

  /// Queues an ending. Whether it is void is known only when the commands before it have taken effect.
  func end(_ ending: Ending) {
    guard !progress.isFinished else { return }
    if sink.isDelivering, sink.immediateVerdict == .nothing { isVerdictLate = true }
    if !isReadingVerdict { takeCommands() }
    agenda.append(ending, isFirst: isReadingVerdict)
  }

  /// Whether commands wait, which come before the next value.
  var hasCommands: Bool { agenda.hasCommands || sink.hasCommands }

  private func execute(_ command: TokenSink.Command) {
    guard !progress.isFinished else { return }
    switch command {
    case .verdict(let tokenID, let verdict):
      isReadingVerdict = true
      settleHere(tokenID, verdict)
      isReadingVerdict = false
    case .injected(let tokenID, let message): putHere(message, before: tokenID)
    case .inject(let handle, let isRequest, let message): inject(message, by: handle, isRequest: isRequest)
    case .run(let body):
      runsLeft -= 1
      body(self)
    case .cancel(let error): perform(.cancel(error))
    case .ending(let ending): perform(ending)
    }
  }

  private func receive(_ item: Item) {
    switch item {
    case .requestStart:
      if !progress.downstream.isClosed { sendStart(item) }
    case .requestMessage, .requestEnd:
      guard !progress.downstream.isUnstarted, !progress.downstream.isClosed else { return }
      if case .requestEnd = item, !facts.kind.clientStreams, progress.givenCount == 0 {
        return failWithoutMessage()
      }
      advance(item, on: outbound, from: 0)
    case .responseStart, .responseMessage, .responseEnd, .metrics:
      guard case .open(let target) = progress.downstream else { return }
      if case .responseEnd = item { progress.downstream = .ended(target) }
      advance(item, on: inbound, from: inbound.first)
    }
  }

  /// Notifies both ends, and interceptors that make messages, when they should pause or continue; returns whether one
  /// was notified.
  private func updateFlow() -> Bool {
    let change = flow.update(
      requestBytes: isStream(outbound) ? outbound.waitingBytes : 0,
      responseBytes: isStream(inbound) ? inbound.waitingBytes : 0)
    if change.requestChanged, !progress.hasEnded { caller?.inputWanted(!flow.request.isPaused) }
    if change.responseChanged, case .open(let target) = progress.downstream {
      target.transport.responseWanted(!flow.response.isPaused)
    }
    for body in change.ready {
      let body = LoopBound(body)
      queue(.run { _ in body.value() })
    }
    return !change.isEmpty
  }
}
