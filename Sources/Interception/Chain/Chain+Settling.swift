import Protobuf
import RPCProtocols

// What tokens say. `[any thread]`
extension TokenSink {
  /// Hears that a serialized message goes on.
  func proceed(_ ticket: Ticket, _ bytes: [UInt8]) {
    if isDelivering(ticket), said == .nothing {
      say(bytes)
    } else {
      settle(ticket, .proceed(.message(Carried(bytes: bytes))))
    }
  }

  /// Hears that a typed message goes on.
  func proceed(_ ticket: Ticket, _ message: Message) {
    if isDelivering(ticket), said == .nothing {
      say(message)
    } else {
      settle(ticket, .proceed(.message(Carried(typed: message))))
    }
  }

  /// Hears what an interceptor says about a value.
  func settle(_ ticket: Ticket, _ verdict: Verdict) {
    if isInside, let chain {
      chain.settleHere(ticket, verdict)
    } else {
      post(.verdict(ticket, verdict))
    }
  }

  /// Puts a message after what an interceptor was given so far; if it was given nothing, the message is the first.
  func inject(_ message: Payload, by handle: InterceptorHandle, isRequest: Bool) {
    if isGiven(isRequest ? .requestEnd : .responseEnd, handle) {
      injectedBefore.append(.message(Carried(message)))
    } else {
      post(.inject(handle, isRequest: isRequest, message))
    }
  }

  /// Whether an interceptor is being given a value of this stage, here and now, and has not said what becomes of it.
  func isGiven(_ stage: Stage, _ handle: InterceptorHandle) -> Bool {
    guard isInside, said == .nothing, let chain, let ticket = chain.delivery, ticket.stage == stage,
      ticket.sequence == deliveredSequence
    else { return false }
    return chain.slot(of: ticket).handle === handle
  }

  /// Puts a message in front of a value.
  func put(_ message: Payload, before ticket: Ticket) {
    if isInside, let chain {
      chain.putHere(message, before: ticket)
    } else {
      post(.injected(ticket, message))
    }
  }
}

// What becomes of a value when its token is used.
extension Chain {
  /// Notes the verdict; the pump acts on it when the callback has returned.
  func settleHere(_ ticket: Ticket, _ verdict: Verdict) {
    guard isLive(ticket) else { return }
    if sink.isDelivering(ticket) { return sink.say(noted(verdict, ticket)) }
    let node = ticket.node.takeUnretainedValue()
    guard let item = node.buffer.held(ticket.sequence) else { return }
    let injectedCount = node.buffer.injectedCount(ticket.sequence)
    let isLate = pendingEndings > 0 && !isReadingVerdict
    // One of a later stage was given ahead.
    let goesOn = node.stages.contains(ticket.stage) ? ReorderBuffer.State.ready : ReorderBuffer.State.given
    let next = apply(verdict, to: item, ticket, injectedCount: injectedCount)
    let state = next.map(goesOn) ?? (verdict.isEnding ? .ending : .dropped)
    node.buffer.settle(ticket.sequence, state, isLate: isLate)
    markDirty(node, pipeline(of: ticket.stage))
  }

  func putHere(_ message: Payload, before ticket: Ticket) {
    guard isLive(ticket) else { return }
    let item = Item.message(Carried(message))
    if sink.isDelivering(ticket) { return sink.injectedBefore.append(item) }
    let node = ticket.node.takeUnretainedValue()
    node.buffer.addInjected(item, before: ticket.sequence)
    markDirty(node, pipeline(of: ticket.stage))
  }

  /// Notes at once what ends the call, so that the first to end it wins.
  private func noted(_ verdict: Verdict, _ ticket: Ticket) -> Verdict {
    switch verdict {
    case .fail(let error): end(.fail(ticket, error))
    case .respond(let response): end(.respond(ticket, response))
    case .retry(let delay, let headers):
      guard admitsRetry(ticket) else { return .asItIs }
      end(.retry(ticket, after: delay, headers))
    case .proceed, .asItIs, .drop, .taken, .abandoned, .ended: return verdict
    }
    return .ended
  }

  func isLive(_ ticket: Ticket) -> Bool { !ticket.isVoid && !progress.isFinished }

  /// The value that goes on after a verdict; `nil` when none does.
  func apply(_ verdict: Verdict, to item: Item, _ ticket: Ticket, injectedCount: Int) -> Item? {
    switch verdict {
    case .proceed(.message(let new)):
      guard case .message(let old) = item else { return nil }
      return .message(old.replaced(by: new))
    case .proceed(.requestStart(var start)) where start.codec != facts.codec:
      // The caller has encoded its messages already.
      start.codec = facts.codec
      environment.log(
        LogRecord(
          level: .warning, source: slot(of: ticket).name, text: "the codec of a call cannot be changed"))
      return .requestStart(start)
    case .proceed(let new):
      return new
    case .drop:
      if isOnlyMessage(ticket.stage), injectedCount == 0 {
        let side = isRequest(ticket.stage) ? "request" : "response"
        fail(ticket, "dropped the only message of a unary \(side)")
      }
    case .retry:
      if case .asItIs = noted(verdict, ticket) { return item }
    case .taken:
      return nil
    case .asItIs:
      return item
    case .abandoned:
      // After the end there is no call to fail.
      if ticket.stage == .metrics { return item }
      fail(ticket, "dropped the call at \(ticket.stage)")
    case .fail, .respond, .ended:
      _ = noted(verdict, ticket)
    }
    return nil
  }

  private func fail(_ ticket: Ticket, _ what: String) {
    let name = slot(of: ticket).name
    end(.fail(ticket, RPCError(.internal, "\(name) \(what)", origin: .interceptor(name))))
  }

  func slot(of ticket: Ticket) -> InterceptorSlot { slots[ticket.node.takeUnretainedValue().position] }

  private func isOnlyMessage(_ stage: Stage) -> Bool {
    isRequest(stage) ? !facts.kind.clientStreams : !facts.kind.serverStreams
  }

  func isRequest(_ stage: Stage) -> Bool { Stages.request.contains(stage) }

  private func pipeline(of stage: Stage) -> Pipeline {
    stage == .metrics ? report : isRequest(stage) ? outbound : inbound
  }
}
