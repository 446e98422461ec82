import Protobuf
import RPCProtocols

// What tokens and contexts call. `[any thread]`
extension TokenSink {
  /// Forwards a serialized message.
  func proceed(_ tokenID: TokenID, _ bytes: [UInt8]) {
    if isDelivering(tokenID), immediateVerdict == .nothing {
      record(bytes)
    } else {
      settle(tokenID, .proceedMessage(MessageForms(bytes: bytes)))
    }
  }

  /// Forwards a typed message.
  func proceed(_ tokenID: TokenID, _ message: Message) {
    if isDelivering(tokenID), immediateVerdict == .nothing {
      record(message)
    } else {
      settle(tokenID, .proceedMessage(MessageForms(typed: message)))
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
      injectedBefore.append(.message(MessageForms(message), isRequest: isRequest))
    } else {
      post(.inject(handle, isRequest: isRequest, message))
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
    let isLate = pendingEndings > 0 && !isReadingVerdict
    // A value of a later stage was delivered early.
    let goesOn =
      node.stages.contains(tokenID.stage) ? ReorderBuffer.State.ready : ReorderBuffer.State.deliveredEarly
    let next = apply(verdict, to: item, tokenID, injectedCount: injectedCount)
    let state = next.map(goesOn) ?? (verdict.isEnding ? .ending : .dropped)
    node.buffer.settle(tokenID.sequence, state, isLate: isLate)
    let freed = node.buffer.free(tokenID.sequence)
    let pipeline = pipeline(of: tokenID.stage)
    pipeline.waitingCount -= freed.count
    pipeline.waitingBytes -= freed.bytes
    markDirty(node, pipeline)
  }

  func putHere(_ message: Payload, before tokenID: TokenID) {
    guard isLive(tokenID) else { return }
    let item = Item.message(MessageForms(message), isRequest: isRequest(tokenID.stage))
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
    switch verdict {
    case .proceedMessage(let new):
      guard let old = item.message else { return nil }
      return .message(old.replaced(by: new), isRequest: item.isRequest)
    case .proceed(.requestStart(let start)):
      return .requestStart(withCodec(start, of: tokenID))
    case .proceed(let new):
      return new
    case .drop:
      if isOnlyMessage(tokenID.stage), injectedCount == 0 {
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

  /// A start from an interceptor, with the codec of the call: the caller has already encoded its messages.
  func withCodec(_ start: RequestStart, of tokenID: TokenID) -> RequestStart {
    guard start.codec != facts.codec else { return start }
    environment.log(
      LogRecord(
        level: .warning, source: slot(of: tokenID).name, text: "the codec of a call cannot be changed"))
    var start = start
    start.codec = facts.codec
    return start
  }

  private func fail(_ tokenID: TokenID, _ what: String) {
    let name = slot(of: tokenID).name
    end(.fail(tokenID, RPCError(.internal, "\(name) \(what)", origin: .interceptor(name))))
  }

  func slot(of tokenID: TokenID) -> InterceptorSlot { slots[tokenID.node.position] }

  private func isOnlyMessage(_ stage: Stage) -> Bool {
    isRequest(stage) ? !facts.kind.clientStreams : !facts.kind.serverStreams
  }

  func isRequest(_ stage: Stage) -> Bool { Stages.request.contains(stage) }

  private func pipeline(of stage: Stage) -> Pipeline {
    stage == .metrics ? report : isRequest(stage) ? outbound : inbound
  }
}
