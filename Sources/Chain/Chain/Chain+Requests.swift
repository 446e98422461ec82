import RPCurlProtocols

// What interceptors request through their context: further messages, timers, subrequests.
extension Chain {
  // MARK: - Further messages

  /// Puts a message after everything that an interceptor has received in a direction.
  func inject(_ message: Payload, by handle: InterceptorHandle, isRequest: Bool) {
    guard let slot = slot(in: handle) else { return }
    let item = Item.message(MessageValue(message), isRequest: isRequest)
    let node = isRequest ? slot.request : slot.response
    let pipeline = isRequest ? outbound : inbound
    guard canInject(by: handle, isRequest: isRequest) else {
      let end = isRequest ? "the half-close" : "the end"
      return log(.warning, slot, "ignored: a message injected after \(end)")
    }
    family.recordChange(by: slot)
    if let end = node.buffer.heldEnd {
      node.buffer.addInjected(item, before: end)
      markDirty(node, pipeline)
    } else {
      put([item], at: node, of: pipeline)
    }
  }

  /// Whether a message that an interceptor injects would pass on. One that is being made has forwarded nothing.
  func canInject(by handle: InterceptorHandle, isRequest: Bool) -> Bool {
    guard let slot = slot(in: handle) else { return true }
    let node = isRequest ? slot.request : slot.response
    return node.passage != .closed && !node.buffer.hasForwardedEnd
      && !(isRequest ? slot.hasEndedRequest || progress.downstream.isClosed : progress.hasEnded)
  }

  /// Starts the response at an interceptor that responds to the call.
  ///
  /// - Parameter isGivenStart: Whether the interceptor called this from the callback that delivers the request's start.
  func startResponse(_ start: ResponseStart, by handle: InterceptorHandle, isGivenStart: Bool) {
    guard let slot = slot(in: handle), !progress.hasEnded, slot.response.passage != .closed else {
      return
    }
    family.recordChange(by: slot)
    let node = slot.response
    if node.passage == .awaitingStart, let end = node.buffer.heldEnd {
      guard node.buffer.injectedCount(end) == 0 else { return }
      if node.buffer.awaitedStart != nil { return put([.responseStart(start)], at: node, of: inbound) }
      node.buffer.addInjected(.responseStart(start), before: end)
      return markDirty(node, inbound)
    }
    // An interceptor that has ended the call meanwhile does not hold its start any more.
    guard
      isGivenStart
        ? slot.request.passage == .awaitingStart
        : slot.request.buffer.headHold?.stage == .requestStart
    else { return }
    guard progress.responseFrontier >= .interceptor(slot.position) else {
      return log(.warning, slot, "ignored: the response has already started")
    }
    // The start counts as passed for this interceptor, so that its response does not bring headers again.
    progress.responseFrontier = .beyond(slot.position)
    slot.isResponding = true
    inbound.remove([.responseStart, .responseMessage], from: node)
    put([.responseStart(start)], at: node, of: inbound)
  }

  /// Half-closes the request for an interceptor, after what it has forwarded and made. The interceptor removes the values
  /// of the request that it receives afterwards.
  func endRequest(by handle: InterceptorHandle) {
    guard let slot = slot(in: handle), canInject(by: handle, isRequest: true) else { return }
    family.recordChange(by: slot)
    slot.hasEndedRequest = true
    put([.requestEnd], at: slot.request, of: outbound)
  }

  func slot(in handle: InterceptorHandle) -> InterceptorSlot? { slots.first { $0.handle === handle } }

  // MARK: - Timers

  func setTimer(
    _ timer: CallTimer, of handle: InterceptorHandle, after delay: Duration, _ body: @escaping () -> Void
  ) {
    guard let slot = slot(in: handle) else { return }
    slot.timers[timer] = environment.clock.schedule(after: delay) { [weak self, weak slot] in
      guard let self, let slot, slot.timers.removeValue(forKey: timer) != nil else { return }
      run(body)
    }
  }

  func cancelTimer(_ timer: CallTimer, of handle: InterceptorHandle) {
    guard let number = slot(in: handle)?.timers.removeValue(forKey: timer) else { return }
    environment.clock.cancel(number)
  }

  func cancelTimers() {
    if let holdTimer { environment.clock.cancel(holdTimer) }
    holdTimer = nil
    for slot in slots {
      for number in slot.timers.values { environment.clock.cancel(number) }
      slot.timers = [:]
    }
  }

  // MARK: - Subrequests

  func make(
    _ call: Subrequest, of handle: InterceptorHandle, _ completion: @escaping (SubrequestResponse) -> Void
  ) {
    guard let transport = environment.subrequests else {
      return completion(SubrequestResponse(end: ResponseEnd(error: Self.noSubrequestTransport)))
    }
    var call = call
    call.attributes = attributes
    let isLingering = call.lingering != nil
    transport.call(call, for: furthestFacts, excluding: excluded(by: handle.registration)) {
      [weak self] answer in
      // This call may have finished before.
      guard !isLingering else { return completion(answer) }
      self?.run { completion(answer) }
    }
  }

  func open(
    _ call: Subrequest, _ kind: CallKind, of handle: InterceptorHandle,
    _ receive: @escaping (SubrequestEvent) -> Void
  ) -> (any SubrequestStream)? {
    guard !progress.isFinished, let transport = environment.subrequests else { return nil }
    var call = call
    call.attributes = attributes
    return transport.open(call, kind, for: furthestFacts, excluding: excluded(by: handle.registration)) {
      [weak self] event in self?.run { receive(event) }
    }
  }

  /// The interceptors that a subrequest does not pass through: the one that makes it, and if this call is a subrequest
  /// itself, all that it passes through. So n interceptors make at most n² subrequests for one call.
  private func excluded(by caller: RegistrationID) -> Set<RegistrationID> {
    let isSubrequest = !environment.excluded.isEmpty
    return environment.excluded.union(isSubrequest ? admitted.map(\.id) : [caller])
  }

  /// The interceptors of the chain whose scopes contain the call.
  var admitted: [InterceptorRegistration] {
    registrations.filter { $0.scope.mismatch(method: facts.method, attributes) == nil }
  }

  func make(
    _ fetch: HTTPFetch, of handle: InterceptorHandle,
    _ completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void
  ) {
    guard let transport = environment.subrequests else {
      return completion(.failure(Self.noSubrequestTransport))
    }
    transport.fetch(fetch) { [weak self] result in
      self?.run { completion(result) }
    }
  }

  private static var noSubrequestTransport: RPCError {
    RPCError(.unimplemented, "this chain cannot make subrequests: it has no network", origin: .client)
  }

  /// Runs the function of a timer, or the completion of a subrequest, unless the call has finished.
  private func run(_ body: @escaping () -> Void) {
    let body = LoopBound(body)
    sink.post(.run { _ in body.value() })
    pump()
  }
}
