import RPCProtocols

// What interceptors ask for beside their tokens: messages, timers, calls of their own.
extension Chain {
  // MARK: - Further messages

  /// Puts a message after everything that an interceptor has been given in a direction.
  func inject(_ message: Payload, by seat: Seat, isRequest: Bool) {
    // Behind a start that is held a message belongs where all are made.
    if isRequest { makeTheRest() }
    guard let link = link(in: seat) else { return }
    let item = Item.message(Carried(message))
    // An answer passes both passes of those further out.
    let station =
      switch (isRequest, link.isAnswering) {
      case (true, _): link.outboundHome.hasClosed ? link.requestTail : link.outboundHome
      case (false, true): link.responseHead
      case (false, false): link.inboundHome
      }
    let path = isRequest ? outbound : inbound
    let isOver =
      station.hasClosed
      || (isRequest ? progress.isRequestClosed : progress.end != nil)
    guard !isOver else {
      let end = isRequest ? "the half-close" : "the end"
      return environment.log(
        LogRecord(level: .warning, source: link.name, text: "a message injected after \(end) goes nowhere"))
    }
    if !station.hasStarted, station.lane.isEmpty {
      // Headers come before messages. A request's start may be held further out still.
      station.early.append(item)
      earlyCount += 1
    } else if let end = station.lane.trailingEnd {
      station.lane.addFront(item, before: end)
      markDirty(station, path)
    } else {
      put([item], at: station, of: path)
    }
  }

  /// Starts the response at an interceptor that answers the call.
  ///
  /// - Parameter isGivenStart: Whether it did so while it was given the request's start, before it released that.
  func startResponse(_ start: ResponseStart, by seat: Seat, isGivenStart: Bool) {
    // Who has ended the call meanwhile holds its start no more.
    guard let link = link(in: seat), progress.end == nil, !link.inboundHome.hasClosed,
      isGivenStart ? !link.outboundHome.hasStarted : link.outboundHome.lane.headHold?.stage == .requestStart
    else { return }
    let position = link.inboundHome.position
    guard progress.responseStartFrontier >= position else {
      return environment.log(
        LogRecord(level: .warning, source: link.name, text: "a response that is started again goes nowhere"))
    }
    // It counts as gone by for this interceptor, so that its answer does not give headers again.
    progress.responseStartFrontier = position - 1
    link.isAnswering = true
    put([.responseStart(start)], at: link.responseHead, of: inbound)
  }

  /// Fails the call in the name of an interceptor that holds no token.
  func fail(_ error: RPCError, by seat: Seat) {
    end(.failWithout(seat, error))
  }

  func link(in seat: Seat) -> Link? { links.first { $0.seat === seat } }

  // MARK: - Timers

  func setTimer(_ timer: CallTimer, of seat: Seat, after delay: Duration, _ body: @escaping () -> Void) {
    guard let link = link(in: seat) else { return }
    link.timers[timer] = environment.clock.schedule(after: delay) { [weak self, weak link] in
      guard let self, let link, link.timers.removeValue(forKey: timer) != nil else { return }
      nonisolated(unsafe) let body = body
      mailbox.post(.run { _ in body() })
      pump()
    }
  }

  func cancelTimer(_ timer: CallTimer, of seat: Seat) {
    guard let number = link(in: seat)?.timers.removeValue(forKey: timer) else { return }
    environment.clock.cancel(number)
  }

  func cancelTimers() {
    if holdTimer != 0 { environment.clock.cancel(holdTimer) }
    holdTimer = 0
    for link in links {
      for number in link.timers.values { environment.clock.cancel(number) }
      link.timers = [:]
    }
  }

  // MARK: - Calls of their own

  func make(_ call: OwnCall, of seat: Seat, _ completion: @escaping (OwnAnswer) -> Void) {
    guard let network = environment.network else {
      return completion(OwnAnswer(end: ResponseEnd(error: Self.noNetwork)))
    }
    network.call(call, for: facts, excluding: excluded(by: seat.registration)) { [weak self] answer in
      self?.run { completion(answer) }
    }
  }

  /// The interceptors that a call made from within does not pass through: the one that makes it, and where this call is
  /// such a call itself, all that it passes through. So calls never multiply beyond the square of the interceptors.
  private func excluded(by caller: RegistrationID) -> Set<RegistrationID> {
    let isOwnCall = !environment.excluded.isEmpty
    return environment.excluded.union(isOwnCall ? registrations.map(\.id) : [caller])
  }

  func make(_ fetch: Fetch, of seat: Seat, _ completion: @escaping (Result<Fetched, RPCError>) -> Void) {
    guard let network = environment.network else { return completion(.failure(Self.noNetwork)) }
    network.fetch(fetch) { [weak self] result in
      self?.run { completion(result) }
    }
  }

  private static var noNetwork: RPCError {
    RPCError(.unimplemented, "there is no network for calls of interceptors' own", origin: .client)
  }

  /// Runs what an interceptor waits for, unless the call has finished.
  private func run(_ body: @escaping () -> Void) {
    nonisolated(unsafe) let body = body
    mailbox.post(.run { _ in body() })
    pump()
  }
}
