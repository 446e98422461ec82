import Protobuf
import RPCProtocols

// Early delivery. An interceptor that signs the body in a header holds the request's start until it has the bytes and
// the half-close. If it has two nodes, these are delivered at the second, which nothing reaches before the start has
// passed. So once all of the request waits after the start, the chain delivers it to that interceptor, in the order of
// its stages. The same values must then pass the second node unchanged: if an interceptor further in changes them, the
// signature is wrong, and the call fails.
extension Chain {
  /// Delivers the rest of the request to an interceptor that holds its start, if all of it waits there.
  func deliverEarly(_ node: PipelineNode, _ pipeline: Pipeline) {
    guard node.kind == .request, node.buffer.trailingEnd != nil else { return }
    let tail = slots[node.position].lastRequestNode
    guard tail !== node else { return }
    while !hasCommands, node.position < recipients(of: pipeline),
      node.buffer.headHold?.stage == .requestStart,
      let (sequence, item) = node.buffer.nextForEarlyDelivery(node.stages)
    {
      guard let stage = stage(of: item, tail) else {
        node.buffer.settle(sequence, .deliveredEarly(item))
        continue
      }
      if tail.deliveredEarly == nil { tail.deliveredEarly = EarlyDelivery() }
      pipeline.hasEarlyDeliveries = true
      guard let item = prepared(item, for: stage, tail) else { return }
      if stage == .requestEnd { tail.deliveredEarly?.hasEnd = true }
      let result = deliver(item, stage, node, sequence: sequence)
      for injected in result.injectedBefore { node.buffer.addInjected(injected, before: sequence) }
      guard let verdict = result.verdict else {
        node.buffer.settle(sequence, .held(stage, item))
        continue
      }
      let next = apply(verdict, to: item, result.tokenID, injectedCount: result.injectedBefore.count)
      node.buffer.settle(
        sequence, next.map(ReorderBuffer.State.deliveredEarly) ?? .dropped, isLate: result.isLate)
    }
  }

  /// Records a message that leaves the first node of an interceptor that received it early, or made it.
  func recordEarlyDelivery(_ item: Item, at node: PipelineNode) {
    guard node.kind == .request, case .requestMessage(let forms) = item else { return }
    let tail = slots[node.position].lastRequestNode
    guard tail.deliveredEarly != nil, tail.messageStage != nil else { return }
    // A message that cannot be serialized fails the call when a stage needs its bytes.
    if let bytes = serializedForm(of: forms) { tail.deliveredEarly?.messages.append(bytes) }
  }

  /// What to do with a value at the second node of an interceptor that received some of the request early.
  enum Passage {
    case isDue, wasDelivered, hasChanged
  }

  /// Compares a value with what was delivered early.
  func passUnchanged(_ item: Item, at node: PipelineNode) -> Passage {
    guard let deliveredEarly = node.deliveredEarly else { return .isDue }
    switch item {
    case .requestEnd:
      guard deliveredEarly.messages.isEmpty else { return failForChange(at: node) }
      return deliveredEarly.hasEnd ? .wasDelivered : .isDue
    case .requestMessage(let forms):
      guard let expected = node.deliveredEarly?.messages.popFirst() else {
        return deliveredEarly.hasEnd ? failForChange(at: node) : .isDue
      }
      return serializedForm(of: forms) == expected ? .wasDelivered : failForChange(at: node)
    case .requestStart, .responseStart, .responseMessage, .responseEnd, .metrics:
      return .isDue
    }
  }

  private func serializedForm(of forms: MessageForms) -> [UInt8]? {
    forms.bytes ?? forms.typed.flatMap { try? codec.serialize($0) }
  }

  private func failForChange(at node: PipelineNode) -> Passage {
    let name = slots[node.position].name
    let others = slots.dropFirst(node.position + 1).filter { $0.stages.contains(.requestMessage) }
    let names = others.isEmpty ? "another interceptor" : others.map(\.name).joined(separator: " or ")
    let text =
      "\(names) changed the request after \(name) had received it: \(name) holds \(Stage.requestStart) until it has "
      + "the messages, so it must come after \(names) on the chain"
    end(.breakdown(below: nil, RPCError(.internal, text, origin: .client), flushing: nil))
    return .hasChanged
  }
}
