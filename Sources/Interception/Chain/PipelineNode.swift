import RPCProtocols
import Synchronization

/// A place on a pipeline: one interceptor is called here, and values wait here for it.
final class PipelineNode {
  enum Kind {
    case request, requestBytes, responseBytes, response, report
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
  /// The epoch of the tokens that are valid. Other threads compare it with their token's.
  let epoch = Atomic<UInt32>(0)
  /// Whether the chain's list of nodes whose buffer may have output contains the node.
  var isDirty = false
  var passage = Passage.awaitingStart
  /// Messages that were injected before the start has passed; they follow it.
  var beforeStart: [Item] = []
  var holdWatch = HoldWatch.none
  /// What was delivered early to the node's interceptor, at its other node. It must pass here unchanged.
  var deliveredEarly: EarlyDelivery?

  init(_ kind: Kind, _ place: (position: Int, isSerial: Bool)) {
    self.kind = kind
    position = place.position
    isSerial = place.isSerial
  }

  /// Makes every token of this node void.
  func beginEpoch() { epoch.add(1, ordering: .relaxed) }

  /// Records that the start has passed. The response of an interceptor that ends the call passes a closed node.
  func recordStart() { if case .awaitingStart = passage { passage = .started } }
}

/// What an interceptor received of the request while it held the start (see Chain+EarlyDelivery.swift).
struct EarlyDelivery {
  /// The messages, serialized, as the interceptor passed them on.
  var messages = Queue<[UInt8]>()
  /// Whether the interceptor received the end.
  var hasEnd = false
}
