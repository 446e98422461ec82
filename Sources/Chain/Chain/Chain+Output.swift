import RPCurlBase
import RPCurlProtocols

// What leaves the chain: to the transport below, and to the caller above.
extension Chain {
  /// Gives a value that has passed the last node of its pipeline to the transport or to the caller.
  func leave(_ item: Item) {
    switch item {
    case .requestStart: sendStart(item)
    case .requestEnd: sendEnd()
    case .requestMessage(let value): giveTransport(value)
    case .responseMessage(let value): giveCaller(value)
    case .responseStart(let start): giveCaller(start)
    case .responseEnd(let end): endReachedCaller(end)
    case .metrics(let metrics): finish(metrics)
    }
  }

  // MARK: - To the transport

  /// Takes the request's start through the interceptors that are not made yet, and to the transport.
  func sendStart(_ item: Item) {
    guard case .requestStart(let start)? = passUnmade(item), case .unopened(let make) = progress.downstream
    else { return }
    let target: Downstream.Target =
      if let attemptPlan {
        .attempts(Attempts(of: self, attemptPlan, transport: make))
      } else {
        .transport(make(self))
      }
    progress.downstream = .open(target)
    target.transport.start(start)
    if flow.response.isPaused { target.transport.responseWanted(false) }
  }

  private func giveTransport(_ value: MessageValue) {
    var value = value
    guard let target = openTarget, serialize(&value, at: nil) else { return }
    progress.sentCount += 1
    if !facts.kind.clientStreams, progress.sentCount > 1 { return failCount("put a second message into") }
    target.send(value)
  }

  private func sendEnd() {
    guard let target = openTarget else { return }
    if !facts.kind.clientStreams, progress.sentCount == 0 { return failCount("took the only message out of") }
    target.transport.closeRequest()
  }

  /// What takes the request: a server, or the record from which the next attempt is made.
  private var openTarget: Downstream.Target? {
    switch progress.downstream {
    case .open(let target): target
    case .ended(let target): mayStillRetry ? target : nil
    case .unstarted, .unopened, .closed: nil
    }
  }

  private func failCount(_ what: String) {
    let error = RPCError(
      .internal, "interceptors \(what) a request that has exactly one", origin: .client)
    end(.breakdown(at: nil, error))
  }

  /// Fails a call that the caller half-closes without its only message. Interceptors may wait for that message.
  func failWithoutMessage() {
    let error = RPCError(
      .invalidArgument, "the request has no message, but the method requires exactly one", origin: .client)
    end(.breakdown(at: nil, error))
  }

  // MARK: - To the caller

  private func giveCaller(_ start: ResponseStart) {
    progress.responseFrontier = .caller
    caller?.receive(.responseStart(start))
  }

  private func giveCaller(_ value: MessageValue) {
    // The headers may have been discarded while an interceptor held them.
    if progress.responseFrontier != .caller { giveCaller(ResponseStart()) }
    caller?.receive(value)
  }

  func endReachedCaller(_ end: ResponseEnd, isCancelled: Bool = false) {
    guard !progress.hasEnded else { return }
    let total = progress.begin.map { environment.clock.now - $0 } ?? .zero
    progress.completion = .ended(EndedCall(end: end, total: total, isObserved: isCancelled))
    let target = progress.downstream.target
    progress.downstream = .closed(target)
    outbound.flush()
    caller?.receive(.responseEnd(end))
    if let target { target.transport.measure() } else { receive(.metrics(CallMetrics())) }
  }
}
