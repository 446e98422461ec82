internal import DequeModule
import RPCurlBase
import RPCurlProtocols
import Synchronization

/// An interceptor's place on a pipeline: it is called here, and values wait here for it.
///
/// ```
/// values ─▶ unreceived ─▶ [ interceptor ] ─▶ buffer ─▶ the next node
/// ```
final class PipelineNode {
  enum Kind {
    case request, response, report
  }

  /// How much of its direction has passed the node.
  enum Passage {
    case awaitingStart, started, closed
  }

  /// The warning about a value that is held for long at the head of the buffer; at most one for each node.
  enum HoldWatch {
    case none
    case watching(sequence: Int, since: MonotonicClock.Instant)
    case warned
  }

  let kind: Kind
  /// The interceptor's place on the chain; 0 is nearest to the caller.
  let position: Int
  /// Whether the interceptor takes one value at a time.
  let isSerial: Bool
  /// The form of messages that the interceptor receives here.
  let access: MessageAccess
  /// The stages delivered here.
  var stages: Stages
  /// What the interceptor has received, and has not left the node.
  var buffer = ReorderBuffer()
  /// What the interceptor has not received: it takes one value at a time, or has not decided about another attempt.
  var unreceived = Deque<Item>()
  /// The epoch of the tokens that are valid. Other threads compare it with their token's.
  let epoch = Atomic<UInt32>(0)
  /// Whether the chain's list of nodes whose buffer may have output contains the node.
  var isDirty = false
  var passage = Passage.awaitingStart
  var holdWatch = HoldWatch.none

  init(_ kind: Kind, _ place: (position: Int, isSerial: Bool), _ stages: Stages, _ access: MessageAccess) {
    self.kind = kind
    position = place.position
    isSerial = place.isSerial
    self.access = access
    self.stages = stages
  }

  /// Whether the interceptor receives messages here.
  var wantsMessages: Bool { !stages.isDisjoint(with: .messages) }

  /// Whether the interceptor holds nothing of what it has received.
  var takesNext: Bool { buffer.isEmpty || buffer.awaitedStart != nil }

  /// Whether nothing waits here.
  var isEmpty: Bool { buffer.isEmpty && unreceived.isEmpty }

  /// Makes every token of this node void.
  func beginEpoch() { epoch.add(1, ordering: .relaxed) }

  /// Records that the start has passed. The response of an interceptor that ends the call passes a closed node.
  func recordStart() { if case .awaitingStart = passage { passage = .started } }

  /// Removes everything that waits; returns how much it was.
  func removeAll() -> (count: Int, bytes: Int) {
    let count = buffer.count + unreceived.count
    let bytes = unreceived.reduce(buffer.removeAll()) { $0 + $1.sizeBytes }
    unreceived.removeAll()
    return (count, bytes)
  }

  /// The stage at which the interceptor wants a value; nil if it does not want it.
  func stage(of item: Item) -> Stage? {
    let stage: Stage =
      switch item {
      case .requestStart: .requestStart
      case .requestMessage: .requestMessage
      case .requestEnd: .requestEnd
      case .responseStart: .responseStart
      case .responseMessage: .responseMessage
      case .responseEnd: .responseEnd
      case .metrics: .metrics
      }
    return stages.contains(stage) ? stage : nil
  }
}
