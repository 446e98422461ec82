import RPCProtocols

/// A way in which a call, or an attempt at it, ends before the server's end has come through.
enum Ending: Sendable {
  /// An interceptor failed the call, with a token.
  case fail(TokenID, RPCError)
  /// An interceptor failed the call, without one.
  case failWithout(InterceptorHandle, RPCError)
  /// An interceptor answers the call.
  case respond(TokenID, LocalResponse)
  /// A message could not be parsed or serialized, or the request does not keep the rules. Interceptors before this
  /// position, or all that have not received the end, receive the error; what the response has before this node
  /// goes, or everything.
  case breakdown(below: Int?, RPCError, flushing: Int?)
  /// An interceptor has the call tried again.
  case retry(TokenID, after: Duration, Headers)
  /// The call is over for everybody at once.
  case cancel(RPCError)
}

// How calls end. An ending waits in the command queue among everything else that was said, and is judged when its turn comes:
// by then everything said before it has had its effect. It is void if the call has ended for its author, and one
// moment for everybody otherwise.
extension Chain {
  func perform(_ ending: Ending) {
    guard !progress.isFinished else { return }
    switch ending {
    case .fail(let tokenID, let error):
      guard let position = author(tokenID) else { return }
      conclude(at: position, tokenID, LocalResponse(error: error), because: error)
    case .failWithout(let handle, let error):
      guard let position = slot(in: handle)?.position, position <= progress.endFrontier, !progress.hasEnded
      else { return }
      conclude(at: position, nil, LocalResponse(error: error), because: error)
    case .respond(let tokenID, let response):
      guard let position = author(tokenID) else { return }
      let name = slots[position].name
      let reason = RPCError(.canceled, "\(name) answered the call", origin: .interceptor(name))
      conclude(at: position, tokenID, response, because: reason, hasHeaders: true)
    case .breakdown(let position, let error, let node):
      let position = position ?? progress.endFrontier
      guard position <= progress.endFrontier, !progress.hasEnded else { return }
      closeRequest(because: error)
      flush(inbound, through: node.map { $0 - 1 })
      tellCanceled(from: position, error)
      progress.endFrontier = min(progress.endFrontier, position, progress.reached)
      advance(.responseEnd(ResponseEnd(error: error)), on: inbound, from: 0)
    case .retry(let tokenID, let delay, let headers):
      retry(tokenID, after: delay, headers)
    case .cancel(let error):
      cancelNow(error)
    }
  }

  /// The position of the interceptor that uses a token, if it may still end the call.
  private func author(_ tokenID: TokenID) -> Int? {
    guard isLive(tokenID), !progress.hasEnded else { return nil }
    let position = tokenID.node.takeUnretainedValue().position
    // Who has seen the end cannot end the request any more, but for one to whom it is no end yet.
    return isRequest(tokenID.stage) && position >= progress.endFrontier && !mayStillRetry ? nil : position
  }

  /// Ends the call at an interceptor: nothing goes further in, and those further out get what it has let go of and
  /// made so far, then this response. All of it waits in the interceptor's buffer, so that it arrives whatever else is
  /// said in the meantime.
  ///
  /// - Parameters:
  ///   - tokenID: The token that ends the call.
  ///   - reason: What those further in, and the transport, are told.
  ///   - hasHeaders: Whether the response starts, if none has.
  private func conclude(
    at position: Int, _ tokenID: TokenID?, _ response: LocalResponse, because reason: RPCError,
    hasHeaders: Bool = false
  ) {
    let slot = slots[position]
    let last = lastFlushed(by: slot, tokenID)
    let released = released(by: slot, before: tokenID, flushingThrough: last)
    closeRequest(because: reason)
    beforeStartCount -= inbound.flush { $0.index <= last || $0.position >= position }
    tellCanceled(from: position + 1, reason)
    progress.endFrontier = min(progress.endFrontier, position)
    slot.closeResponse()
    var items: [Item] = []
    if released.startsAtHome
      || (released.startAtHead == nil && progress.responseFrontier < .interceptor(position))
    {
      // It has passed the interceptors between the two nodes, and does not pass them again.
      put(released.atHome, at: slot.responseNode, of: inbound)
      items = released.atHead
    } else if let start = released.startAtHead
      ?? (hasHeaders ? .responseStart(ResponseStart(headers: response.headers)) : nil)
    {
      items = [start] + released.atHome + released.atHead
    }  // A call that fails before its headers has no messages.
    items += response.messages.map { .message(MessageForms($0)) }
    items.append(.responseEnd(ResponseEnd(error: response.error, trailers: response.trailers)))
    put(items, at: slot.firstResponseNode, of: inbound)
  }

  /// The index of the last node of the response of which everything goes when an interceptor ends the call: what has
  /// passed it in the stage at which it does so stays, and what it has made.
  private func lastFlushed(by slot: InterceptorSlot, _ tokenID: TokenID?) -> Int {
    if slot.isAnswering { return slot.firstResponseNode.index }
    let home = slot.responseNode.index
    guard let tokenID, !isRequest(tokenID.stage), progress.responseFrontier < .interceptor(slot.position)
    else {
      return home
    }
    let index = tokenID.node._withUnsafeGuaranteedRef { $0.index }
    // What follows a value that is dropped goes with it.
    let hasGap = inbound.nodes[index...].dropFirst().contains {
      $0.position >= slot.position && !$0.buffer.isEmpty
    }
    return hasGap ? home : index
  }

  /// What goes on of the response when an interceptor ends the call: what it has released or made, and what has not
  /// left its nodes yet.
  private struct Released {
    /// What is at its home node, the start first.
    var atHome: [Item] = []
    var startsAtHome = false
    /// What is at the first of its two nodes, or at its only one.
    var startAtHead: Item?
    var atHead: [Item] = []
  }

  /// What an interceptor has released in the response, and made, that has not left it yet.
  ///
  /// - Parameter last: The index of the last node that is emptied.
  private func released(by slot: InterceptorSlot, before tokenID: TokenID?, flushingThrough last: Int)
    -> Released
  {
    var released = Released()
    var isWhole = true
    // What is at the second of its nodes comes before what is at the first.
    for node in slot.responseNodes.reversed() {
      var start: Item?
      var messages = node.beforeStart
      let isHere = tokenID?.node.toOpaque() == Unmanaged.passUnretained(node).toOpaque()
      for item in node.buffer.released(before: isHere ? tokenID?.sequence : nil, isWhole: &isWhole) {
        switch item {
        case .message: messages.append(item)
        case .responseStart: start = item
        case .requestStart, .requestEnd, .responseEnd, .metrics: break
        }
      }
      if node === slot.firstResponseNode {
        (released.startAtHead, released.atHead) = (start, messages)
      } else {
        (released.startsAtHome, released.atHome) = (start != nil, (start.map { [$0] } ?? []) + messages)
      }
      // What is emptied between the two leaves a gap.
      let between = inbound.nodes[slot.firstResponseNode.index..<slot.responseNode.index].dropFirst()
      if between.contains(where: { $0.index <= last && !$0.buffer.isEmpty }) { isWhole = false }
    }
    return released
  }

  // MARK: - Cancelling

  private func cancelNow(_ error: RPCError) {
    switch progress.completion {
    case .pending:
      guard !progress.downstream.isUnstarted else { return finish(CallMetrics(), ResponseEnd(error: error)) }
      let error = namingHolder(error)
      closeRequest(because: error)
      flush(inbound)
      tell(from: 0, error)
      endReachedCaller(ResponseEnd(error: error), isCancelled: true)
    case .ended(let ended):
      progress.updateEnded { $0.isObserved = true }
      switch ended.report {
      case .passing(let metrics): giveUpReport(metrics)
      // Interceptors of an attempt may hold its metrics as well.
      case .awaited: progress.downstream.attempts?.cancel(error)
      case .received: break
      }
    case .finished: break
    }
  }

  private func namingHolder(_ error: RPCError) -> RPCError {
    guard error.code == .deadlineExceeded, let (name, stage) = holder else { return error }
    var error = error
    error.message += " (held by \(name) at \(stage))"
    return error
  }

  // MARK: - The steps

  /// Sends nothing more, and stops the transport if it is open.
  private func closeRequest(because error: RPCError) {
    let before = progress.downstream
    progress.downstream = .closed(before.target)
    unmade = []
    flush(outbound)
    if case .open(let target) = before { target.transport.cancel(error) }
  }

  /// Lets go of what waits on a pipeline, up to and with a node: for the response that is an interceptor's home,
  /// and what has left it stands.
  func flush(_ pipeline: Pipeline, through last: Int? = nil) {
    beforeStartCount -= pipeline.flush { last == nil || $0.index <= last ?? 0 }
  }

  /// Tells the interceptors from `position` on, which see no more of the call, that it was canceled.
  private func tellCanceled(from position: Int, _ error: RPCError) {
    tell(from: position, RPCError(.canceled, error.message, origin: error.origin))
  }

  /// Shows an end, last to first, to those who saw the start and no end yet.
  private func tell(from first: Int, _ error: RPCError) {
    let last = min(progress.reached, progress.endFrontier)
    progress.endFrontier = min(progress.endFrontier, first)
    for slot in slots.dropFirst(first) { slot.closeResponse() }
    guard first < last else { return }
    for slot in slots[first..<last].reversed() where slot.stages.contains(.responseEnd) {
      let token = ResponseToken<ResponseEnd>(sink, .shown(slot.responseNode, .responseEnd))
      // An observation cannot fail what is over.
      try? slot.interceptor?.responseEnd(ResponseEnd(error: error), token)
    }
  }

  // MARK: - After the end

  func sendReport(_ metrics: CallMetrics, _ ended: EndedCall) {
    var metrics = metrics
    metrics.total = ended.total
    guard ended.isObserved else {
      progress.updateEnded { $0.report = .passing(metrics) }
      return advance(.metrics(metrics), on: report, from: 0)
    }
    for slot in slots[..<progress.reached].reversed() where slot.stages.contains(.metrics) {
      try? slot.interceptor?.metrics(metrics, ReportToken(sink, .shown(slot.report, .metrics)))
    }
    finish(metrics)
  }

  /// Ends the wait for an interceptor that holds the metrics: those further out get them without it.
  private func giveUpReport(_ metrics: CallMetrics) {
    guard let index = report.nodes.firstIndex(where: { !$0.buffer.isEmpty }) else { return finish(metrics) }
    let holder = slots[report.nodes[index].position]
    environment.log(
      LogRecord(level: .warning, source: holder.name, text: "held the metrics until the call was given up"))
    flush(report)
    for node in report.nodes[(index + 1)...] {
      let token = ReportToken<CallMetrics>(sink, .shown(node, .metrics))
      try? slots[node.position].interceptor?.metrics(metrics, token)
    }
    finish(metrics)
  }

  func finish(_ metrics: CallMetrics, _ end: ResponseEnd = ResponseEnd()) {
    guard !progress.isFinished else { return }
    let outcome = Outcome(end: progress.end ?? end, metrics: metrics)
    progress.completion = .finished
    progress.downstream = .closed(nil)
    flush(outbound)
    flush(inbound)
    flush(report)
    cancelTimers()
    sink.close()
    inputs.removeAll()
    commandQueue.removeAll()
    roomWaiters = ([], [])
    pendingEndings = 0
    caller?.measured(metrics)
    outbound.letGo()
    inbound.letGo()
    for slot in slots.reversed() { slot.letGo()?.finish(outcome) }
    caller?.finished(outcome)
    caller = nil
    unmade = []
    attemptPlan = nil
  }
}
