import RPCurlProtocols

@testable import RPCurlChain

// What an interceptor requests of its call outside of a callback.
extension ScriptedInterceptor {
  /// Removes what follows the interceptor's own half-close.
  func remove(
    _ action: CallDescription.Action, _ verdicts: Verdicts, _ isRequest: Bool, _ number: Int
  ) {
    let perform = { [unowned self] in
      decided(isRequest, number)
      verdicts.remove?()
    }
    switch action.timing {
    case .now, .thread: perform()
    case .outside: held.append(Held(isRequest: isRequest, number: number, due: nil, perform: perform))
    case .later(let count):
      held.append(Held(isRequest: isRequest, number: number, due: number + count, perform: perform))
    case .timer(let delay): context.after(.milliseconds(delay), perform)
    }
  }

  func endRequest(_ end: CallDescription.Action.RequestEnd?) {
    guard let end, requestEndCount == nil else { return }
    switch end {
    case .inCallback: endRequestNow()
    case .timer(let delay):
      context.after(.milliseconds(delay)) { [unowned self] in
        let isOver = isAfterEnd(isRequest: true) ?? true
        guard !isOver, !requestLines.contains("half-close") else { return }
        endRequestNow()
      }
    }
  }

  private func endRequestNow() {
    requestEndCount = requestLines.count
    // In the order of the commands: those of a second thread may come before.
    context.post { [unowned self] in isRequestEnded = nil }
    context.endRequest()
    context.post { [unowned self] in isRequestEnded = true }
  }

  // MARK: - Injections

  /// Injects messages through the context in the callback with a value.
  func injectOwn(_ messages: [MessageModel], isRequest: Bool, isEnd: Bool) {
    // Messages before the end precede it at once, and others when the callback has returned.
    let isAtOnce = isEnd || messages.isEmpty
    if !isAtOnce { context.post { [unowned self] in isInjectingOwn = true } }
    for message in messages { inject(message, isRequest: isRequest) }
    let note = { [unowned self] in
      isInjectingOwn = false
      if isRequest { ownCount.request = requestLines.count } else { ownCount.response = responseLines.count }
    }
    if isAtOnce { note() } else { context.post(note) }
  }

  /// Injects a message outside of the callback, and records what the interceptor has received by then.
  func inject(_ injection: CallDescription.Action.DelayedInjection) {
    guard let delay = injection.delay else {
      nonisolated(unsafe) let this = self
      return run.onThread { [handle = context.handle, message = run.payload(injection.message)] in
        handle.post { this.note(injection) }
        if injection.isRequest { handle.inject(request: message) } else { handle.inject(response: message) }
        handle.post { this.verify(injection) }
      }
    }
    context.after(.milliseconds(delay)) { [unowned self] in injectNow(injection) }
  }

  func injectNow(_ injection: CallDescription.Action.DelayedInjection) {
    // The chain runs all one after the other, unless a second thread gives commands between them.
    context.post { [unowned self] in note(injection) }
    inject(injection.message, isRequest: injection.isRequest)
    context.post { [unowned self] in verify(injection) }
  }

  private func note(_ injection: CallDescription.Action.DelayedInjection) {
    let isAfterEnd = isAfterEnd(isRequest: injection.isRequest)
    if isAfterEnd == nil || isInjectingOwn { run.noteAmbiguity() }
    let count = injection.isRequest ? requestLines.count : responseLines.count
    injections.append(
      CrossInjection(
        isRequest: injection.isRequest, message: injection.message, sourceCount: 1000, count: count,
        isAfterEnd: isAfterEnd,
        isBeforeOwn: count != (injection.isRequest ? ownCount.request : ownCount.response)))
  }

  /// Checks that nothing has happened while a message was injected.
  private func verify(_ injection: CallDescription.Action.DelayedInjection) {
    let before = injections.last
    note(injection)
    let after = injections.removeLast()
    guard before?.message == after.message, before?.count == after.count,
      before?.isAfterEnd == after.isAfterEnd, before?.isBeforeOwn == after.isBeforeOwn
    else { return run.noteAmbiguity() }
  }

  /// Whether what the interceptor injects into a direction goes no further; nil if it is not known.
  func isAfterEnd(isRequest: Bool) -> Bool? {
    if isOver || (isRequest && hasEnd) { return true }
    if isRequest, isRequestEnded != false { return isRequestEnded }
    return isRequest ? isEndDecided.request : isEndDecided.response
  }

  func noteEnd(isRequest: Bool, _ isDecided: Bool?) {
    if isRequest { isEndDecided.request = isDecided } else { isEndDecided.response = isDecided }
  }

  /// Sets it in the order of the verdicts.
  func setEndDecided(isRequest: Bool, _ isDecided: Bool?) {
    guard isOutside else { return noteEnd(isRequest: isRequest, isDecided) }
    nonisolated(unsafe) let this = self
    context.handle.post { this.noteEnd(isRequest: isRequest, isDecided) }
  }
}
