import RPCProtocols

/// How a call, or an attempt at it, ends before the server's end has passed the chain.
enum Ending: Sendable {
  /// An interceptor failed the call, with a token.
  case fail(TokenID, RPCError, trailers: Headers = Headers())
  /// An interceptor responds to the call.
  case respond(TokenID, LocalResponse)
  /// An interceptor ends the call with a response or an error, without a token.
  case respondWithout(InterceptorHandle, LocalResponse)
  /// A message could not be parsed or serialized, or the request breaks the rules. Interceptors before the position
  /// (nil: all that have not received the end) receive the error. The response's values at nodes before the index
  /// (nil: all) are discarded.
  case breakdown(below: Int?, RPCError, flushing: Int?)
  /// An interceptor retries the call.
  case retry(TokenID, after: Duration, RequestChange)
  /// The call ends at once, for every interceptor and the caller.
  case cancel(RPCError)
}

// How calls end. An ending waits in the command queue until every command before it has taken effect. It is void if the
// call has ended for the interceptor that requested it by then, and takes effect in one step otherwise.
extension Chain {
  func perform(_ ending: Ending) {
    guard !progress.isFinished else { return }
    switch ending {
    case .fail(let tokenID, let error, let trailers):
      guard let position = endingPosition(tokenID) else { return }
      conclude(at: position, tokenID, LocalResponse(failure: error, trailers: trailers), because: error)
    case .respond(let tokenID, let response):
      guard let position = endingPosition(tokenID) else { return }
      conclude(at: position, tokenID, response, because: responded(slots[position]), hasHeaders: true)
    case .respondWithout(let handle, let response):
      guard let slot = slot(in: handle), slot.position <= progress.endFrontier, !progress.hasEnded
      else { return }
      conclude(
        at: slot.position, nil, response, because: response.error ?? responded(slot),
        hasHeaders: response.error == nil)
    case .breakdown(let position, let error, let node):
      let position = position ?? progress.endFrontier
      guard position <= progress.endFrontier, !progress.hasEnded else { return }
      closeRequest(because: error)
      flush(inbound, through: node.map { $0 - 1 })
      showCanceled(from: position, error)
      progress.endFrontier = min(progress.endFrontier, position, progress.reached)
      advance(.responseEnd(ResponseEnd(error: error)), on: inbound, from: 0)
    case .retry(let tokenID, let delay, let change):
      retry(tokenID, after: delay, change)
    case .cancel(let error):
      cancelNow(error)
    }
  }

  /// Why a call ends to which an interceptor has responded.
  private func responded(_ slot: InterceptorSlot) -> RPCError {
    RPCError(.canceled, "\(slot.name) responded to the call", origin: .interceptor(slot.name))
  }

  /// The position of the interceptor that received a token; nil if it may not end the call any more.
  private func endingPosition(_ tokenID: TokenID) -> Int? {
    guard isLive(tokenID), !progress.hasEnded else { return nil }
    let position = tokenID.node.position
    // An interceptor past the end frontier can no longer end the request, unless it may still retry.
    return isRequest(tokenID.stage) && position >= progress.endFrontier && !mayStillRetry ? nil : position
  }

  /// Ends the call at an interceptor: nothing goes further in, and those further out receive what it has forwarded and
  /// made so far, then this response. All of it waits in the interceptor's buffer, so that later commands cannot affect
  /// it.
  ///
  /// - Parameters:
  ///   - tokenID: The token that ends the call.
  ///   - reason: The error that interceptors further in, and the transport, receive.
  ///   - hasHeaders: Whether the response starts, if no other has.
  private func conclude(
    at position: Int, _ tokenID: TokenID?, _ response: LocalResponse, because reason: RPCError,
    hasHeaders: Bool = false
  ) {
    let slot = slots[position]
    let last = lastFlushed(by: slot, tokenID)
    let released = released(by: slot, before: tokenID, flushingThrough: last)
    closeRequest(because: reason)
    beforeStartCount -= inbound.flush { $0.index <= last || $0.position >= position }
    showCanceled(from: position + 1, reason)
    progress.endFrontier = min(progress.endFrontier, position)
    slot.closeResponse()
    var items: [Item] = []
    if released.startsAtLast
      || (released.startAtFirst == nil && progress.responseFrontier < .interceptor(position))
    {
      // The start has passed the interceptors between the two nodes, and does not pass them again.
      put(released.atLast, at: slot.responseNode, of: inbound)
      items = released.atFirst
    } else if let start = released.startAtFirst
      ?? (hasHeaders
        ? .responseStart(ResponseStart(httpStatus: response.httpStatus, headers: response.headers)) : nil)
    {
      items = [start] + released.atLast + released.atFirst
    }  // A call that fails before its headers has no messages.
    items += response.messages.map { .responseMessage(MessageForms($0)) }
    items.append(.responseEnd(ResponseEnd(error: response.error, trailers: response.trailers)))
    put(items, at: slot.firstResponseNode, of: inbound)
  }

  /// The index of the last node of the response that is emptied when an interceptor ends the call. What has passed the
  /// node at which the interceptor ends it stays, and so does what the interceptor made.
  private func lastFlushed(by slot: InterceptorSlot, _ tokenID: TokenID?) -> Int {
    if slot.isResponding { return slot.firstResponseNode.index }
    let lastIndex = slot.responseNode.index
    guard let tokenID, !isRequest(tokenID.stage), progress.responseFrontier < .interceptor(slot.position)
    else {
      return lastIndex
    }
    let index = tokenID.node.index
    // A discarded value takes those that follow it along.
    let hasGap = inbound.nodes[index...].dropFirst().contains {
      $0.position >= slot.position && !$0.buffer.isEmpty
    }
    return hasGap ? lastIndex : index
  }

  /// The part of the response that is kept when an interceptor ends the call: what it has forwarded or made, and what
  /// has not left its nodes yet.
  private struct Released {
    /// What is at the last of its two nodes, the start first.
    var atLast: [Item] = []
    var startsAtLast = false
    /// What is at the first of its two nodes, or at its only node.
    var startAtFirst: Item?
    var atFirst: [Item] = []
  }

  /// What an interceptor has forwarded of the response, and made, that has not left its nodes yet.
  ///
  /// - Parameter last: The index of the last node that is emptied.
  private func released(by slot: InterceptorSlot, before tokenID: TokenID?, flushingThrough last: Int)
    -> Released
  {
    var released = Released()
    var isWhole = true
    // Values at the second of its nodes come before those at the first.
    for node in slot.responseNodes.reversed() {
      var start: Item?
      var messages = node.beforeStart
      let isHere = tokenID?.node === node
      for item in node.buffer.released(before: isHere ? tokenID?.sequence : nil, isWhole: &isWhole) {
        switch item {
        case .responseMessage: messages.append(item)
        case .responseStart: start = item
        case .requestStart, .requestMessage, .requestEnd, .responseEnd, .metrics: break
        }
      }
      if node === slot.firstResponseNode {
        (released.startAtFirst, released.atFirst) = (start, messages)
      } else {
        (released.startsAtLast, released.atLast) = (start != nil, (start.map { [$0] } ?? []) + messages)
      }
      // A node between the two that is emptied leaves a gap.
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
      showEnd(from: 0, error)
      endReachedCaller(ResponseEnd(error: error), isCancelled: true)
    case .ended(let ended):
      progress.updateEnded { $0.isObserved = true }
      switch ended.report {
      case .passing(let metrics): giveUpReport(metrics)
      // Interceptors of an attempt may hold its metrics as well.
      case .awaited: progress.downstream.target?.inner?.cancel(error)
      // Commands that follow each other without end would come before it.
      case .received(let metrics):
        if case .ended(let observed) = progress.completion { sendReport(metrics, observed) }
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

  /// Discards what waits on a pipeline, up to and including a node; nil is the last.
  func flush(_ pipeline: Pipeline, through last: Int? = nil) {
    beforeStartCount -= pipeline.flush { last == nil || $0.index <= last ?? 0 }
  }

  /// Shows the interceptors from a position on that the call was canceled; they receive nothing more of it.
  private func showCanceled(from position: Int, _ error: RPCError) {
    showEnd(from: position, RPCError(.canceled, error.message, origin: error.origin))
  }

  /// Shows an end, last to first, to the interceptors from a position on that have received the start and no end.
  private func showEnd(from first: Int, _ error: RPCError) {
    let last = min(progress.reached, progress.endFrontier)
    progress.endFrontier = min(progress.endFrontier, first)
    for slot in slots.dropFirst(first) { slot.closeResponse() }
    guard first < last else { return }
    for slot in slots[first..<last].reversed() where slot.stages.contains(.responseEnd) {
      let token = ResponseToken<ResponseEnd>(sink, .shown(slot.responseNode, .responseEnd))
      // An observer cannot fail a call that has ended.
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

  /// Stops waiting for an interceptor that holds the metrics: those further out receive them without it.
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
    progress.hadMessage = hasMessage
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
    caller?.receive(.metrics(metrics))
    outbound.release()
    inbound.release()
    for slot in slots.reversed() { slot.release()?.finish(outcome) }
    caller?.finished(outcome)
    caller = nil
    unmade = []
    attemptPlan = nil
  }
}
