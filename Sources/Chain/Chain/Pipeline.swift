/// A node that wants messages, with what the fast path needs of it.
struct FastPathEntry {
  let interceptor: any StagedInterceptor
  let node: PipelineNode
  let access: MessageAccess
  let position: Int
}

/// The nodes of one direction, one for each interceptor, and the values that wait there.
///
/// ```
/// outbound:  caller ─▶ 0 ─▶ 1 ─▶ 2 ─▶ transport
/// inbound:   caller ◀─ 0 ◀─ 1 ◀─ 2 ◀─ transport      so does the report
/// ```
final class Pipeline {
  /// The nodes by the position of their interceptors on the chain.
  private(set) var nodes: [PipelineNode] = []
  /// From a position to the next on the way: 1 for requests, -1 for responses and the report.
  let step: Int
  /// How many values wait, and their bytes.
  private(set) var waitingCount = 0
  private(set) var waitingBytes = 0
  /// How many nodes want messages, and how many of these typed ones.
  private(set) var messageCount = 0
  private(set) var typedCount = 0
  /// The nodes that want messages, in the order of the way; see `entries(_:)`.
  private var entries: [FastPathEntry] = []
  /// For each position, the first of `entries` from there on.
  private var firstEntries: [Int] = []
  private var areEntriesValid = false

  init(isOutbound: Bool) { step = isOutbound ? 1 : -1 }

  /// Whether a message passes at once and unchanged: no node wants messages, and no value waits.
  var letsMessagesThrough: Bool { messageCount == 0 && waitingCount == 0 }

  /// The position at which a value enters.
  var first: Int { step > 0 ? 0 : nodes.count - 1 }

  /// The position past the last node.
  var end: Int { step > 0 ? nodes.count : -1 }

  /// Whether there is a node at a position: a value that is past the last node leaves the chain.
  func contains(_ position: Int) -> Bool { nodes.indices.contains(position) }

  /// The nodes in the order of the way.
  var inOrder: [PipelineNode] { step > 0 ? nodes : nodes.reversed() }

  /// Adds the node of the next interceptor further in.
  func add(_ node: PipelineNode) {
    nodes.append(node)
    count(node, 1)
  }

  /// Lets a node receive no more of some stages.
  func remove(_ stages: Stages, from node: PipelineNode) {
    count(node, -1)
    node.stages.subtract(stages)
    count(node, 1)
  }

  private func count(_ node: PipelineNode, _ change: Int) {
    areEntriesValid = false
    guard node.wantsMessages else { return }
    messageCount += change
    if node.access.isTyped { typedCount += change }
  }

  /// The nodes that want messages, in the order of the way, and the first of them from a position on.
  func fastPath(_ slots: [InterceptorSlot], from position: Int) -> (entries: [FastPathEntry], first: Int) {
    if !areEntriesValid { layOut(slots) }
    return (entries, position < 0 || position >= nodes.count ? entries.count : firstEntries[position])
  }

  private func layOut(_ slots: [InterceptorSlot]) {
    entries = inOrder.compactMap { node in
      guard node.wantsMessages, let interceptor = slots[node.position].interceptor else { return nil }
      return FastPathEntry(interceptor: interceptor, node: node, access: node.access, position: node.position)
    }
    firstEntries = nodes.indices.map { position in
      entries.firstIndex { ($0.position - position) * step >= 0 } ?? entries.count
    }
    areEntriesValid = true
  }

  /// Releases the interceptors, when the call has finished.
  func release() {
    entries = []
    areEntriesValid = false
  }

  // MARK: - Values that wait

  /// Counts values that begin to wait at a node.
  func addWaiting(_ count: Int = 1, bytes: Int) {
    waitingCount += count
    waitingBytes += bytes
  }

  /// Counts values that wait no longer.
  func removeWaiting(_ count: Int = 1, bytes: Int) {
    waitingCount -= count
    waitingBytes -= bytes
  }

  /// Discards every value that waits at some of the nodes, and makes their tokens void.
  func flush(where isFlushed: (PipelineNode) -> Bool = { _ in true }) {
    for node in nodes where isFlushed(node) {
      let (count, bytes) = node.removeAll()
      removeWaiting(count, bytes: bytes)
      node.beginEpoch()
    }
  }
}
