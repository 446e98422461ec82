import Protobuf
import RPCProtocols

// How values go from node to node (the drawing is in ../README.md).
extension Chain {
  /// Takes a value as far as it goes: to a node where it waits, or out of the chain.
  func advance(_ item: Item, on pipeline: Pipeline, from index: Int) {
    var item = item
    var index = index
    while true {
      if pipeline.waitingCount == 0, var forms = item.message {
        guard let reached = run(&forms, on: pipeline, from: index) else { return }
        index = reached
        item = .message(forms, isRequest: pipeline === outbound)
      }
      guard index < pipeline.nodes.count else { return leave(item) }
      let node = pipeline.nodes[index]
      if isStartDue(before: item, at: node) {
        slots[node.position].isBytesNodeDelayed = true
        pipeline.layOutResponse(slots)
        continue
      }
      guard let next = pass(item, node, pipeline) else { return }
      item = next
      index += 1
    }
  }

  /// Whether a message has reached an interceptor's bytes node before the response's start has reached its other node.
  private func isStartDue(before item: Item, at node: PipelineNode) -> Bool {
    guard node.kind == .responseBytes, case .responseMessage = item else { return false }
    let slot = slots[node.position]
    return !slot.isBytesNodeDelayed && slot.stages.contains(.responseStart)
      && node.position < recipients(of: inbound)
      && progress.responseFrontier > .interceptor(node.position)
  }

  /// Forwards the values of a node that nothing holds any more.
  func drain(_ node: PipelineNode, of pipeline: Pipeline) {
    // The retrying interceptor has not decided yet whether another attempt follows, which would receive the values.
    guard pipeline !== outbound || node.position < progress.endFrontier || !mayStillRetry else { return }
    deliverEarly(node, pipeline)
    // A forwarded value may end the call, which empties this buffer.
    while !hasCommands, let sequence = node.buffer.headSequence {
      if node.buffer.headEndHasMessage, node.passage == .awaitingStart, node.kind == .response {
        // The response had no headers, and messages injected before its end must follow some.
        let start = Item.responseStart(ResponseStart())
        recordArrival(start, at: node)
        recordDeparture(start, node)
        release(node, pipeline, behind: sequence)
        advance(start, on: pipeline, from: node.index + 1)
        continue
      }
      guard let output = node.buffer.takeOutput() else { break }
      switch output {
      case .item(let item, let sizeBytes, let wasDeliveredEarly):
        pipeline.waitingCount -= 1
        pipeline.waitingBytes -= sizeBytes
        if wasDeliveredEarly { recordEarlyDelivery(item, at: node) }
        recordArrival(item, at: node)
        recordDeparture(item, node)
        release(node, pipeline, behind: sequence)
        advance(item, on: pipeline, from: node.index + 1)
      case .nothing(let sizeBytes):
        pipeline.waitingCount -= 1
        pipeline.waitingBytes -= sizeBytes
      case .injected(let item):
        recordEarlyDelivery(item, at: node)
        recordArrival(item, at: node)
        recordDeparture(item, node)
        release(node, pipeline, behind: sequence)
        advance(item, on: pipeline, from: node.index + 1)
      case .delivery(let item):
        deliverLate(item, node, pipeline)
      }
    }
    if !node.buffer.isEmpty, hasCommands { markDirty(node, pipeline) }
  }

  /// Lets a value pass one node; returns nil if it waits there or was dropped.
  func pass(_ item: Item, _ node: PipelineNode, _ pipeline: Pipeline) -> Item? {
    guard node.position < recipients(of: pipeline) else {
      // This interceptor has received the end: discard request values, and forward response values after those that it
      // left when it ended the call.
      guard pipeline === outbound else {
        if node.buffer.isEmpty || node.buffer.headHold != nil { return item }
        append(.ready(item), item, node, pipeline)
        markDirty(node, pipeline)
        return nil
      }
      if mayStillRetry { append(.queued(item), item, node, pipeline) }
      return nil
    }
    var stage = stage(of: item, node)
    if stage != nil, node.deliveredEarly != nil {
      switch passUnchanged(item, at: node) {
      case .isDue: break
      case .wasDelivered: stage = nil
      case .hasChanged: return nil
      }
    }
    guard let stage else {
      guard node.buffer.isEmpty, node.beforeStart.isEmpty else {
        append(.ready(item), item, node, pipeline)
        markDirty(node, pipeline)
        return nil
      }
      recordArrival(item, at: node)
      recordDeparture(item, node)
      return item
    }
    if node.isSerial, !node.buffer.isEmpty {
      append(.queued(item), item, node, pipeline)
      return nil
    }
    recordArrival(item, at: node)
    guard let item = prepared(item, for: stage, node) else { return nil }
    let result = deliver(item, stage, node, sequence: sink.takeSequence())
    return finishDelivery(item, stage, node, pipeline, result)
  }

  /// Acts on the result of a delivery; returns nil if the value waits or was dropped.
  @discardableResult
  func finishDelivery(
    _ item: Item, _ stage: Stage, _ node: PipelineNode, _ pipeline: Pipeline, _ result: DeliveryResult
  )
    -> Item?
  {
    guard let verdict = result.verdict else {
      append(
        .held(stage, item), item, node, pipeline, sequence: result.tokenID.sequence,
        injectedBefore: result.injectedBefore)
      watchHolds(node)
      if !result.injectedBefore.isEmpty { markDirty(node, pipeline) }
      return nil
    }
    let next = apply(verdict, to: item, result.tokenID, injectedCount: result.injectedBefore.count)
    if node.buffer.isEmpty, pendingEndings == 0, result.injectedBefore.isEmpty, node.beforeStart.isEmpty {
      guard let next else { return nil }
      recordDeparture(next, node)
      return next
    }
    // A value that is dropped at once takes no place: an endless stream may be dropped after a value that is held.
    if next == nil, result.injectedBefore.isEmpty { return nil }
    append(
      next.map(ReorderBuffer.State.ready) ?? .dropped, next, node, pipeline,
      injectedBefore: result.injectedBefore,
      isLate: result.isLate)
    markDirty(node, pipeline)
    return nil
  }

  /// Delivers a value that was queued and is at the head of the buffer now.
  private func deliverLate(_ item: Item, _ node: PipelineNode, _ pipeline: Pipeline) {
    guard let sequence = node.buffer.headSequence else { return }
    guard let stage = stage(of: item, node) else { return node.buffer.settle(sequence, .ready(item)) }
    guard node.position < recipients(of: pipeline), let item = prepared(item, for: stage, node) else {
      return node.buffer.settle(sequence, .dropped)
    }
    recordArrival(item, at: node)
    let result = deliver(item, stage, node, sequence: sequence)
    for injected in result.injectedBefore { node.buffer.addInjected(injected, before: sequence) }
    guard let verdict = result.verdict else {
      node.buffer.settle(sequence, .held(stage, item))
      return watchHolds(node)
    }
    let next = apply(verdict, to: item, result.tokenID, injectedCount: result.injectedBefore.count)
    node.buffer.settle(sequence, next.map(ReorderBuffer.State.ready) ?? .dropped, isLate: result.isLate)
  }

  /// Interceptors before this position receive the values of a pipeline.
  func recipients(of pipeline: Pipeline) -> Int {
    switch pipeline {
    case _ where pipeline === report: progress.reached
    case _ where pipeline === inbound: min(progress.endFrontier, progress.reached)
    default: progress.endFrontier
    }
  }

  private func append(
    _ state: ReorderBuffer.State, _ item: Item?, _ node: PipelineNode, _ pipeline: Pipeline,
    sequence: Int? = nil,
    injectedBefore: [Item] = [], isLate: Bool = false
  ) {
    let sizeBytes = (item?.sizeBytes ?? 0) + injectedBefore.reduce(0) { $0 + $1.sizeBytes }
    // One more value is always accepted, however large.
    if pipeline.waitingBytes / Self.windowsToOverflow > windowBytes { overflow(pipeline) }
    node.buffer.append(
      state, sequence: sequence ?? sink.takeSequence(), sizeBytes: sizeBytes,
      injectedBefore: injectedBefore,
      isLate: isLate)
    pipeline.waitingCount += 1
    pipeline.waitingBytes += sizeBytes
  }

  /// Queues the request's start at an interceptor that has not received it.
  func queue(_ start: Item, at node: PipelineNode) {
    append(.queued(start), start, node, outbound)
    markDirty(node, outbound)
  }

  /// Appends values that the node's interceptor made.
  func put(_ items: [Item], at node: PipelineNode, of pipeline: Pipeline) {
    for item in items {
      node.buffer.append(
        .ready(item), sequence: sink.takeSequence(), sizeBytes: item.sizeBytes, isOwn: true)
      pipeline.waitingCount += 1
      pipeline.waitingBytes += item.sizeBytes
    }
    markDirty(node, pipeline)
  }

  private func overflow(_ pipeline: Pipeline) {
    let (name, stage) =
      holder ?? ("an interceptor", pipeline === outbound ? .requestMessage : .responseMessage)
    end(
      .cancel(
        RPCError(
          .resourceExhausted,
          "\(name) holds the call at \(stage), and more values arrived than the chain can hold",
          origin: .interceptor(name))))
  }

  func markDirty(_ node: PipelineNode, _ pipeline: Pipeline) {
    guard !node.isDirty else { return }
    node.isDirty = true
    dirtyNodes.append((node, pipeline))
  }

  /// Records how far a start or an end has come.
  private func recordArrival(_ item: Item, at node: PipelineNode) {
    switch item {
    case .requestStart where node.kind == .request:
      progress.reached = max(progress.reached, node.position + 1)
    case .responseStart where node.kind == .response:
      progress.responseFrontier = min(progress.responseFrontier, .interceptor(node.position))
    case .responseEnd where node.kind == .response:
      progress.endFrontier = min(progress.endFrontier, node.position)
    case .requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage, .responseEnd,
      .metrics:
      break
    }
  }

  /// Records that a value has left a node.
  private func recordDeparture(_ item: Item, _ node: PipelineNode) {
    switch item {
    case .requestEnd, .responseEnd: node.passage = .closed
    case .requestStart(let start):
      node.recordStart()
      setDeadline(start.deadline)
    case .responseStart: node.recordStart()
    case .requestMessage, .responseMessage, .metrics: break
    }
  }

  /// Sets the deadline of the call as an interceptor has left it.
  func setDeadline(_ deadline: MonotonicClock.Instant?) {
    guard deadline != progress.deadline else { return }
    progress.deadline = deadline
    caller?.deadlineChanged(to: deadline)
  }

  /// Forwards the messages that waited for the start, if it has passed, in its place.
  ///
  /// - Parameter sequence: The number of the start, or of the value before which it was injected.
  private func release(_ node: PipelineNode, _ pipeline: Pipeline, behind sequence: Int) {
    guard node.passage == .started, !node.beforeStart.isEmpty else { return }
    if node.buffer.headSequence == sequence {
      node.buffer.injectFirst(node.beforeStart)
    } else {
      let sizeBytes = node.beforeStart.reduce(0) { $0 + $1.sizeBytes }
      node.buffer.putFirst(node.beforeStart, sequence: sequence, sizeBytes: sizeBytes)
      pipeline.waitingCount += 1
      pipeline.waitingBytes += sizeBytes
    }
    beforeStartCount -= node.beforeStart.count
    node.beforeStart = []
  }

  /// The stage at which a node's interceptor wants an item; nil if it does not want it.
  func stage(of item: Item, _ node: PipelineNode) -> Stage? {
    let candidates: Stages =
      switch item {
      case .requestStart: .requestStart
      case .requestEnd: .requestEnd
      case .responseStart: .responseStart
      case .responseEnd: .responseEnd
      case .metrics: .metrics
      case .requestMessage, .responseMessage: Pipeline.messageStages
      }
    let wanted = node.stages.intersection(candidates)
    return wanted.isEmpty ? nil : Stage(rawValue: UInt32(wanted.rawValue.trailingZeroBitCount))
  }

  // MARK: - One delivery

  /// What an interceptor did with a value before its callback returned.
  struct DeliveryResult {
    let tokenID: TokenID
    let verdict: Verdict?
    let injectedBefore: [Item]
    /// Whether the verdict came after a command that ends the call.
    let isLate: Bool
  }

  /// Calls an interceptor with a value.
  func deliver(_ item: Item, _ stage: Stage, _ node: PipelineNode, sequence: Int) -> DeliveryResult {
    let slot = slots[node.position]
    let tokenID = TokenID(node, stage, sequence: sequence)
    sink.beginDelivery(sequence)
    delivery = tokenID
    let clock = environment.clock
    let begin = clock.coarseNanoseconds
    do {
      if let interceptor = slot.interceptor { try call(item, stage, tokenID, to: interceptor) }
    } catch {
      sink.record(thrown(error, tokenID, slot))
    }
    _ = warnIfBlocked(since: begin, clock, node.position, stage)
    return takeResult(tokenID)
  }

  func takeResult(_ tokenID: TokenID) -> DeliveryResult {
    let verdict = sink.takeVerdict()
    defer {
      sink.injectedBefore = []
      delivery = nil
      isVerdictLate = false
    }
    return DeliveryResult(
      tokenID: tokenID, verdict: verdict, injectedBefore: sink.injectedBefore, isLate: isVerdictLate)
  }

  private func call(
    _ item: Item, _ stage: Stage, _ tokenID: TokenID, to interceptor: any StagedInterceptor
  ) throws {
    switch item {
    case .requestMessage(let forms):
      if stage == .requestMessage, let message = forms.typed {
        try interceptor.requestMessage(message, RequestToken(sink, tokenID))
      } else if stage == .requestBytes, let bytes = forms.bytes {
        try interceptor.requestBytes(bytes, RequestToken(sink, tokenID))
      }
    case .responseMessage(let forms):
      if stage == .responseMessage, let message = forms.typed {
        try interceptor.responseMessage(message, ResponseToken(sink, tokenID))
      } else if stage == .responseBytes, let bytes = forms.bytes {
        try interceptor.responseBytes(bytes, ResponseToken(sink, tokenID))
      }
    case .requestStart(let start): try interceptor.requestStart(start, RequestToken(sink, tokenID))
    case .requestEnd: try interceptor.requestEnd(RequestToken(sink, tokenID))
    case .responseStart(let start): try interceptor.responseStart(start, ResponseToken(sink, tokenID))
    case .responseEnd(let end): try interceptor.responseEnd(end, ResponseToken(sink, tokenID))
    case .metrics(let metrics): try interceptor.metrics(metrics, ReportToken(sink, tokenID))
    }
  }

  /// The verdict of a callback that threw: it takes precedence over the verdict that the token gave.
  func thrown(_ error: any Error, _ tokenID: TokenID, _ slot: InterceptorSlot) -> Verdict {
    let error = self.error(error, of: slot.name)
    guard tokenID.stage != .metrics else {
      environment.log(
        LogRecord(level: .error, source: slot.name, text: "failed at metrics: \(error.message)"))
      return .abandoned
    }
    if sink.hasVerdictToEnd { return .ended }
    end(.fail(tokenID, error))
    return .ended
  }
}
