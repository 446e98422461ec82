import RPCurlProtobuf
import RPCurlProtocols

// What tokens and contexts call. `[any thread]`
extension TokenSink {
  /// Forwards a message.
  func proceed(_ tokenID: TokenID, _ message: MessageValue) {
    if isDelivering(tokenID), immediateVerdict == .nothing {
      record(message)
    } else {
      settle(tokenID, .proceedMessage(message))
    }
  }

  /// Takes the verdict on a value.
  func settle(_ tokenID: TokenID, _ verdict: Verdict) {
    if isInside, let chain {
      chain.settleHere(tokenID, verdict)
    } else {
      post(.verdict(tokenID, verdict))
    }
  }

  /// Puts a message after what an interceptor has received so far; if it has received nothing, the message is the
  /// first.
  func inject(_ message: Payload, by handle: InterceptorHandle, isRequest: Bool) {
    if isDelivering(isRequest ? .requestEnd : .responseEnd, handle) {
      injectedBefore.append(.message(MessageValue(message), isRequest: isRequest))
    } else {
      post(.inject(handle, isRequest: isRequest, message))
    }
  }

  /// Ends the call for an interceptor that uses no token, after what it has forwarded and made.
  func respond(_ response: LocalResponse, by handle: InterceptorHandle) {
    if isInside, let chain {
      // At once, so that a verdict that follows comes after it.
      chain.end(.respondWithout(handle, response))
    } else {
      post(.run { chain in chain.perform(.respondWithout(handle, response)) })
    }
  }

  /// Whether an interceptor is called with a value of this stage now, and has given no verdict on it.
  func isDelivering(_ stage: Stage, _ handle: InterceptorHandle) -> Bool {
    guard isInside, immediateVerdict == .nothing, let chain, let tokenID = chain.delivery,
      tokenID.stage == stage,
      tokenID.sequence == deliveredSequence
    else { return false }
    return chain.slot(of: tokenID).handle === handle
  }

  /// Puts a message before a value.
  func put(_ message: Payload, before tokenID: TokenID) {
    if isInside, let chain {
      chain.putHere(message, before: tokenID)
    } else {
      post(.injected(tokenID, message))
    }
  }
}

// How verdicts take effect.
extension Chain {
  /// Records a verdict; the pump acts on it when the callback has returned.
  func settleHere(_ tokenID: TokenID, _ verdict: Verdict) {
    guard isLive(tokenID) else { return }
    if sink.isDelivering(tokenID) { return sink.record(recordEnding(verdict, tokenID)) }
    let node = tokenID.node
    guard let item = node.buffer.held(tokenID.sequence) else { return }
    let injectedCount = node.buffer.injectedCount(tokenID.sequence)
    let isLate = agenda.endingCount > 0 && !isReadingVerdict
    let next = apply(verdict, to: item, tokenID, injectedCount: injectedCount)
    let state = next.map(ReorderBuffer.State.ready) ?? (verdict.isEnding ? .ending : .dropped)
    node.buffer.settle(tokenID.sequence, state, isLate: isLate)
    let freed = node.buffer.free(tokenID.sequence)
    let pipeline = pipeline(of: tokenID.stage)
    pipeline.removeWaiting(freed.count, bytes: freed.bytes)
    markDirty(node, pipeline)
  }

  func putHere(_ message: Payload, before tokenID: TokenID) {
    guard isLive(tokenID) else { return }
    family.recordChange(by: slot(of: tokenID))
    let item = Item.message(MessageValue(message), isRequest: isRequest(tokenID.stage))
    if sink.isDelivering(tokenID) { return sink.injectedBefore.append(item) }
    let node = tokenID.node
    node.buffer.addInjected(item, before: tokenID.sequence)
    markDirty(node, pipeline(of: tokenID.stage))
  }

  /// Queues the ending that a verdict requests, at once, so that the first one counts; returns the verdict to act on.
  private func recordEnding(_ verdict: Verdict, _ tokenID: TokenID) -> Verdict {
    switch verdict {
    case .fail(let error, let trailers): end(.fail(tokenID, error, trailers: trailers))
    case .respond(let response): end(.respond(tokenID, response))
    case .retry(let delay, let change):
      guard admitsRetry(tokenID, after: delay) else { return .asItIs }
      end(.retry(tokenID, after: delay, change))
    case .proceed, .proceedMessage, .asItIs, .drop, .taken, .abandoned, .ended: return verdict
    }
    return .ended
  }

  func isLive(_ tokenID: TokenID) -> Bool { !tokenID.isVoid && !progress.isFinished }

  /// The value that goes on after a verdict; nil if none does.
  func apply(_ verdict: Verdict, to item: Item, _ tokenID: TokenID, injectedCount: Int) -> Item? {
    if family.recordsChanges, verdict.changes(item) { family.recordChange(by: slot(of: tokenID)) }
    switch verdict {
    case .proceedMessage(let new):
      return item.message.flatMap { replace($0, by: new, tokenID) }.map {
        .message($0, isRequest: isRequest(tokenID.stage))
      }
    case .proceed(.requestStart(let start)):
      return withMethod(start, of: tokenID).map { .requestStart(withCodec($0, of: tokenID)) }
    case .proceed(let new):
      return new
    case .drop:
      if !isStream(pipeline(of: tokenID.stage)), injectedCount == 0 {
        let side = isRequest(tokenID.stage) ? "request" : "response"
        fail(tokenID, "dropped the only message of a unary \(side)")
      }
    case .retry:
      if case .asItIs = recordEnding(verdict, tokenID) { return item }
    case .taken:
      return nil
    case .asItIs:
      return item
    case .abandoned:
      // After the end the call cannot fail any more.
      if tokenID.stage == .metrics { return item }
      fail(tokenID, "dropped the call at \(tokenID.stage)")
    case .fail, .respond, .ended:
      _ = recordEnding(verdict, tokenID)
    }
    return nil
  }

  /// The message that goes on after an interceptor forwarded `new` in place of `old`; nil if it may not change messages.
  private func replace(_ old: MessageValue, by new: MessageValue, _ tokenID: TokenID) -> MessageValue? {
    if new.sequence == tokenID.sequence, !new.isChanged { return old }
    guard tokenID.node.access.mayChange else {
      fail(tokenID, "forwarded another message at \(tokenID.stage), and declares that it changes none")
      return nil
    }
    family.recordChange(by: slot(of: tokenID))
    var new = new
    new.recordSetter(Int32(slot(of: tokenID).number), inPlaceOf: old)
    return new
  }

  /// A start from an interceptor, which may have another method of the same kind and types; nil if it has any other, which
  /// fails the call.
  func withMethod(_ start: RequestStart, of tokenID: TokenID) -> RequestStart? {
    guard start.method != furthestFacts.method else { return start }
    do throws(InvalidValue) {
      try furthestFacts.change(method: start.method)
      return start
    } catch {
      let name = slot(of: tokenID).name
      let words = "the method cannot be changed: \(error.reason)"
      end(.fail(tokenID, RPCError(.invalidArgument, words, origin: .interceptor(name))))
      return nil
    }
  }

  /// A start from an interceptor, with the codec of the call: the caller has already encoded its messages.
  func withCodec(_ start: RequestStart, of tokenID: TokenID) -> RequestStart {
    guard start.codec != facts.codec else { return start }
    log(.warning, slot(of: tokenID), "the codec of a call cannot be changed")
    var start = start
    start.codec = facts.codec
    return start
  }

  private func fail(_ tokenID: TokenID, _ what: String) {
    let name = slot(of: tokenID).name
    end(.fail(tokenID, RPCError(.internal, "\(name) \(what)", origin: .interceptor(name))))
  }

  func slot(of tokenID: TokenID) -> InterceptorSlot { slots[tokenID.node.position] }

  func isRequest(_ stage: Stage) -> Bool { Stages.request.contains(stage) }

  private func pipeline(of stage: Stage) -> Pipeline {
    stage == .metrics ? report : isRequest(stage) ? outbound : inbound
  }
}
