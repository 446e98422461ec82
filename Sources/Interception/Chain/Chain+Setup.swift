import RPCProtocols

// The setup of a call: its interceptors are made one after the other, each when the request's start reaches it.
// Interceptors after one that fails the call, or responds to it, are never made.
extension Chain {
  /// Takes the start through the interceptors that are not made yet; returns nil if it goes no further.
  func passUnmade(_ start: Item) -> Item? {
    guard !unmade.isEmpty else { return start }
    defer { layOut() }
    var start = start
    while let slot = makeNext() {
      guard pendingEndings == 0 else {
        // The factory ended the call, or tried to.
        queue(start, at: slot.requestNode)
        return nil
      }
      guard let next = pass(start, slot.requestNode, outbound) else { return nil }
      start = next
    }
    return pendingEndings == 0 ? start : nil
  }

  /// Makes the interceptors that the start has not reached.
  func makeTheRest() {
    guard !unmade.isEmpty else { return }
    while makeNext() != nil {}
    layOut()
  }

  /// Makes the next interceptor that takes part; returns nil if no other does, or the call ends here.
  private func makeNext() -> InterceptorSlot? {
    while pendingEndings == 0, let registration = unmade.popFirst() {
      let handle = InterceptorHandle(registration.id)
      let context = CallContext(name: registration.name, identity: handle, sink: sink, environment)
      do {
        guard let interceptor = try registration.factory.make(for: facts, context) else { continue }
        return add(
          InterceptorSlot(
            name: registration.name, handle: handle, interceptor: interceptor, position: slots.count))
      } catch {
        unmade = []
        end(
          .breakdown(below: slots.count, self.error(error, of: registration.name), flushing: nil))
      }
    }
    return nil
  }

  private func add(_ slot: InterceptorSlot) -> InterceptorSlot {
    slots.append(slot)
    sink.nodes += slot.nodes
    progress.endFrontier = slots.count
    progress.responseFrontier = .interceptor(slots.count)
    windowBytes = max(windowBytes, slot.requirements.windowBytes)
    if slot.requirements.replayLimitBytes > 0 {
      attemptPlan = AttemptPlan(
        name: slot.name, registrations: unmade, replayLimitBytes: slot.requirements.replayLimitBytes,
        hedging: slot.requirements.hedging)
      unmade = []
    }
    return slot
  }

  private func layOut() {
    outbound.layOutRequest(slots)
    inbound.layOutResponse(slots)
    report.layOutReport(slots)
  }

  /// What an interceptor threw, as the error of the call.
  func error(_ error: any Error, of name: String) -> RPCError {
    switch error {
    case let error as RPCError: error
    case let error as ConfigurationError:
      RPCError(
        .invalidArgument, error.key.map { "\($0): \(error.reason)" } ?? error.reason,
        origin: .configuration(name))
    default: RPCError(.internal, "\(error)", origin: .interceptor(name))
    }
  }
}
