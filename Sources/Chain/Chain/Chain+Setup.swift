import RPCurlProtocols

// The setup of a call: its interceptors are made one after the other, each when the request's start reaches it.
// Interceptors after one that fails the call, or responds to it, are never made.
extension Chain {
  /// Takes the start through the interceptors that are not made yet; returns nil if it goes no further.
  func passUnmade(_ start: Item) -> Item? {
    var start = start
    while case .requestStart(let given) = start, let slot = makeNext(given) {
      guard agenda.endingCount == 0 else {
        // The factory ended the call, or tried to.
        wait(start, at: slot.request, outbound)
        return nil
      }
      guard let next = pass(start, slot.request, outbound) else { return nil }
      start = next
    }
    return agenda.endingCount == 0 ? start : nil
  }

  /// Makes the next interceptor that takes part; returns nil if no other does, or the call ends here.
  ///
  /// - Parameter start: The request's start as it reaches the interceptor.
  private func makeNext(_ start: RequestStart) -> InterceptorSlot? {
    furthestFacts.start = start
    while agenda.endingCount == 0, !unmade.isEmpty {
      let number = unmade.startIndex
      let registration = unmade.removeFirst()
      guard family.admits(registration, furthestFacts.method, attributes) else { continue }
      let handle = InterceptorHandle(registration.id)
      let context = CallContext(name: registration.name, identity: handle, sink: sink, environment)
      do {
        guard let interceptor = try registration.factory.make(for: furthestFacts, context) else { continue }
        try Self.check(interceptor.requirements, registration.name)
        return add(
          InterceptorSlot(
            name: registration.name, handle: handle, number: number, interceptor: interceptor,
            position: slots.count))
      } catch {
        unmade = []
        end(.breakdown(at: slots.count - 1, self.error(error, of: registration.name)))
      }
    }
    return nil
  }

  private static func check(
    _ requirements: InterceptorRequirements, _ name: String
  ) throws(ConfigurationError) {
    guard requirements.isSerial, requirements.collects else { return }
    throw ConfigurationError(
      interceptor: name, key: nil,
      reason: "it takes one value at a time, so its verdicts cannot wait for later values")
  }

  private func add(_ slot: InterceptorSlot) -> InterceptorSlot {
    slots.append(slot)
    sink.nodes += slot.nodes
    outbound.add(slot.request)
    inbound.add(slot.response)
    report.add(slot.report)
    progress.endFrontier = slots.count
    progress.responseFrontier = .interceptor(slots.count)
    flow.windowBytes = max(flow.windowBytes, slot.requirements.windowBytes)
    if slot.requirements.replayLimitBytes > 0 {
      attemptPlan = AttemptPlan(
        name: slot.name, registrations: unmade, replayLimitBytes: slot.requirements.replayLimitBytes,
        hedging: slot.requirements.hedging)
      unmade = []
    }
    return slot
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
