import RPCProtocols

// The pump: one loop that executes commands and moves values, one at a time and each as far as it goes. Commands that
// callbacks give while it runs are queued, so no callback makes it recurse.
extension Chain {
  /// How many functions of interceptors run in one round of the loop: each may queue itself again, and the loop has
  /// timers, signals and other calls to serve.
  static let runsPerRound = 100

  /// Queues a value that enters the chain: a part of the request above, a part of the response below.
  func enter(_ item: Item) {
    inputs.append(item)
    pump()
  }

  // Inlined, the loop would be in the program once for each of its many callers.
  @inline(never)
  func pump(runs: Int = runsPerRound) {
    guard !isPumping else { return }
    isPumping = true
    sink.enter()
    runsLeft = runs
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
    if let command = commandQueue.popFirst() {
      execute(command)
      return runsLeft > 0
    } else if let (node, pipeline) = dirtyNodes.popFirst() {
      node.isDirty = false
      drain(node, of: pipeline)
    } else if let item = inputs.popFirst() {
      receive(item)
    } else if case .ended(let ended) = progress.completion, case .received(let metrics) = ended.report {
      sendReport(metrics, ended)
    } else {
      return updateFlow()
    }
    return true
  }

  /// Appends the commands of other threads to those that came before.
  private func takeCommands() {
    for command in sink.takeAll() { commandQueue.append(command) }
  }

  /// Queues a command given on the loop's thread, from a callback of the chain.
  func queue(_ command: TokenSink.Command) {
    guard !progress.isFinished else { return }
    takeCommands()
    commandQueue.append(command)
  }

  /// Queues an ending. Whether it is void is known only when the commands before it have taken effect.
  func end(_ ending: Ending) {
    guard !progress.isFinished else { return }
    pendingEndings += 1
    if sink.isDelivering, sink.immediateVerdict == .nothing { isVerdictLate = true }
    // An ending that follows from a command comes before the commands after that one.
    if isReadingVerdict { commandQueue.prepend(.ending(ending)) } else { queue(.ending(ending)) }
  }

  /// Whether commands wait, which come before the next value.
  var hasCommands: Bool { !commandQueue.isEmpty || sink.hasCommands }

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
    case .ending(let ending):
      pendingEndings -= 1
      perform(ending)
    }
  }

  private func receive(_ item: Item) {
    switch item {
    case .requestStart:
      if !progress.downstream.isClosed { sendStart(item) }
    case .requestMessage, .requestEnd:
      guard !progress.downstream.isUnstarted, !progress.downstream.isClosed else { return }
      // A message that follows a held start needs the layout of the pipeline, and so every interceptor.
      makeTheRest()
      guard pendingEndings == 0 else { return inputs.prepend(item) }
      if case .requestEnd = item, !facts.kind.clientStreams, progress.givenCount == 0 {
        return failWithoutMessage()
      }
      advance(item, on: outbound, from: 0)
    case .responseStart, .responseMessage, .responseEnd, .metrics:
      guard case .open(let target) = progress.downstream else { return }
      if case .responseEnd = item { progress.downstream = .ended(target) }
      advance(item, on: inbound, from: 0)
    }
  }

  /// Notifies both ends, and interceptors that make messages, when they should pause or continue; returns whether one
  /// was notified.
  private func updateFlow() -> Bool {
    let wasRequestPaused = progress.requestFlow.isPaused
    let wasResponsePaused = progress.responseFlow.isPaused
    let isRequestPaused = !progress.requestFlow.isWanted || isFull(outbound, wasRequestPaused)
    let isResponsePaused = !progress.responseFlow.isWanted || isFull(inbound, wasResponsePaused)
    progress.requestFlow.isPaused = isRequestPaused
    progress.responseFlow.isPaused = isResponsePaused
    if isRequestPaused != wasRequestPaused, !progress.hasEnded { caller?.inputWanted(!isRequestPaused) }
    if isResponsePaused != wasResponsePaused, case .open(let target) = progress.downstream {
      target.transport.responseWanted(!isResponsePaused)
    }
    var ready: [() -> Void] = []
    if !progress.requestFlow.isPaused { swap(&ready, &roomWaiters.request) }
    if !progress.responseFlow.isPaused {
      ready += roomWaiters.response
      roomWaiters.response = []
    }
    for body in ready {
      let body = LoopBound(body)
      queue(.run { _ in body.value() })
    }
    return isRequestPaused != wasRequestPaused || isResponsePaused != wasResponsePaused || !ready.isEmpty
  }

  /// A full pipeline stays full until half of it is free, so that pauses are few.
  private func isFull(_ pipeline: Pipeline, _ wasFull: Bool) -> Bool {
    pipeline.waitingBytes >= (wasFull ? windowBytes / 2 + 1 : windowBytes)
  }
}
