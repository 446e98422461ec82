import Synchronization

/// A place on a pipeline where one interceptor is called, and where values wait for it.
final class PipelineNode {
  enum Kind {
    case request, requestBytes, responseBytes, response, report
  }

  let kind: Kind
  /// The interceptor's place on the chain; 0 is nearest to the caller.
  let position: Int
  /// Whether the interceptor takes one value at a time.
  let isSerial: Bool
  /// The node's place on its pipeline.
  var index = 0
  /// The stages delivered here.
  var stages: Stages = [] {
    didSet {
      let wanted = stages.intersection(Pipeline.messageStages)
      messageStage = wanted.isEmpty ? nil : Stage(rawValue: UInt32(wanted.rawValue.trailingZeroBitCount))
    }
  }
  /// The stage at which messages are delivered here.
  private(set) var messageStage: Stage?
  var buffer = ReorderBuffer()
  /// The epoch of the tokens that count. Other threads read it to see whether theirs is void.
  let epoch = Atomic<UInt32>(0)
  /// Whether the node is listed as one whose buffer may have moved.
  var isDirty = false
  /// Whether the end of its direction has gone by.
  var hasClosed = false
  /// Whether the start of its direction has gone by.
  var hasStarted = false
  /// What was put into its direction before the start has gone by.
  var early: [Item] = []
  /// Since when the value at the head of the buffer has been held; for the warning.
  var heldSince: (sequence: Int, instant: ContinuousClock.Instant)?
  var hasWarned = false

  /// What the interceptor was given while it held the start, before its neighbours: what has to pass here unchanged.
  var given: Given?

  init(_ kind: Kind, _ place: (position: Int, isSerial: Bool)) {
    self.kind = kind
    position = place.position
    isSerial = place.isSerial
  }

  /// Makes every token of this node void.
  func beginEpoch() { epoch.add(1, ordering: .relaxed) }
}

/// What an interceptor was given of the request while it held the start, before others that come before it.
struct Given {
  /// The messages, serialized, as they left the interceptor.
  var messages = Queue<[UInt8]>()
  /// Whether it was given the end.
  var hasEnd = false
}
