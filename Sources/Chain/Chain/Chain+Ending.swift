import RPCurlProtocols

/// How a call, or an attempt at it, ends before the server's end has passed the chain.
enum Ending: Sendable {
  /// An interceptor failed the call, with a token.
  case fail(TokenID, RPCError, trailers: Headers = Headers())
  /// An interceptor responds to the call.
  case respond(TokenID, LocalResponse)
  /// An interceptor ends the call with a response or an error, without a token.
  case respondWithout(InterceptorHandle, LocalResponse)
  /// A message could not be parsed or serialized, or the request breaks the rules. The interceptor at the position and
  /// those further out receive the error, after what they have of the response. nil: all that have not received the end,
  /// and what waits of the response is discarded.
  case breakdown(at: Int?, RPCError)
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
      guard let slot = slot(in: handle), slot.position <= progress.endFrontier, !progress.hasEnded,
        slot.response.passage != .closed, !slot.response.buffer.isLeaving
      else { return }
      conclude(
        at: slot.position, nil, response, because: response.error ?? responded(slot),
        hasHeaders: response.error == nil)
    case .breakdown(let position, let error):
      let count = position.map { $0 + 1 } ?? progress.endFrontier
      guard count <= progress.endFrontier, !progress.hasEnded else { return }
      let reason = canceled(error)
      closeRequest(because: reason)
      inbound.flush { position == nil || $0.position >= count }
      // What has reached the interceptor, and was not delivered, came after a response message that cannot be parsed.
      if let position, position >= 0 { discardUnreceived(at: inbound.nodes[position]) }
      showEnd(from: count, reason)
      progress.endFrontier = min(progress.endFrontier, count, progress.reached)
      advance(.responseEnd(ResponseEnd(error: error)), on: inbound, from: progress.endFrontier - 1)
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
    if response.error == nil { family.recordChange(by: slot) }
    // What it has forwarded and made, and has not left its node yet.
    let last = tokenID?.node === slot.response ? tokenID?.sequence : nil
    var items = slot.response.buffer.released(before: last).filter { !$0.isEnd }
    let reason = canceled(reason)
    closeRequest(because: reason)
    inbound.flush { $0.position >= position }
    showEnd(from: position + 1, reason)
    progress.endFrontier = min(progress.endFrontier, position)
    slot.closeResponse()
    if items.first?.isStart != true, progress.responseFrontier >= .interceptor(position) {
      let start = ResponseStart(httpStatus: response.httpStatus, headers: response.headers)
      // A call that fails before its headers has no messages.
      items = hasHeaders ? [.responseStart(start)] + items : []
    }
    // As from a server: a single response comes with the status ok only.
    if response.error == nil || facts.kind.serverStreams {
      items += response.messages.map { .responseMessage(MessageValue($0)) }
    }
    items.append(.responseEnd(ResponseEnd(error: response.error, trailers: response.trailers)))
    put(items, at: slot.response, of: inbound)
  }

  /// Discards what an interceptor has not received of the response.
  private func discardUnreceived(at node: PipelineNode) {
    while let item = node.unreceived.popFirst() { inbound.removeWaiting(bytes: item.sizeBytes) }
  }

  // MARK: - Cancelling

  private func cancelNow(_ error: RPCError) {
    switch progress.completion {
    case .pending:
      guard !progress.downstream.isUnstarted else { return finish(CallMetrics(), ResponseEnd(error: error)) }
      let error = namingHolder(error)
      closeRequest(because: error)
      inbound.flush()
      showEnd(from: 0, error)
      endReachedCaller(ResponseEnd(error: error), isCancelled: true)
    case .ended(let ended):
      progress.updateEnded { $0.isObserved = true }
      switch ended.report {
      case .passing(let metrics): giveUpReport(metrics)
      // Interceptors of an attempt may hold its metrics as well.
      case .awaited: progress.downstream.attempts?.cancel(error)
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
    outbound.flush()
    if case .open(let target) = before { target.transport.cancel(error) }
  }

  /// What interceptors further in than the one that ends the call receive, and the attempts and the transport.
  private func canceled(_ error: RPCError) -> RPCError {
    RPCError(.canceled, error.message, origin: error.origin)
  }

  /// Shows an end, last to first, to the interceptors from a position on that have received the start and no end.
  private func showEnd(from first: Int, _ error: RPCError) {
    let last = min(progress.reached, progress.endFrontier)
    progress.endFrontier = min(progress.endFrontier, first)
    for slot in slots.dropFirst(first) { slot.closeResponse() }
    guard first < last else { return }
    for slot in slots[first..<last].reversed() where slot.response.stages.contains(.responseEnd) {
      let token = ResponseToken<ResponseEnd>(sink, .shown(slot.response, .responseEnd))
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
      return advance(.metrics(metrics), on: report, from: report.first)
    }
    for slot in slots[..<progress.reached].reversed() where slot.report.stages.contains(.metrics) {
      try? slot.interceptor?.metrics(metrics, ReportToken(sink, .shown(slot.report, .metrics)))
    }
    finish(metrics)
  }

  /// Stops waiting for an interceptor that holds the metrics: those further out receive them without it.
  private func giveUpReport(_ metrics: CallMetrics) {
    guard let position = report.nodes.lastIndex(where: { !$0.buffer.isEmpty }) else { return finish(metrics) }
    let holder = slots[position]
    log(.warning, holder, "held the metrics until the call was given up")
    report.flush()
    for node in report.nodes[..<position].reversed() where node.stages.contains(.metrics) {
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
    outbound.flush()
    inbound.flush()
    report.flush()
    cancelTimers()
    sink.close()
    agenda.removeAll()
    flow.request.waiters = []
    flow.response.waiters = []
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
