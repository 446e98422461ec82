/// A node that wants messages, with what the fast path needs of it.
struct FastPathEntry {
  let interceptor: any StagedInterceptor
  let node: PipelineNode
  let stage: Stage
  let position: Int
}

/// The nodes of one direction, in the order in which values pass them.
///
/// Out: first the typed pass through interceptors 0…k, where k is the last that wants typed messages, then the bytes
/// pass. In: the mirror. With q as the first interceptor that wants bytes, interceptors q…k are *split*: they have a
/// node in each pass. The others have one node for all their stages.
///
/// ```
///        typed pass                        bytes pass
/// out:   A(start) B(start, message)        A(bytes, end) B(end) C(start, bytes, end)       q = A, k = B
///
///        bytes pass                        typed pass
/// in:    C(start, bytes, end) B() A(bytes) B(start, message, end) A(start, end)
/// ```
///
/// Starts and ends pass in the chain's order, and each interceptor receives start, messages and end in this order,
/// wherever values wait. Out, the half-close comes with the bytes pass. In, an interceptor between the two nodes of a
/// split one may hold the start; a message that reaches the bytes node then moves this node to right before the typed
/// one (`InterceptorSlot.isBytesNodeDelayed`).
final class Pipeline {
  private(set) var nodes: [PipelineNode] = []
  /// For each index, the first node from there on that wants messages.
  private(set) var nextForMessages = [0]
  /// The nodes that want messages.
  private(set) var entries: [FastPathEntry] = []
  /// For each index of a node, the first of `entries` from there on.
  private(set) var firstFastEntries = [0]
  /// How many interceptors take part in the typed pass: those up to the last that wants typed messages.
  private(set) var typedCount = 0
  /// Whether values were delivered early, and must pass a node unchanged.
  var hasEarlyDeliveries = false
  /// How many values wait, and their bytes.
  var waitingCount = 0
  var waitingBytes = 0

  static let messageStages: Stages = [.requestMessage, .requestBytes, .responseMessage, .responseBytes]

  /// Lays out the pipeline of the request.
  func layOutRequest(_ slots: [InterceptorSlot]) {
    typedCount = 1 + (slots.lastIndex { $0.stages.contains(.requestMessage) } ?? -1)
    let firstRaw = slots.firstIndex { $0.stages.contains(.requestBytes) } ?? slots.count
    var (typed, raw): ([PipelineNode], [PipelineNode]) = ([], [])
    for (position, slot) in slots.enumerated() {
      let head = slot.requestNode
      slot.lastRequestNode = head
      if position >= typedCount {
        head.stages = slot.stages.intersection([.requestStart, .requestBytes, .requestEnd])
        raw.append(head)
      } else if position >= firstRaw {
        head.stages = slot.stages.intersection([.requestStart, .requestMessage])
        slot.requestBytesNode.stages = slot.stages.intersection([.requestBytes, .requestEnd])
        slot.lastRequestNode = slot.requestBytesNode
        typed.append(head)
        raw.append(slot.requestBytesNode)
      } else {
        head.stages = slot.stages.intersection([.requestStart, .requestMessage, .requestEnd])
        typed.append(head)
      }
    }
    layOut(typed + raw, slots)
  }

  /// Lays out the pipeline of the response.
  func layOutResponse(_ slots: [InterceptorSlot]) {
    typedCount = 1 + (slots.lastIndex { $0.stages.contains(.responseMessage) } ?? -1)
    let firstRaw = slots.firstIndex { $0.stages.contains(.responseBytes) } ?? slots.count
    var (raw, typed): ([PipelineNode], [PipelineNode]) = ([], [])
    for (position, slot) in slots.enumerated().reversed() {
      let home = slot.responseNode
      slot.firstResponseNode = home
      if position >= typedCount {
        home.stages = slot.stages.intersection([.responseStart, .responseBytes, .responseEnd])
        raw.append(home)
        continue
      }
      home.stages = slot.stages.intersection([.responseStart, .responseMessage, .responseEnd])
      if position >= firstRaw {
        slot.responseBytesNode.stages = slot.stages.intersection(.responseBytes)
        slot.firstResponseNode = slot.responseBytesNode
        if slot.isBytesNodeDelayed {
          typed.append(slot.responseBytesNode)
        } else {
          raw.append(slot.responseBytesNode)
        }
      }
      typed.append(home)
    }
    layOut(raw + typed, slots)
  }

  /// Lays out the pipeline of the metrics, which follow the end.
  func layOutReport(_ slots: [InterceptorSlot]) {
    for slot in slots { slot.report.stages = slot.stages.intersection(.metrics) }
    layOut(slots.reversed().map(\.report).filter { !$0.stages.isEmpty }, slots)
  }

  private func layOut(_ nodes: [PipelineNode], _ slots: [InterceptorSlot]) {
    for (index, node) in nodes.enumerated() { node.index = index }
    var next = Array(repeating: nodes.count, count: nodes.count + 1)
    for index in nodes.indices.reversed() {
      next[index] = nodes[index].stages.isDisjoint(with: Pipeline.messageStages) ? next[index + 1] : index
    }
    nextForMessages = next
    self.nodes = nodes
    entries = nodes.compactMap { node in
      guard let stage = node.messageStage, let interceptor = slots[node.position].interceptor else {
        return nil
      }
      return FastPathEntry(interceptor: interceptor, node: node, stage: stage, position: node.position)
    }
    firstFastEntries = (0...nodes.count).map { index in
      entries.firstIndex { $0.node.index >= index } ?? entries.count
    }
  }

  /// Releases the interceptors, when the call has finished.
  func release() {
    entries = []
  }

  /// Discards every value that waits at some of the nodes, and makes their tokens void.
  ///
  /// - Returns: How many of the values waited for a start.
  func flush(_ isFlushed: (PipelineNode) -> Bool) -> Int {
    var beforeStartCount = 0
    for node in nodes where isFlushed(node) {
      waitingCount -= node.buffer.count
      waitingBytes -= node.buffer.removeAll()
      beforeStartCount += node.beforeStart.count
      node.beforeStart = []
      node.deliveredEarly = nil
      node.beginEpoch()
    }
    return beforeStartCount
  }
}
