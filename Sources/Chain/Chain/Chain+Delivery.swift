import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols

// How values go from node to node (the drawing is in ../README.md).
extension Chain {
  /// Takes a value as far as it goes: to a node where it waits, or out of the chain.
  func advance(_ item: Item, on pipeline: Pipeline, from position: Int) {
    var item = item
    var position = position
    while true {
      if pipeline.waitingCount == 0, var value = item.message {
        guard let reached = run(&value, on: pipeline, from: position) else { return }
        position = reached
        item.replaceMessage(by: value)
      }
      guard pipeline.contains(position) else { return leave(item) }
      guard let next = pass(item, pipeline.nodes[position], pipeline) else { return }
      item = next
      position += pipeline.step
    }
  }

  /// Forwards the values of a node that nothing holds any more.
  func drain(_ node: PipelineNode, of pipeline: Pipeline) {
    // The retrying interceptor has not decided yet whether another attempt follows, which would receive the values.
    guard pipeline !== outbound || node.position < progress.endFrontier || !mayStillRetry else { return }
    // A forwarded value may end the call, which empties this buffer.
    while !hasCommands {
      if node.takesNext, let item = node.unreceived.popFirst() {
        pipeline.removeWaiting(bytes: item.sizeBytes)
        if let next = receive(item, at: node, pipeline) { advance(next, on: pipeline, after: node) }
        continue
      }
      node.buffer.giveUpStart()
      if node.passage == .awaitingStart, node.kind == .response, node.buffer.hasMessageNext {
        // The response had no headers, and messages that were injected must follow some.
        depart(.responseStart(ResponseStart()), node, pipeline)
        continue
      }
      guard let output = node.buffer.takeOutput() else { break }
      switch output {
      case .item(let item, let sizeBytes):
        pipeline.removeWaiting(bytes: sizeBytes)
        depart(item, node, pipeline)
      case .nothing(let sizeBytes): pipeline.removeWaiting(bytes: sizeBytes)
      case .injected(let item): depart(item, node, pipeline)
      }
    }
    if node.isEmpty { return }
    if hasCommands { markDirty(node, pipeline) } else { failIfCollecting(node, pipeline) }
  }

  /// Takes a value that leaves a node's buffer as far as it goes.
  private func depart(_ item: Item, _ node: PipelineNode, _ pipeline: Pipeline) {
    recordArrival(item, at: node)
    recordDeparture(item, node)
    advance(item, on: pipeline, after: node)
  }

  private func advance(_ item: Item, on pipeline: Pipeline, after node: PipelineNode) {
    advance(item, on: pipeline, from: node.position + pipeline.step)
  }

  /// Lets a value pass one node; returns nil if it waits there or was dropped.
  func pass(_ item: Item, _ node: PipelineNode, _ pipeline: Pipeline) -> Item? {
    let mustWait = !node.unreceived.isEmpty || (node.isSerial && !node.takesNext)
    if mustWait, node.position < recipients(of: pipeline) || mayStillRetry {
      wait(item, at: node, pipeline)
      return nil
    }
    return receive(item, at: node, pipeline)
  }

  /// Gives a value to the interceptor of a node; returns it if it goes on at once.
  private func receive(_ item: Item, at node: PipelineNode, _ pipeline: Pipeline) -> Item? {
    guard node.position < recipients(of: pipeline) else {
      // This interceptor has received the end: discard request values, and forward response values after those that it
      // left when it ended the call.
      guard pipeline === outbound else {
        if node.buffer.isEmpty || node.buffer.headHold != nil { return item }
        append(.ready(item), item, node, pipeline)
        markDirty(node, pipeline)
        return nil
      }
      if mayStillRetry { wait(item, at: node, pipeline) }
      return nil
    }
    guard let stage = node.stage(of: item) else {
      recordArrival(item, at: node)
      guard node.buffer.isEmpty else {
        append(.ready(item), item, node, pipeline)
        markDirty(node, pipeline)
        return nil
      }
      recordDeparture(item, node)
      return item
    }
    recordArrival(item, at: node)
    let sequence = takeSequence(of: item, at: node)
    var item = item
    if var value = item.message {
      guard prepare(&value, at: node) else { return nil }
      value.sequence = sequence
      item.replaceMessage(by: value)
    }
    let result = deliver(item, stage, node, sequence: sequence)
    return finishDelivery(item, stage, node, pipeline, result)
  }

  /// Acts on the result of a delivery; returns nil if the value waits or was dropped.
  func finishDelivery(
    _ item: Item, _ stage: Stage, _ node: PipelineNode, _ pipeline: Pipeline, _ result: DeliveryResult
  ) -> Item? {
    if !result.injectedBefore.isEmpty { family.recordChange(by: slots[node.position]) }
    guard let verdict = result.verdict else {
      append(
        .held(stage, item), item, node, pipeline, sequence: result.tokenID.sequence,
        injectedBefore: result.injectedBefore)
      watchHolds(node)
      if !result.injectedBefore.isEmpty { markDirty(node, pipeline) }
      return nil
    }
    let next = apply(verdict, to: item, result.tokenID, injectedCount: result.injectedBefore.count)
    if node.buffer.isEmpty, agenda.endingCount == 0, result.injectedBefore.isEmpty {
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
    sequence: Int? = nil, injectedBefore: [Item] = [], isLate: Bool = false
  ) {
    let sizeBytes = (item?.sizeBytes ?? 0) + injectedBefore.reduce(0) { $0 + $1.sizeBytes }
    countWaiting(sizeBytes, at: node, pipeline)
    node.buffer.append(
      state, sequence: sequence ?? takeSequence(of: item, at: node), sizeBytes: sizeBytes,
      injectedBefore: injectedBefore, isLate: isLate)
    failIfCollecting(node, pipeline)
  }

  /// A number for a value: that of the place that is kept for a start, or the next.
  private func takeSequence(of item: Item?, at node: PipelineNode) -> Int {
    let awaited = item?.isStart == true ? node.buffer.awaitedStart : nil
    return awaited ?? sink.takeSequence()
  }

  /// Lets a value wait before its interceptor receives it.
  func wait(_ item: Item, at node: PipelineNode, _ pipeline: Pipeline) {
    countWaiting(item.sizeBytes, at: node, pipeline)
    node.unreceived.append(item)
    markDirty(node, pipeline)
  }

  /// Counts a value that begins to wait; ends the call if it is one too many. One more value is always accepted, however
  /// large.
  private func countWaiting(_ sizeBytes: Int, at node: PipelineNode, _ pipeline: Pipeline) {
    if pipeline.waitingBytes / Self.windowsToOverflow > flow.windowBytes { overflow(pipeline) }
    pipeline.addWaiting(bytes: sizeBytes)
  }

  /// Appends values that the node's interceptor made. They follow the start, also if it has not arrived: meanwhile they do
  /// not count against the window, which the start does not pass when it is full.
  func put(_ items: [Item], at node: PipelineNode, of pipeline: Pipeline) {
    for item in items {
      if node.passage == .awaitingStart, node.buffer.isEmpty, !item.isStart {
        node.buffer.append(.awaitedStart, sequence: sink.takeSequence(), sizeBytes: 0)
      }
      let sequence = takeSequence(of: item, at: node)
      let sizeBytes = node.buffer.awaitedStart == nil ? item.sizeBytes : 0
      node.buffer.append(.ready(item), sequence: sequence, sizeBytes: sizeBytes, isOwn: true)
      pipeline.addWaiting(bytes: sizeBytes)
    }
    markDirty(node, pipeline)
  }

  private func overflow(_ pipeline: Pipeline) {
    let (name, stage) =
      holder ?? ("an interceptor", pipeline === outbound ? .requestMessage : .responseMessage)
    fail(
      holder: name, "\(name) holds the call at \(stage), and more values arrived than the chain can hold")
  }

  /// Ends the call if the window is full, and the values wait for an interceptor whose verdicts need later ones, which
  /// would never arrive.
  private func failIfCollecting(_ node: PipelineNode, _ pipeline: Pipeline) {
    guard pipeline.waitingBytes >= flow.windowBytes, isStream(pipeline) else { return }
    let slot = slots[node.position]
    guard slot.requirements.collects, let stage = node.buffer.headHold?.stage else { return }
    fail(
      holder: slot.name,
      "\(slot.name) collects values at \(stage), and they exceed the window of \(flow.windowBytes) bytes")
  }

  /// Whether a direction has any number of messages, so that a full window pauses the sender. The end of a direction with
  /// one message follows it.
  func isStream(_ pipeline: Pipeline) -> Bool {
    pipeline === outbound ? facts.kind.clientStreams : facts.kind.serverStreams
  }

  private func fail(holder name: String, _ words: String) {
    end(.cancel(RPCError(.resourceExhausted, words, origin: .interceptor(name))))
  }

  func markDirty(_ node: PipelineNode, _ pipeline: Pipeline) { agenda.append(node, of: pipeline) }

  /// Records how far a start or an end has come.
  private func recordArrival(_ item: Item, at node: PipelineNode) {
    switch item {
    case .requestStart: progress.reached = max(progress.reached, node.position + 1)
    case .responseStart:
      progress.responseFrontier = min(progress.responseFrontier, .interceptor(node.position))
    case .responseEnd: progress.endFrontier = min(progress.endFrontier, node.position)
    case .requestMessage, .requestEnd, .responseMessage, .metrics: break
    }
  }

  /// Records that a value has left a node.
  private func recordDeparture(_ item: Item, _ node: PipelineNode) {
    switch item {
    case .requestEnd: node.passage = .closed
    case .responseEnd:
      node.passage = .closed
      takeAttributes(at: node)
    case .requestStart(let start):
      node.recordStart()
      setDeadline(start.deadline)
    case .responseStart:
      node.recordStart()
      takeAttributes(at: node)
    case .requestMessage, .responseMessage, .metrics: break
    }
  }

  /// Makes the attributes of an attempt those of the call, once the interceptor that makes attempts has forwarded its
  /// response.
  private func takeAttributes(at node: PipelineNode) {
    guard node.position == slots.count - 1, let attempts = progress.downstream.attempts else { return }
    attempts.takenChain?.shareAttributes(with: self)
  }

  /// Sets the deadline of the call as an interceptor has left it.
  func setDeadline(_ deadline: MonotonicClock.Instant?) {
    guard deadline != progress.deadline else { return }
    progress.deadline = deadline
    caller?.deadlineChanged(to: deadline)
  }

  // MARK: - The forms of messages

  /// Makes the form of a message that the interceptor of a node receives; returns false if it cannot be made, which ends
  /// the call there.
  func prepare(_ value: inout MessageValue, at node: PipelineNode) -> Bool {
    value.access = node.access
    if node.access.isTyped { return parse(&value, at: node) }
    return node.access.isBytes ? serialize(&value, at: node.position) : true
  }

  private func parse(_ value: inout MessageValue, at node: PipelineNode) -> Bool {
    guard value.typedForm == nil, let bytes = value.bytesForm else { return true }
    let isRequest = node.kind == .request
    do {
      value.add(typed: isRequest ? try codec.parseRequest(bytes) : try codec.parseResponse(bytes))
      return true
    } catch {
      var failure =
        error as? RPCError
        ?? RPCError(
          .internal, "the message cannot be parsed: \(error)", origin: isRequest ? .client : .violation)
      if let name = family.name(of: value.setter) { failure.origin = .interceptor(name) }
      end(.breakdown(at: node.position, failure))
      return false
    }
  }

  /// Makes the serialized form; returns false if it cannot be made, which ends the call.
  ///
  /// - Parameter position: The interceptor that needs it; nil is the transport.
  func serialize(_ value: inout MessageValue, at position: Int?) -> Bool {
    guard value.bytesForm == nil, let message = value.typedForm else { return true }
    do {
      value.add(bytes: try codec.serialize(message))
      return true
    } catch {
      end(
        .breakdown(
          at: position,
          error as? RPCError
            ?? RPCError(.internal, "the message cannot be serialized: \(error)", origin: .client)))
      return false
    }
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
  private func deliver(_ item: Item, _ stage: Stage, _ node: PipelineNode, sequence: Int) -> DeliveryResult {
    let slot = slots[node.position]
    let tokenID = TokenID(node, stage, sequence: sequence)
    sink.beginDelivery(sequence)
    delivery = tokenID
    let clock = environment.clock
    let begin = clock.coarseNanoseconds
    do {
      if let interceptor = slot.interceptor { try call(item, tokenID, to: interceptor) }
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

  private func call(_ item: Item, _ tokenID: TokenID, to interceptor: any StagedInterceptor) throws {
    switch item {
    case .requestStart(let start): try interceptor.requestStart(start, RequestToken(sink, tokenID))
    case .requestMessage(let value): try interceptor.requestMessage(value, RequestToken(sink, tokenID))
    case .requestEnd: try interceptor.requestEnd(RequestToken(sink, tokenID))
    case .responseStart(let start): try interceptor.responseStart(start, ResponseToken(sink, tokenID))
    case .responseMessage(let value): try interceptor.responseMessage(value, ResponseToken(sink, tokenID))
    case .responseEnd(let end): try interceptor.responseEnd(end, ResponseToken(sink, tokenID))
    case .metrics(let metrics): try interceptor.metrics(metrics, ReportToken(sink, tokenID))
    }
  }

  /// The verdict of a callback that threw: it takes precedence over the verdict that the token gave.
  func thrown(_ error: any Error, _ tokenID: TokenID, _ slot: InterceptorSlot) -> Verdict {
    let error = self.error(error, of: slot.name)
    guard tokenID.stage != .metrics else {
      log(.error, slot, "failed at metrics: \(error.message)")
      return .abandoned
    }
    if sink.hasVerdictToEnd { return .ended }
    end(.fail(tokenID, error))
    return .ended
  }
}
